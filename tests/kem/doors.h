// NTRU through the door (backends/kem_ops.h): each set on each target of this machine, one test for each pair.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/kem_ops.h"
#include "reference/ntru.h"
#include "targets.h"

namespace tests {

using reference::Text;
using warpseal::KemOperation;

struct Subject {
    std::string set, target;
    friend void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.set << " on " << subject.target; }
};

inline std::vector<Subject> subjects() {
    std::vector<Subject> out;
    for (const warpseal::kem::Params* set : warpseal::kem::sets)
        for (const char* target : {"portable", "avx2", "vaes512"}) out.push_back({set->name, target});
    return out;
}
inline std::string name_of(const testing::TestParamInfo<Subject>& info) { return info.param.set + "_" + info.param.target; }

inline Text slice(const Text& from, size_t i, size_t bytes) {
    return Text(from.begin() + static_cast<long>(i * bytes), from.begin() + static_cast<long>((i + 1) * bytes));
}
inline void append(Text& to, const Text& what) { to.insert(to.end(), what.begin(), what.end()); }

// The secret of what is not a ciphertext of that key.
inline Text rejected(const Text& secret_key, const Text& ciphertext) {
    Text message(32 + ciphertext.size());
    std::copy(secret_key.end() - 32, secret_key.end(), message.begin());
    std::copy(ciphertext.begin(), ciphertext.end(), message.begin() + 32);
    return reference::sha3_256(message);
}

struct Keys {
    Text publics, secrets;
    std::vector<int32_t> statuses;
    uint64_t failed = 0;
};
struct Encapsulated {
    Text ciphertexts, secrets;
    std::vector<int32_t> statuses;
    uint64_t failed = 0;
};

// One set on one CPU target. Items lie side by side.
class Door {
public:
    explicit Door(const warpseal::CpuKem& kem) : kem_(kem) {}
    const warpseal::kem::Params& params() const { return *kem_.params; }
    uint32_t group(KemOperation operation) const { return kem_.group[static_cast<int>(operation)]; }

    warpseal::CpuKem::Run raw(KemOperation operation) const { return kem_.run[static_cast<int>(operation)]; }
    uint64_t run(KemOperation operation, const warpseal_kem_batch& batch, uint64_t first, uint64_t count) const {
        std::vector<uint8_t> memory(kem_.work_bytes(operation, count) + 64, 0xa5);
        void* work = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
        return raw(operation)(batch, first, count, work);
    }
    uint64_t run(KemOperation operation, const warpseal_kem_batch& batch) const { return run(operation, batch, 0, batch.count); }

    warpseal_kem_batch batch(uint64_t count) const {
        warpseal_kem_batch out{};
        out.struct_bytes = sizeof out;
        out.count = count;
        out.public_key_stride = params().public_key_bytes();
        out.secret_key_stride = params().secret_key_bytes();
        out.ciphertext_stride = params().ciphertext_bytes();
        out.shared_secret_stride = 32;
        return out;
    }

    Keys keypairs(const Text& coins) const {
        const uint64_t count = coins.size() / params().keypair_coins();
        Keys out{Text(count * params().public_key_bytes()), Text(count * params().secret_key_bytes()), std::vector<int32_t>(count, -1)};
        warpseal_kem_batch all = batch(count);
        all.public_keys = out.publics.data();
        all.secret_keys = out.secrets.data();
        all.coins = coins.data();
        all.coins_stride = params().keypair_coins();
        all.statuses = out.statuses.data();
        out.failed = run(KemOperation::keypair, all);
        return out;
    }

    // One public key for all, or one each.
    Encapsulated encapsulate(const Text& coins, const Text& public_keys) const {
        const uint64_t count = coins.size() / params().encapsulation_coins();
        Encapsulated out{Text(count * params().ciphertext_bytes()), Text(count * 32), std::vector<int32_t>(count, -1)};
        Text keys = public_keys;
        warpseal_kem_batch all = batch(count);
        all.public_keys = keys.data();
        if (keys.size() == params().public_key_bytes()) all.public_key_stride = 0;
        all.ciphertexts = out.ciphertexts.data();
        all.shared_secrets = out.secrets.data();
        all.coins = coins.data();
        all.coins_stride = params().encapsulation_coins();
        all.statuses = out.statuses.data();
        out.failed = run(KemOperation::encapsulate, all);
        return out;
    }

    // One secret key for all, or one each.
    Text decapsulate(const Text& ciphertexts, const Text& secret_keys) const {
        const uint64_t count = ciphertexts.size() / params().ciphertext_bytes();
        Text secrets(count * 32), texts = ciphertexts, keys = secret_keys;
        std::vector<int32_t> statuses(count, -1);
        warpseal_kem_batch all = batch(count);
        all.secret_keys = keys.data();
        if (keys.size() == params().secret_key_bytes()) all.secret_key_stride = 0;
        all.ciphertexts = texts.data();
        all.shared_secrets = secrets.data();
        all.statuses = statuses.data();
        EXPECT_EQ(run(KemOperation::decapsulate, all), 0u);
        EXPECT_EQ(statuses, std::vector<int32_t>(count, WARPSEAL_OK));
        EXPECT_EQ(texts, ciphertexts);
        EXPECT_EQ(keys, secret_keys);
        return secrets;
    }

private:
    const warpseal::CpuKem& kem_;
};

// A test of one set on one target; skipped, and said so, where this machine or this build does not have it.
class KemTest : public testing::TestWithParam<Subject> {
protected:
    void SetUp() override {
        const std::vector<warpseal_target_info> all = targets::all();
        for (size_t i = 0; i < all.size(); ++i) {
            if (all[i].name != GetParam().target) continue;
            if (!all[i].usable) GTEST_SKIP() << "NOT RUN: " << all[i].name << ": " << all[i].reason;
            const auto target = static_cast<warpseal::Target>(i);
            const warpseal::CpuKem* kem = warpseal::cpu_kem(target, GetParam().set.c_str());
            if (kem == nullptr || !warpseal::cpu_has_kem(target)) GTEST_SKIP() << "NOT RUN: no NTRU on " << all[i].name << " here";
            door_ = std::make_unique<Door>(*kem);
            return;
        }
        FAIL() << "no target " << GetParam().target;
    }
    const Door& door() const { return *door_; }
    const std::string& set() const { return GetParam().set; }
    bool fast() const { return GetParam().target != "portable"; }
    // The twin, made once: it inverts x - 1.
    const reference::Ntru& twin() const {
        static std::map<std::string, reference::Ntru> all;
        return all.try_emplace(set(), set()).first->second;
    }

private:
    std::unique_ptr<Door> door_;
};

}  // namespace tests

#define FOR_EACH_SET_AND_TARGET(suite) INSTANTIATE_TEST_SUITE_P(All, suite, testing::ValuesIn(tests::subjects()), tests::name_of)
