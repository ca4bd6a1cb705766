// NTRU for warpseal-dudect: coins and keys that are zero or random, and ciphertexts that are valid
// or not.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/kem_backend.h"
#include "support/random.h"
#include "timing/dudect.h"

namespace {

using warpseal::CpuKem;
using warpseal::KemOperation;
using Text = std::vector<uint8_t>;
using Step = std::function<void(const uint8_t*)>;

class TestCases {
public:
    TestCases(const char* target, const CpuKem& kem)
        : name_(std::string(target) + " " + kem.params->name), kem_(kem) {
        tests::Random random(71);
        const Text coins = random.text(params_.keypair_coins()),
                   more_coins = random.text(pairs * params_.encapsulation_coins());
        keypair(coins.data(), 1);
        encapsulate(more_coins.data(), pairs);
        valid_ = ciphertexts_;
        sent_ = shared_;
        invalid_ = random.text(valid_.size());
        for (size_t i = 0; i < pairs; i += 2) {  // every other one with a single wrong bit
            std::copy_n(valid_.data() + i * ct, ct, invalid_.data() + i * ct);
            invalid_[i * ct + 5 * i] ^= 1;
        }
        for (const Text* texts : {&valid_, &invalid_}) {
            decapsulate(secrets_.data(), texts->data(), pairs);
            const bool equal = std::equal(shared_.begin(), shared_.end(), sent_.begin());
            if (equal != (texts == &valid_))
                dudect::report(false, name_, " a ciphertext is not what it should be", 0);
        }
    }

    void all() {
        const Step none = [](const uint8_t*) {};
        const size_t coins = params_.encapsulation_coins();
        const auto judge = [&](const char* what, size_t secret_bytes, const Step& prepare,
                               const Step& timed, uint64_t dearer) {
            dudect::expect_constant(name_ + " " + what, {secret_bytes, prepare, timed},
                                    std::max(dudect::timings / dearer, enough));
        };
        judge(
            "encapsulation", items_ * coins, none,
            [this](const uint8_t* in) { encapsulate(in, items_); }, dudect::dearer);
        judge(
            "decapsulation", sk + items_ * ct, none,
            [this](const uint8_t* in) { decapsulate(in, in + sk, items_); }, dudect::dearer);
        judge("decapsulation, valid or not", sizeof(uint64_t), choose(), chosen(), dudect::dearer);
        judge(
            "key generation", together * params_.keypair_coins(), none,
            [this](const uint8_t* in) { keypair(in, together); }, dudect::dearer * dudect::dearer);
    }

    void planted() {
        const auto leak = [this](const uint8_t* in) {
            chosen()(in);
            if (std::memcmp(shared_.data(), sent_.data() + 32 * first_, 32) == 0) chosen()(in);
        };
        dudect::expect_leak(
            std::string("planted: ") + params_.name + ", more work where a ciphertext is valid",
            {sizeof(uint64_t), choose(), leak}, dudect::more * dudect::timings / dudect::dearer);
    }

private:
    // A call's ciphertexts are drawn in either class: the class selects valid or invalid ones, and
    // both are read.
    Step choose() {
        return [this](const uint8_t* in) {
            uint64_t secret;
            std::memcpy(&secret, in, sizeof secret);
            const auto mask = static_cast<uint8_t>(0 - (secret != 0));
            for (size_t i = 0; i < items_; ++i) {
                const size_t from = random_.below(pairs);
                if (i == 0) first_ = from;
                for (size_t k = 0; k < ct; ++k) {
                    const uint8_t valid = valid_[from * ct + k];
                    chosen_[i * ct + k] =
                        static_cast<uint8_t>(valid ^ (mask & (valid ^ invalid_[from * ct + k])));
                }
            }
        };
    }
    Step chosen() {
        return [this](const uint8_t*) { decapsulate(secrets_.data(), chosen_.data(), items_); };
    }

    void run(KemOperation operation, warpseal_kem_batch b, size_t count) {
        b.struct_bytes = sizeof b;
        b.count = count;
        b.shared_secrets = shared_.data();
        b.shared_secret_stride = 32;
        (void)kem_.run[static_cast<int>(operation)](
            b, 0, count,
            reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(work_.data()) + 63) / 64 * 64));
    }
    void keypair(const uint8_t* coins, size_t count) {
        warpseal_kem_batch b{};
        b.public_keys = publics_.data();
        b.public_key_stride = params_.public_key_bytes();
        b.secret_keys = secrets_.data();
        b.secret_key_stride = sk;
        b.coins = coins;
        b.coins_stride = params_.keypair_coins();
        run(KemOperation::keypair, b, count);
    }
    void encapsulate(const uint8_t* coins, size_t count) {
        warpseal_kem_batch b{};
        b.public_keys = publics_.data();
        b.ciphertexts = ciphertexts_.data();
        b.ciphertext_stride = ct;
        b.coins = coins;
        b.coins_stride = params_.encapsulation_coins();
        run(KemOperation::encapsulate, b, count);
    }
    void decapsulate(const uint8_t* secret_key, const uint8_t* ciphertexts, size_t count) {
        warpseal_kem_batch b{};
        b.secret_keys = const_cast<uint8_t*>(secret_key);
        b.ciphertexts = const_cast<uint8_t*>(ciphertexts);
        b.ciphertext_stride = ct;
        run(KemOperation::decapsulate, b, count);
    }

    size_t work_bytes() const {
        size_t most = 0;
        for (const auto operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate})
            most = std::max(most, kem_.work_bytes(operation, pairs));
        return most + 64;
    }

    static constexpr size_t pairs = 64;
    const std::string name_;
    const CpuKem& kem_;
    const warpseal::kem::Params& params_ = *kem_.params;
    const size_t sk = params_.secret_key_bytes(), ct = params_.ciphertext_bytes();
    static constexpr size_t together = 2;    // key pairs: one inversion for both
    static constexpr uint64_t enough = 600;  // minimum timings for a t
    const size_t items_ =
        kem_.group[static_cast<int>(KemOperation::decapsulate)];  // as many as are hashed together
    tests::Random random_{72};
    size_t first_ = 0;
    Text publics_ = Text(together * params_.public_key_bytes()), secrets_ = Text(together * sk),
         ciphertexts_ = Text(pairs * ct), shared_ = Text(pairs * 32), sent_, valid_, invalid_,
         chosen_ = Text(items_ * ct), work_ = Text(work_bytes());
};

}  // namespace

void dudect::kem_test_cases(const char* name, warpseal::Target target) {
    for (const warpseal::kem::Params* set : warpseal::kem::sets) {
        const CpuKem* kem = warpseal::cpu_kem(target, set->name);
        if (kem == nullptr) continue;
        if (!warpseal::cpu_has_kem(target)) {
            std::printf("NOT RUN %s %s: this machine does not have it\n", name, set->name);
            continue;
        }
        TestCases test_cases(name, *kem);
        if (set == warpseal::kem::sets[0]) test_cases.planted();
        test_cases.all();
    }
}
