// libgcrypt's side of a measurement.
#include "bench/bulk/yardsticks/libgcrypt.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "bench/bulk/yardsticks/yardstick.h"

namespace warpseal::bench {
namespace {

// Numbers of gcrypt.h. CMAC is a MAC there, not a mode.
int mode_number(warpseal_mode mode) {
    static const std::map<warpseal_mode, int> numbers{
        {WARPSEAL_ECB, 1}, {WARPSEAL_CFB, 2}, {WARPSEAL_CBC, 3}, {WARPSEAL_OFB, 5},
        {WARPSEAL_CTR, 6}, {WARPSEAL_CCM, 8}, {WARPSEAL_GCM, 9}, {WARPSEAL_XTS, 13}};
    const auto found = numbers.find(mode);
    return found == numbers.end() ? 0 : found->second;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

struct Algorithm {
    int number = 0;
    std::string name;    // as libgcrypt has it, such as CAMELLIA128
    std::string family;  // without the key length, for its CMAC
};

// The names are ours without the dash, or the family for ciphers with one key length. Triple DES
// has a name of its own. Returns number 0 if there is no such cipher.
Algorithm find_algorithm(const Libgcrypt& gcrypt, const warpseal_cipher_info& cipher) {
    const std::string ours = cipher.name;
    const bool triple = ours.rfind("des-ede", 0) == 0;
    const std::string family = triple ? "3DES" : upper(ours.substr(0, ours.find('-')));
    std::string joined = upper(ours);
    joined.erase(std::remove(joined.begin(), joined.end(), '-'), joined.end());
    for (const std::string& name : {joined, family}) {
        const int number = gcrypt.cipher_map_name(name.c_str());
        if (number != 0 && gcrypt.cipher_get_algo_keylen(number) == cipher.key_bytes)
            return {number, name, family};
    }
    return {};
}

class LibgcryptCipher : public YardstickCipher {
public:
    LibgcryptCipher(const Libgcrypt& gcrypt, const BenchCase& what, const std::string& name)
        : YardstickCipher(what, "libgcrypt", name + "-" + warpseal_mode_name(what.mode)),
          gcrypt_(gcrypt) {}
    ~LibgcryptCipher() override {
        if (handle_) (what_.mac() ? gcrypt_.mac_close : gcrypt_.cipher_close)(handle_);
    }
    // Returns false if libgcrypt does not have the mode for this cipher.
    bool open(int algorithm) {
        if (what_.mac()) return gcrypt_.mac_open(&handle_, algorithm, 0, nullptr) == 0;
        const int mode = mode_number(what_.mode);
        return mode != 0 && gcrypt_.cipher_open(&handle_, algorithm, mode, 0) == 0;
    }
    bool set_key(const uint8_t* key) override {
        return (what_.mac() ? gcrypt_.mac_setkey : gcrypt_.cipher_setkey)(handle_, key,
                                                                          what_.key_bytes()) == 0;
    }

protected:
    bool run_message(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                     uint8_t* tag) override {
        if (!set_iv(iv, bytes)) return false;
        const auto process = what_.encrypt ? gcrypt_.cipher_encrypt : gcrypt_.cipher_decrypt;
        if (process(handle_, out, bytes, in, bytes) != 0) return false;
        if (!what_.aead()) return true;
        return (what_.encrypt ? gcrypt_.cipher_gettag(handle_, tag, what_.tag_bytes())
                              : gcrypt_.cipher_checktag(handle_, tag, what_.tag_bytes())) == 0;
    }
    bool run_mac(const uint8_t* in, size_t bytes, uint8_t* tag) override {
        size_t wrote = what_.tag_bytes();
        return gcrypt_.mac_ctl(handle_, Libgcrypt::reset, nullptr, 0) == 0 &&
               gcrypt_.mac_write(handle_, in, bytes) == 0 &&
               gcrypt_.mac_read(handle_, tag, &wrote) == 0 && wrote == what_.tag_bytes();
    }

private:
    bool set_iv(const uint8_t* iv, size_t bytes) {
        if (what_.mode == WARPSEAL_ECB) return true;
        const auto set = what_.mode == WARPSEAL_CTR ? gcrypt_.cipher_setctr : gcrypt_.cipher_setiv;
        if (set(handle_, iv, bench_iv_bytes(what_)) != 0) return false;
        if (what_.mode != WARPSEAL_CCM) return true;
        uint64_t lengths[] = {bytes, 0, what_.tag_bytes()};  // of text, AAD and tag
        return gcrypt_.cipher_ctl(handle_, Libgcrypt::set_ccm_lengths, lengths, sizeof lengths) ==
               0;
    }

    const Libgcrypt& gcrypt_;
    Libgcrypt::Handle handle_ = nullptr;
};

class LibgcryptLibrary : public YardstickLibrary {
public:
    explicit LibgcryptLibrary(const SharedLibrary& library)
        : gcrypt_(library), version_(gcrypt_.check_version(nullptr)) {
        gcrypt_.control(Libgcrypt::disable_secure_memory, 0);
        gcrypt_.control(Libgcrypt::initialization_finished, 0);
    }
    std::string version() const override { return version_; }
    std::unique_ptr<YardstickCipher> find(const BenchCase& what,
                                          const std::vector<uint8_t>& key) const override {
        const Algorithm found = find_algorithm(gcrypt_, what.cipher);
        if (found.number == 0) return nullptr;
        const int number =
            what.mac() ? gcrypt_.mac_map_name(("CMAC_" + found.family).c_str()) : found.number;
        auto made = std::make_unique<LibgcryptCipher>(gcrypt_, what, found.name);
        if (number == 0 || !made->open(number)) return nullptr;
        if (!made->set_key(key.data()))
            throw cli::Failure(cli::ExitCode::error,
                               "libgcrypt does not take a key of " + what.name() + ".");
        return made;
    }

private:
    const Libgcrypt gcrypt_;
    const std::string version_;
};

}  // namespace

Libgcrypt::Libgcrypt(const SharedLibrary& library) {
    library.load("gcry_check_version", check_version);
    library.load("gcry_control", control);
    library.load("gcry_cipher_map_name", cipher_map_name);
    library.load("gcry_cipher_get_algo_keylen", cipher_get_algo_keylen);
    library.load("gcry_cipher_open", cipher_open);
    library.load("gcry_cipher_close", cipher_close);
    library.load("gcry_cipher_setkey", cipher_setkey);
    library.load("gcry_cipher_setiv", cipher_setiv);
    library.load("gcry_cipher_setctr", cipher_setctr);
    library.load("gcry_cipher_ctl", cipher_ctl);
    library.load("gcry_cipher_encrypt", cipher_encrypt);
    library.load("gcry_cipher_decrypt", cipher_decrypt);
    library.load("gcry_cipher_gettag", cipher_gettag);
    library.load("gcry_cipher_checktag", cipher_checktag);
    library.load("gcry_mac_map_name", mac_map_name);
    library.load("gcry_mac_open", mac_open);
    library.load("gcry_mac_close", mac_close);
    library.load("gcry_mac_setkey", mac_setkey);
    library.load("gcry_mac_ctl", mac_ctl);
    library.load("gcry_mac_write", mac_write);
    library.load("gcry_mac_read", mac_read);
}

std::shared_ptr<const YardstickLibrary> open_libgcrypt(const std::string& path) {
    const std::string file = path.empty() ? "libgcrypt.so.20" : path;
    return std::make_shared<LibgcryptLibrary>(SharedLibrary("libgcrypt", {file}));
}

}  // namespace warpseal::bench
