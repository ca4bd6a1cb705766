// Botan's side of a measurement, by its C interface.
#include "bench/bulk/yardsticks/botan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "bench/bulk/yardsticks/yardstick.h"
#include "cli/support/format.h"

namespace warpseal::bench {
namespace {

// Returns Botan's possible names of our cipher: ours or its family, in capitals or with one
// capital.
std::vector<std::string> possible_names(const std::string& ours) {
    if (ours.rfind("des-ede", 0) == 0) return {"TripleDES"};
    std::vector<std::string> names;
    for (const std::string& name : {ours, ours.substr(0, ours.find('-'))}) {
        std::string upper = name, capitalized = name;
        for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        capitalized.front() = upper.front();
        names.insert(names.end(), {upper, capitalized});
    }
    return names;
}

// Returns the pattern of a mode's name, or an empty string for ECB, which is the block cipher. Tags
// have 16 bytes, and CCM's length field has 3 for a nonce of 12.
std::string mode_pattern(warpseal_mode mode) {
    static const std::map<warpseal_mode, std::string> patterns{
        {WARPSEAL_CTR, "CTR-BE({})"},   {WARPSEAL_CBC, "CBC({},NoPadding)"},
        {WARPSEAL_CFB, "CFB({})"},      {WARPSEAL_OFB, "OFB({})"},
        {WARPSEAL_XTS, "XTS({})"},      {WARPSEAL_GCM, "GCM({},16)"},
        {WARPSEAL_CCM, "CCM({},16,3)"}, {WARPSEAL_CMAC, "CMAC({})"}};
    const auto found = patterns.find(mode);
    return found == patterns.end() ? "" : found->second;
}

class BotanCipher : public YardstickCipher {
public:
    BotanCipher(const Botan& botan, const BenchCase& what, const std::string& name)
        : YardstickCipher(what, "botan", name + "-" + warpseal_mode_name(what.mode)),
          botan_(botan) {}
    ~BotanCipher() override {
        if (handle_)
            (what_.mac() ? botan_.mac_destroy
             : is_ecb()  ? botan_.block_cipher_destroy
                         : botan_.cipher_destroy)(handle_);
    }
    // Returns false if Botan does not have the mode for this cipher.
    bool open(const std::string& name) {
        const std::string full =
            is_ecb() ? name : cli::format(fmt::runtime(mode_pattern(what_.mode)), name);
        if (what_.mac()) return botan_.mac_init(&handle_, full.c_str(), 0) == 0;
        if (is_ecb()) return botan_.block_cipher_init(&handle_, full.c_str()) == 0;
        return botan_.cipher_init(&handle_, full.c_str(),
                                  what_.encrypt ? Botan::encrypts : Botan::decrypts) == 0;
    }
    bool set_key(const uint8_t* key) override {
        return (what_.mac() ? botan_.mac_set_key
                : is_ecb()  ? botan_.block_cipher_set_key
                            : botan_.cipher_set_key)(handle_, key, what_.key_bytes()) == 0;
    }

protected:
    bool run_message(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                     uint8_t* tag) override {
        if (is_ecb())
            return (what_.encrypt ? botan_.block_cipher_encrypt_blocks
                                  : botan_.block_cipher_decrypt_blocks)(
                       handle_, in, out, bytes / what_.cipher.block_bytes) == 0;
        if (botan_.cipher_start(handle_, iv, bench_iv_bytes(what_)) != 0) return false;
        if (!what_.aead()) return finish(in, bytes, out, bytes);
        return what_.encrypt ? seal(in, out, bytes, tag) : open_message(in, out, bytes, tag);
    }
    bool run_mac(const uint8_t* in, size_t bytes, uint8_t* tag) override {
        return botan_.mac_update(handle_, in, bytes) == 0 && botan_.mac_final(handle_, tag) == 0;
    }

private:
    bool is_ecb() const { return what_.mode == WARPSEAL_ECB; }

