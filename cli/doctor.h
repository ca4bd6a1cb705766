// `warpseal doctor`: what was looked at, what was found, and what to do about it.
#pragma once

#include <string>
#include <vector>

namespace warpseal::cli {

enum class CheckResult { ok, note, warning, problem };

struct Finding {
    std::string subject;
    CheckResult result = CheckResult::ok;
    std::string found;   // what is, and why it matters where it is not well
    std::string advice;  // what to do; empty where there is nothing to do
};
using Findings = std::vector<Finding>;

// Each target that this machine has computes in every mode of every cipher, and so passes its
// self-tests or does not.
void examine_targets(Findings& findings);
void examine_gpus(Findings& findings);
// Locked memory, descriptors, file sizes, the system's random source.
void examine_limits(Findings& findings);

struct OpensslChoice {
    std::string program;  // empty: `openssl` of PATH
    std::string config;   // empty: the openssl.cnf that programs would take
    bool required =
        false;  // the provider is wanted: that it is not set up is a problem, not a note
};
void examine_openssl(const OpensslChoice& choice, Findings& findings);

}  // namespace warpseal::cli
