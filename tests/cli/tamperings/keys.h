// Keys of the samples: stored ones, new ones, files of secrets, and a plugin.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/age/keygen.h"
#include "cli/support/descriptor.h"
#include "container/files.h"

namespace tests {

inline constexpr char x25519_identity[] =
    "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0\n";
inline constexpr char x25519_recipient[] =
    "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef";

inline std::string stored(const std::string& name) {
    std::ifstream file(WARPSEAL_TEST_VECTORS "/age/ssh/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}
inline std::string stored_recipient(const std::string& name) {
    const std::string text = stored(name);
    return text.substr(0, text.find('\n'));
}

// A private file that options name.
class SecretFile {
public:
    explicit SecretFile(std::string_view text) : file_(Data(text.begin(), text.end())) {
        fchmod(file_.get(), 0600);
    }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

private:
    MemoryFile file_;
};

// An identity, and the recipient that a comment in its text names.
struct Pair {
    std::string identity, recipient;
};
inline Pair new_pair(warpseal::cli::IdentityKind kind, const char* prefix,
                     warpseal::cli::Session& session) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const warpseal::cli::Descriptor reading(ends[0]), writing(ends[1]);
    warpseal::cli::run_age_keygen("/proc/self/fd/" + std::to_string(ends[1]), kind, session);
    std::string text(8192, '\0');
    const ssize_t got = read(ends[0], text.data(), text.size());
    EXPECT_GT(got, 2000);
    EXPECT_LT(got, 8192);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    const size_t at = text.find(prefix);
    EXPECT_NE(at, std::string::npos) << prefix;
    return {text, text.substr(at, text.find('\n', at) - at)};
}

// The plugin of tests/cli/age in a folder of its own, which PATH begins with.
class Plugin {
public:
    static constexpr char recipient[] = "age1test1wfjkx6tsd9jkuaqra6j3p";

    Plugin() {
        if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder");
        const std::string program = folder_ + "/age-plugin-test";
        std::filesystem::copy_file(WARPSEAL_TEST_PLUGIN, program);
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
        setenv("PLUGIN_LOG", "/dev/null", 1);
    }
    ~Plugin() {
        setenv("PATH", path_.c_str(), 1);
        unsetenv("PLUGIN_LOG");
        std::filesystem::remove_all(folder_);
    }
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

private:
    const std::string path_ = std::getenv("PATH");
    std::string folder_ = std::filesystem::temp_directory_path() / "warpseal-plugin-XXXXXX";
};

}  // namespace tests
