// References for measured outputs: OpenSSL, or another of our targets for modes that it lacks.
#include "bench/bulk/reference.h"

#include <algorithm>

#include "bench/bulk/reference_output.h"
#include "bench/bulk/yardsticks/openssl.h"
#include "cli/support/ciphers.h"

namespace warpseal::bench {
namespace {

class AnotherTarget : public Reference {
public:
    // Uses the first target that works.
    AnotherTarget(const BenchCase& what, const std::vector<uint8_t>& key,
                  const std::vector<std::string>& targets)
        : what_(what) {
        warpseal_engine_options options{};
        options.struct_bytes = sizeof options;
        options.threads = 1;
        for (const std::string& target : targets) {
            options.device = target.c_str();
            warpseal_engine* engine = nullptr;
            if (warpseal_engine_create(&options, &engine) != WARPSEAL_OK) continue;
            engine_.reset(engine);
            target_ = target;
            if (set_key(key.data())) return;
        }
        throw BenchWrong("OpenSSL has no " + std::string(what.cipher.name) + "-" +
                         warpseal_mode_name(what.mode) +
                         ", and no other target has: there is nothing to compare with");
    }
    bool set_key(const uint8_t* key) override {
        warpseal_key* made = nullptr;
        const auto create =
            what_.mode == WARPSEAL_XTS ? warpseal_key_create_xts : warpseal_key_create;
        const bool good =
            create(engine_.get(), what_.cipher.name, key, what_.key_bytes(), &made) == WARPSEAL_OK;
        key_.reset(made);
        return good;
    }
    bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
             uint8_t* tag) override {
        return bench_call_one(what_, key_.get(), iv, in, out, bytes, tag) == WARPSEAL_OK;
    }
    std::string name() const override { return target_; }

private:
    const BenchCase what_;
    cli::EngineHandle engine_;
    BenchKey key_;
    std::string target_;
};

std::vector<std::string> core_targets_but(const std::string& device) {
    std::vector<std::string> names;
    for (const warpseal_target_info& target : cli::all_targets())
        if (target.usable && target.name != device && std::string(target.name) != "cuda")
            names.emplace_back(target.name);
    return names;
}

}  // namespace

size_t bench_iv_bytes(const BenchCase& what) {
    if (what.mode == WARPSEAL_ECB || what.mac()) return 0;
    return what.aead()                 ? bench_nonce_bytes
           : what.mode == WARPSEAL_XTS ? 16
                                       : what.cipher.block_bytes;
}

std::unique_ptr<Reference> make_reference(const BenchCase& what, const std::vector<uint8_t>& key,
                                          const std::string& device) {
    if (std::unique_ptr<Reference> openssl = OpenSsl::find(what, key)) return openssl;
    return std::make_unique<AnotherTarget>(what, key, core_targets_but(device));
}

std::unique_ptr<Reference> make_quick_reference(const BenchCase& what,
                                                const std::vector<uint8_t>& key) {
    std::vector<std::string> targets = core_targets_but("");
    std::reverse(targets.begin(), targets.end());  // The list starts with the slowest target.
    return std::make_unique<AnotherTarget>(what, key, targets);
}

}  // namespace warpseal::bench
