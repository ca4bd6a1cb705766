// One instance of CTR_DRBG on every CPU target, against NIST's answers, OpenSSL's CTR-DRBG and the
// reference.
#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <fstream>
#include <string>

#include "engine/drbg/ctr_drbg.h"
#include "engine/drbg/leaves.h"
#include "support/drbg.h"
#include "support/random.h"
#include "support/vectors.h"

namespace {

using oracle::Text;
using tests::Drbg;
using warpseal::CtrDrbg;

std::vector<const warpseal::CpuCipher*> every_aes() {
    std::vector<const warpseal::CpuCipher*> out;
    for (size_t i = 0; i < warpseal::cpu_target_count; ++i) {
        const auto target = static_cast<warpseal::Target>(i);
        const warpseal::CpuCipher* const aes = warpseal::cpu_cipher(target, "aes-256");
        if (aes != nullptr && warpseal::cpu_has(target)) out.push_back(aes);
    }
    return out;
}

Text generate(CtrDrbg& instance, size_t bytes) {
    Text out(bytes, 0xa5);
    instance.generate(out.data(), bytes);
    return out;
}

struct Answer {
    Text entropy, personalization, returned;
};

std::vector<Answer> answers() {
    std::ifstream file(WARPSEAL_TEST_VECTORS "/drbg/ctr-drbg-aes-256-no-df.rsp");
    std::vector<Answer> out;
    for (std::string line; std::getline(file, line);) {
        const size_t at = line.find(" = ");
        if (line.empty() || line[0] == '#') continue;
        if (at == std::string::npos) throw std::runtime_error("no value: " + line);
        const std::string name = line.substr(0, at);
        const Text value = vectors::from_hex(line.substr(at + 3));
        if (name == "EntropyInput") out.push_back({value, {}, {}});
        if (name == "PersonalizationString") out.back().personalization = value;
        if (name == "ReturnedBits") out.back().returned = value;
    }
    return out;
}

TEST(CtrDrbg, GivesTheAnswersOfNist) {
    const std::vector<Answer> all = answers();
    ASSERT_EQ(all.size(), 8u);
    for (const warpseal::CpuCipher* aes : every_aes())
        for (const Answer& answer : all) {
            Text seed = answer.entropy;
            ASSERT_EQ(seed.size(), warpseal::drbg::seed_bytes);
            for (size_t i = 0; i < answer.personalization.size(); ++i)
                seed[i] ^= answer.personalization[i];
            CtrDrbg instance(*aes);
            ASSERT_TRUE(instance.allocate());
            EXPECT_FALSE(instance.instantiated());
            instance.instantiate(seed.data());
            EXPECT_TRUE(instance.instantiated());
            (void)generate(instance, answer.returned.size());
            EXPECT_EQ(generate(instance, answer.returned.size()), answer.returned);
        }
}

TEST(CtrDrbg, PassesItsSelfTest) {
    for (const warpseal::CpuCipher* aes : every_aes())
        EXPECT_EQ(warpseal::test_ctr_drbg(*aes), WARPSEAL_OK);
}

void wrong_sweep(const void*, const uint8_t*, uint64_t, const uint8_t* in, uint8_t* out,
                 size_t bytes) {
    std::memmove(out, in, bytes);
}

TEST(CtrDrbg, FailsItsSelfTestWithAWrongCipher) {
    warpseal::CpuCipher wrong = *every_aes().front();
    wrong.sweep[WARPSEAL_CTR][0] = wrong_sweep;
    EXPECT_EQ(warpseal::test_ctr_drbg(wrong), WARPSEAL_SELF_TEST_FAILED);
}

// Requests of any length, with reseeds between them. skip() has the state of generate().
TEST(CtrDrbg, AgreesWithTheReference) {
    tests::Random random(301);
    for (const warpseal::CpuCipher* aes : every_aes()) {
        const Text seed = random.text(48);
        CtrDrbg instance(*aes);
        ASSERT_TRUE(instance.allocate());
        instance.instantiate(seed.data());
        Drbg expected(seed);
        for (int i = 0; i < 200; ++i) {
            const size_t bytes = i == 7 ? 65536 : random.length(65536);
            const Text output = expected.generate(bytes);
            if (random.one_in(5)) {
                Text key(32), counter(16), blocks(bytes / 16 * 16);
                instance.next(key.data(), counter.data());
                instance.skip(bytes);
                blocks = oracle::run("aes-256-ctr", true, key, counter, {}, blocks, nullptr);
                ASSERT_EQ(blocks, Text(output.begin(),
                                       output.begin() + static_cast<ptrdiff_t>(blocks.size())));
            } else {
                ASSERT_EQ(generate(instance, bytes), output) << bytes;
            }
            if (!random.one_in(10)) continue;
            const Text entropy = random.text(48);
            instance.reseed(entropy.data());
            expected.reseed(entropy);
        }
    }
}

// V wraps modulo 2^128, at a carry out of each byte.
TEST(CtrDrbg, CountsModulo2To128) {
    const warpseal::CpuCipher& aes = *every_aes().front();
    for (size_t ones = 1; ones <= 16; ++ones) {
        // A seed that gives this V: the output of Update under the zero key is XORed with it.
        Text zero(48), seed(48);
        CtrDrbg probe(aes), instance(aes);
        ASSERT_TRUE(probe.allocate() && instance.allocate());
        probe.instantiate(zero.data());
        uint8_t key[32], next[16];
        probe.next(key, next);
        // V of the probe is next - 1.
        Text v(next, next + 16);
        for (size_t i = 16; i-- > 0 && v[i]-- == 0;) {
        }
        for (size_t i = 0; i < 16; ++i)
            seed[32 + i] = static_cast<uint8_t>(v[i] ^ (i >= 16 - ones ? 0xff : 0x17));
        instance.instantiate(seed.data());
        Drbg expected(seed);
        EXPECT_EQ(generate(instance, 100), expected.generate(100)) << ones;
        EXPECT_EQ(generate(instance, 100), expected.generate(100)) << ones;
    }
}

// No seed that is drawn has such a V in practice.
TEST(Leaves, CountModulo2To128) {
    const warpseal::CpuCipher& aes = *every_aes().front();
    Text schedule(aes.state_bytes + 64);
    void* state = schedule.data() + (64 - reinterpret_cast<uintptr_t>(schedule.data()) % 64) % 64;
    const warpseal::InstantiationMask mask = warpseal::instantiation_mask(aes, state);
    Text v[] = {Text(16, 0xff), Text(16, 0xff), Text(16, 0xff), Text(16)}, next[4];
    v[1][0] = 0x12, v[2][15] = 0xfe;
    for (size_t i = 0; i < 4; ++i) {
        next[i] = v[i];
        for (size_t k = 16; k-- > 0 && ++next[i][k] == 0;) {
        }
    }
    Text memory(warpseal::Leaves::bytes_for(4)), out(1);
    warpseal::Leaves leaves(memory.data(), 4);
    for (size_t i = 0; i < 4; ++i)
        for (size_t k = 0; k < 48; ++k)
            leaves.seeds()[48 * i + k] =
                static_cast<uint8_t>(mask.bytes[k] ^ (k < 32 ? 7 : v[i][k - 32]));
    leaves.instantiate(mask);
    const warpseal_batch batch = leaves.whole(out.data(), 4 * warpseal::drbg::max_request_bytes);
    ASSERT_EQ(batch.message_count, 4u);
    for (size_t i = 0; i < 4; ++i) {
        const uint8_t* const counter = batch.ivs + batch.iv_stride * i;
        EXPECT_EQ(Text(counter, counter + 16), next[i]) << i;
    }
}

TEST(CtrDrbg, NeedsAReseedAfterItsInterval) {
    EXPECT_EQ(CtrDrbg::reseed_interval, uint64_t{1} << 48);  // table 3 of SP 800-90A
    CtrDrbg instance(*every_aes().front());
    ASSERT_TRUE(instance.allocate());
    const Text seed(48, 1);
    instance.instantiate(seed.data());
    for (int i = 0; i < 3; ++i) (void)generate(instance, 1);
    EXPECT_FALSE(instance.needs_reseed());
    CtrDrbg brief(*every_aes().front(), 3);
    ASSERT_TRUE(brief.allocate());
    brief.instantiate(seed.data());
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 2; ++i) (void)generate(brief, 1);
        EXPECT_FALSE(brief.needs_reseed()) << "the third request is allowed";
        brief.skip(16);
        EXPECT_TRUE(brief.needs_reseed());
        brief.reseed(seed.data());
        EXPECT_FALSE(brief.needs_reseed());
    }
}

