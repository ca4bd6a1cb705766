// The functions that the public headers declare.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace tests {

inline std::string text_of(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// returning: the type of their results as a header spells it; every type if empty.
inline std::set<std::string> public_functions(const std::string& returning = "") {
    const std::regex declared("WARPSEAL_API[^;()]*?" + returning + R"(\s*\b(warpseal_\w+)\s*\()");
    std::set<std::string> names;
    for (const auto& header :
         std::filesystem::directory_iterator(WARPSEAL_SOURCE "/include/warpseal")) {
        const std::string text = text_of(header.path());
        for (std::sregex_iterator one(text.begin(), text.end(), declared), end; one != end; ++one)
            names.insert((*one)[1]);
    }
    return names;
}

}  // namespace tests