    // A whole message is one final update: updates before it go through the library by a few
    // blocks at a time.
    bool finish(const uint8_t* in, size_t in_bytes, uint8_t* out, size_t out_bytes) {
        size_t written = 0, consumed = 0;
        return botan_.cipher_update(handle_, Botan::final_update, out, out_bytes, &written, in,
                                    in_bytes, &consumed) == 0 &&
               written == out_bytes && consumed == in_bytes;
    }
    // The library has text and tag in one buffer.
    bool seal(const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag) {
        joined_.resize(bytes + what_.tag_bytes());
        if (!finish(in, bytes, joined_.data(), joined_.size())) return false;
        std::copy_n(joined_.begin(), bytes, out);
        std::copy_n(joined_.begin() + static_cast<ptrdiff_t>(bytes), what_.tag_bytes(), tag);
        return true;
    }
    bool open_message(const uint8_t* in, uint8_t* out, size_t bytes, const uint8_t* tag) {
        joined_.resize(bytes + what_.tag_bytes());
        std::copy_n(in, bytes, joined_.begin());
        std::copy_n(tag, what_.tag_bytes(), joined_.begin() + static_cast<ptrdiff_t>(bytes));
        return finish(joined_.data(), joined_.size(), out, bytes);
    }

    const Botan& botan_;
    Botan::Handle handle_ = nullptr;
    std::vector<uint8_t> joined_;
};

class BotanLibrary : public YardstickLibrary {
public:
    explicit BotanLibrary(const SharedLibrary& library) : botan_(library) {}
    std::string version() const override {
        return cli::format("{}.{}.{}", botan_.version_major(), botan_.version_minor(),
                           botan_.version_patch());
    }
    std::unique_ptr<YardstickCipher> find(const BenchCase& what,
                                          const std::vector<uint8_t>& key) const override {
        for (const std::string& name : possible_names(what.cipher.name)) {
            if (!takes_key(name, what.cipher.key_bytes)) continue;
            auto made = std::make_unique<BotanCipher>(botan_, what, name);
            if (!made->open(name)) return nullptr;
            if (!made->set_key(key.data()))
                throw cli::Failure(cli::ExitCode::error,
                                   "Botan does not take a key of " + what.name() + ".");
            return made;
        }
        return nullptr;
    }

private:
    bool takes_key(const std::string& name, size_t bytes) const {
        Botan::Handle handle = nullptr;
        if (botan_.block_cipher_init(&handle, name.c_str()) != 0) return false;
        size_t least = 0, most = 0, step = 1;
        const bool told = botan_.block_cipher_get_keyspec(handle, &least, &most, &step) == 0;
        botan_.block_cipher_destroy(handle);
        return told && least <= bytes && bytes <= most && (bytes - least) % step == 0;
    }

    const Botan botan_;
};

// The soname of a Botan has its minor version: the newest is tried first.
std::vector<std::string> files() {
    constexpr int newest = 30;
    std::vector<std::string> names;
    for (const int major : {3, 2})
        for (int minor = newest; minor >= 0; --minor)
            names.push_back(cli::format("libbotan-{}.so.{}", major, minor));
    return names;
}

}  // namespace

Botan::Botan(const SharedLibrary& library) {
    library.load("botan_version_major", version_major);
    library.load("botan_version_minor", version_minor);
    library.load("botan_version_patch", version_patch);
    library.load("botan_block_cipher_init", block_cipher_init);
    library.load("botan_block_cipher_destroy", block_cipher_destroy);
    library.load("botan_block_cipher_get_keyspec", block_cipher_get_keyspec);
    library.load("botan_block_cipher_set_key", block_cipher_set_key);
    library.load("botan_block_cipher_encrypt_blocks", block_cipher_encrypt_blocks);
    library.load("botan_block_cipher_decrypt_blocks", block_cipher_decrypt_blocks);
    library.load("botan_cipher_init", cipher_init);
    library.load("botan_cipher_destroy", cipher_destroy);
    library.load("botan_cipher_set_key", cipher_set_key);
    library.load("botan_cipher_start", cipher_start);
    library.load("botan_cipher_update", cipher_update);
    library.load("botan_mac_init", mac_init);
    library.load("botan_mac_destroy", mac_destroy);
    library.load("botan_mac_set_key", mac_set_key);
    library.load("botan_mac_update", mac_update);
    library.load("botan_mac_final", mac_final);
}

std::shared_ptr<const YardstickLibrary> open_botan(const std::string& path) {
    return std::make_shared<BotanLibrary>(
        SharedLibrary("Botan", path.empty() ? files() : std::vector<std::string>{path}));
}

}  // namespace warpseal::bench
