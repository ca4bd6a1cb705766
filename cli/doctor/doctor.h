// Findings of `warpseal doctor`: each subject with its result and advice.
#pragma once

#include <string>
#include <vector>

namespace warpseal::cli {

enum class CheckResult { ok, note, warning, problem };

struct Finding {
    std::string subject;
    CheckResult result = CheckResult::ok;
    std::string found;   // State of the subject, and why it matters if it is not well.
    std::string advice;  // Next step; empty if none is needed.
};
using Findings = std::vector<Finding>;

// Computes on each target of this machine in every mode of every cipher, which runs the self-tests.
void examine_targets(Findings& findings);
void examine_gpus(Findings& findings);
// Checks locked memory, descriptors, file sizes and the system's random source.
void examine_limits(Findings& findings);

struct OpensslChoice {
    std::string program;  // empty: `openssl` from PATH
    std::string config;   // empty: the openssl.cnf that programs use by default
    // True if the user wants the provider: a missing setup is then a problem instead of a note.
    bool required = false;
};
void examine_openssl(const OpensslChoice& choice, Findings& findings);

}  // namespace warpseal::cli
