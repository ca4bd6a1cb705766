// The submission's answer files in tests/vectors/ntru: blocks of `name = value`, and lines of
// digests.
#pragma once

#include <map>
#include <sstream>

#include "support/vectors.h"

namespace tests {

using Answer = std::map<std::string, std::string>;

// Returns the blocks of NAME.rsp.gz, each of which starts with its count.
inline std::vector<Answer> answers(const std::string& name) {
    std::istringstream text(vectors::text(vectors::folder() / "ntru" / (name + ".rsp.gz")));
    std::vector<Answer> out;
    for (std::string line; std::getline(text, line);) {
        const size_t at = line.find(" = ");
        if (at == std::string::npos) continue;
        if (line.starts_with("count")) out.emplace_back();
        out.back()[line.substr(0, at)] = line.substr(at + 3);
    }
    if (out.empty()) throw std::runtime_error("no answers in " + name);
    return out;
}

struct BulkLine {
    uint64_t first, count;
    std::string publics, secrets, ciphertexts, shared, rejected;  // SHA-256, hexadecimal
};

inline std::vector<BulkLine> bulk_lines(const std::string& set) {
    std::istringstream text(vectors::text(vectors::folder() / "ntru" / (set + "-bulk.txt")));
    std::vector<BulkLine> out;
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream fields(line);
        BulkLine next;
        fields >> next.first >> next.count >> next.publics >> next.secrets >> next.ciphertexts >>
            next.shared >> next.rejected;
        if (!fields) throw std::runtime_error("not a line of digests: " + line);
        out.push_back(next);
    }
    if (out.empty()) throw std::runtime_error("no digests of " + set);
    return out;
}

}  // namespace tests
