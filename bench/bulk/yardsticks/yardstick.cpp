// The yardsticks of --against: names, opening, and what all their ciphers share.
#include "bench/bulk/yardsticks/yardstick.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/bulk/yardsticks/shared_library.h"
#include "cli/support/format.h"

namespace warpseal::bench {
namespace {

struct Opener {
    const char* name;
    std::shared_ptr<const YardstickLibrary> (*open)(const std::string& path);
    bool takes_path;
};

constexpr Opener openers[] = {
    {"openssl", [](const std::string&) { return open_linked_openssl(); }, false},
    {"openssl3.5", open_openssl_3_5, true},
    {"libgcrypt", open_libgcrypt, true},
    {"botan", open_botan, true},
};

// Returns null if there is no such yardstick.
const Opener* find_opener(const std::string& name) {
    const auto* const found = std::find_if(std::begin(openers), std::end(openers),
                                           [&](const Opener& one) { return name == one.name; });
    return found == std::end(openers) ? nullptr : found;
}

Yardstick open(const Opener& opener, const std::string& path) {
    Yardstick yardstick{opener.name, "", "", nullptr};
    try {
        yardstick.library = opener.open(path);
        yardstick.version = yardstick.library->version();
    } catch (const LibraryAbsent& why) {
        if (!path.empty())
            throw cli::Failure(cli::ExitCode::error,
                               cli::format("--against {}: {}.", opener.name, why.what()));
        yardstick.not_run = why.what();
    }
    return yardstick;
}

}  // namespace

bool YardstickCipher::run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                          uint8_t* tag) {
    if (what_.mac()) {
        uint8_t computed[bench_tag_stride];
        if (!run_mac(in, bytes, computed)) return false;
        if (!what_.encrypt) return std::equal(computed, computed + what_.tag_bytes(), tag);
        std::copy_n(computed, what_.tag_bytes(), tag);
        return true;
    }
    if (what_.mode != WARPSEAL_XTS) return run_message(iv, in, out, bytes, tag);
    uint8_t tweak[16];
    std::copy_n(iv, sizeof tweak, tweak);
    for (size_t done = 0; done < bytes; done += what_.unit_bytes) {
        if (!run_message(tweak, in + done, out + done,
                         std::min<size_t>(what_.unit_bytes, bytes - done), nullptr))
            return false;
        for (size_t i = 0; i < sizeof tweak && ++tweak[i] == 0; ++i) {
        }
    }
    return true;
}

std::vector<std::string> yardstick_names() {
    std::vector<std::string> names;
    for (const Opener& opener : openers) names.emplace_back(opener.name);
    return names;
}

std::string check_yardstick(const std::string& text) {
    const size_t equals = text.find('=');
    const Opener* const opener = find_opener(text.substr(0, equals));
    if (!opener)
        return cli::format("there is no '{}': it takes {}", text,
                           fmt::join(yardstick_names(), ", "));
    if (equals == std::string::npos) return "";
    if (!opener->takes_path)
        return cli::format("{} is the OpenSSL that the program is linked with: it has no path",
                           opener->name);
    return equals + 1 == text.size() ? cli::format("{}= needs a path", opener->name) : "";
}

std::vector<Yardstick> open_yardsticks(const std::vector<std::string>& texts) {
    std::vector<std::pair<std::string, std::string>> wanted;  // names and paths
    for (const std::string& text : texts) {
        const size_t equals = text.find('=');
        const std::string name = text.substr(0, equals);
        for (const auto& before : wanted)
            if (before.first == name)
                throw cli::Failure(cli::ExitCode::usage, "--against names " + name + " twice.");
        wanted.emplace_back(name, equals == std::string::npos ? "" : text.substr(equals + 1));
    }
    std::vector<Yardstick> yardsticks;
    yardsticks.reserve(wanted.size());
    for (const auto& [name, path] : wanted) yardsticks.push_back(open(*find_opener(name), path));
    return yardsticks;
}

}  // namespace warpseal::bench