// ---- OpenSSL's CTR-DRBG, with a parent that gives fixed entropy

struct Freed {
    void operator()(EVP_RAND_CTX* context) const { EVP_RAND_CTX_free(context); }
    void operator()(EVP_RAND* kind) const { EVP_RAND_free(kind); }
};

class OpensslDrbg {
public:
    OpensslDrbg(Text entropy, const Text& personalization) : parent_(made("TEST-RAND", nullptr)) {
        unsigned strength = 256;
        Text nonce(16);
        OSSL_PARAM test[] = {OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_ENTROPY,
                                                               entropy.data(), entropy.size()),
                             OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_NONCE,
                                                               nonce.data(), nonce.size()),
                             OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength),
                             OSSL_PARAM_END};
        oracle::must(EVP_RAND_CTX_set_params(parent_.get(), test));
        oracle::must(EVP_RAND_instantiate(parent_.get(), 256, 0, nullptr, 0, nullptr));
        drbg_ = made("CTR-DRBG", parent_.get());
        char cipher[] = "AES-256-CTR";
        int derivation = 0;
        OSSL_PARAM settings[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
            OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &derivation), OSSL_PARAM_END};
        oracle::must(EVP_RAND_CTX_set_params(drbg_.get(), settings));
        oracle::must(EVP_RAND_instantiate(drbg_.get(), 256, 0, personalization.data(),
                                          personalization.size(), nullptr));
    }
    Text generate(size_t bytes) {
        Text out(bytes);
        oracle::must(EVP_RAND_generate(drbg_.get(), out.data(), bytes, 256, 0, nullptr, 0));
        return out;
    }

private:
    using Context = std::unique_ptr<EVP_RAND_CTX, Freed>;
    static Context made(const char* name, EVP_RAND_CTX* parent) {
        const std::unique_ptr<EVP_RAND, Freed> kind(EVP_RAND_fetch(nullptr, name, nullptr));
        if (kind == nullptr) throw std::runtime_error("libcrypto has no such generator");
        return Context(EVP_RAND_CTX_new(kind.get(), parent));
    }
    Context parent_, drbg_;
};

TEST(CtrDrbg, AgreesWithOpenssl) {
    tests::Random random(302);
    const Text entropy = random.text(48), personalization = random.text(48);
    Text seed = entropy;
    for (size_t i = 0; i < seed.size(); ++i) seed[i] ^= personalization[i];
    OpensslDrbg expected(entropy, personalization);
    CtrDrbg instance(*every_aes().front());
    ASSERT_TRUE(instance.allocate());
    instance.instantiate(seed.data());
    for (const size_t bytes : {size_t{16}, size_t{1}, size_t{47}, size_t{4096}, size_t{65536}})
        EXPECT_EQ(generate(instance, bytes), expected.generate(bytes)) << bytes;
}

}  // namespace
