// A libcrypto of OpenSSL 3.5 or later, loaded beside the one that the program is linked with.
#include <dlfcn.h>

#include "bench/bulk/yardsticks/libcrypto.h"
#include "bench/bulk/yardsticks/openssl.h"
#include "cli/support/format.h"

namespace warpseal::bench {
namespace {

constexpr const char* own_name = "openssl3.5";
constexpr unsigned oldest_major = 3, oldest_minor = 5;

// Two libcryptos have functions of the same names. Without RTLD_DEEPBIND the second one's calls of
// its own functions would reach the first. Sanitizers end a process that loads with it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_load_second = false;
#else
constexpr bool can_load_second = true;
#endif

SharedLibrary load(const std::string& file) {
    const std::string name = "libcrypto of OpenSSL 3.5";
    // The linked libcrypto is there already. It may be 3.5 itself.
    if (void* const there = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
        dlclose(there);
        return {name, {file}};
    }
    if (!can_load_second)
        throw cli::Failure(cli::ExitCode::error,
                           cli::format("--against {}: a program with this sanitizer cannot load a "
                                       "second libcrypto.",
                                       own_name));
    return {name, {file}, RTLD_DEEPBIND};
}

void check_version(const SharedLibrary& library) {
    decltype(&OPENSSL_version_major) major = nullptr;
    decltype(&OPENSSL_version_minor) minor = nullptr;
    library.load("OPENSSL_version_major", major);
    library.load("OPENSSL_version_minor", minor);
    if (major() > oldest_major || (major() == oldest_major && minor() >= oldest_minor)) return;
    throw cli::Failure(
        cli::ExitCode::error,
        cli::format(
            "--against {}: {} is OpenSSL {}.{}, and {}.{} or later is needed: name one with "
            "{}=PATH, or run in Debian 13 by bench/in_debian_13.",
            own_name, library.path(), major(), minor(), oldest_major, oldest_minor, own_name));
}

class LoadedOpenSsl : public YardstickLibrary {
public:
    explicit LoadedOpenSsl(const SharedLibrary& library)
        : linked_(library.is_linked("OPENSSL_version_major")) {
        check_version(library);
        functions_.load(library);
        // A second libcrypto cannot use its legacy provider: the module would be bound to the
        // linked libcrypto, which has the same soname. So might modules of a configuration file.
        if (!linked_ && functions_.OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1)
            throw cli::Failure(cli::ExitCode::error, library.path() + " cannot be initialized.");
        load_providers(functions_, linked_);
    }
    std::string version() const override {
        return functions_.OpenSSL_version(OPENSSL_VERSION_STRING);
    }
    std::string limits() const override { return linked_ ? "" : ", without a legacy provider"; }
    std::unique_ptr<YardstickCipher> find(const BenchCase& what,
                                          const std::vector<uint8_t>& key) const override {
        return OpenSsl::find_in(functions_, own_name, what, key);
    }

private:
    const bool linked_;
    LibCrypto functions_;
};

}  // namespace

std::shared_ptr<const YardstickLibrary> open_openssl_3_5(const std::string& path) {
    return std::make_shared<LoadedOpenSsl>(load(path.empty() ? "libcrypto.so.3" : path));
}

}  // namespace warpseal::bench
