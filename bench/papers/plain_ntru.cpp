// NTRU on one thread, as a whole and in the parts of P4's table 5.
#include "bench/papers/plain_ntru.h"

#include "bench/ladder/ntru.h"

namespace warpseal::papers {

using namespace ladder::ntru;

constexpr const Params& set = kem::ntruhps4096821;
constexpr OneThread one;

struct PlainNtru::Memory {
    // The doubled factor lets the compiler vectorize the product.
    EncapsulationMemory<set, Factor::doubled> encapsulation{};
    DecapsulationMemory<set, Factor::doubled> decapsulation{};
    uint8_t digest[2][Params::shared_secret_bytes] = {};
};

PlainNtru::PlainNtru() : memory_(std::make_unique<Memory>()) {}
PlainNtru::~PlainNtru() = default;

void PlainNtru::encapsulate(uint64_t item, const uint8_t* public_key, uint8_t* ciphertext,
                            uint8_t* secret) {
    auto& memory = memory_->encapsulation;
    ladder::ntru::encapsulate<set, Sorts::one>(one, item, public_key, ciphertext, memory);
    sha3_256(secret, memory.message, sizeof memory.message, kem::keccak::constants.of);
}

void PlainNtru::decapsulate(const uint8_t* ciphertext, const uint8_t* secret_key, uint8_t* secret) {
    auto& memory = memory_->decapsulation;
    auto& [digest, rejected] = memory_->digest;
    ladder::ntru::decapsulate<set>(one, ciphertext, secret_key, memory);
    sha3_256(digest, memory.message, sizeof memory.message, kem::keccak::constants.of);
    sha3_256(rejected, memory.rejected, sizeof memory.rejected, kem::keccak::constants.of);
    select(secret, digest, rejected, memory.wrong);
}

void PlainNtru::draw_coins(uint64_t item, std::span<uint8_t> coins) {
    random_bytes(one, coins.data(), coins.size(), item);
}

std::span<const PlainNtru::Part> PlainNtru::parts() {
    static constexpr Part all[] = {
        {"randombytes", true, 1,
         [](PlainNtru& ntru) { draw_coins(1, ntru.memory_->encapsulation.coins); }},
        {"sample-iid", true, 1,
         [](PlainNtru& ntru) {
             auto& memory = ntru.memory_->encapsulation;
             sample_iid<set>(one, memory.r, memory.coins);
         }},
        {"sample-fixed", true, 1,
         [](PlainNtru& ntru) {
             auto& memory = ntru.memory_->encapsulation;
             sample_fixed<set, Sorts::one>(one, memory.m, memory.coins + set.iid_coins(),
                                           memory.keys);
         }},
        {"Rq-mul", true, 1,
         [](PlainNtru& ntru) {
             auto& memory = ntru.memory_->encapsulation;
             multiply<set>(one, memory.c, memory.r, memory.h, memory.turned);
         }},
        {"sha3-256", true, 1,
         [](PlainNtru& ntru) {
             auto& memory = ntru.memory_->encapsulation;
             sha3_256(ntru.memory_->digest[0], memory.message, sizeof memory.message,
                      kem::keccak::constants.of);
         }},
        {"Rq-mul", false, 3,
         [](PlainNtru& ntru) {
             auto& memory = ntru.memory_->decapsulation;
             multiply<set>(one, memory.product, memory.c, memory.key, memory.turned);
         }},
        {"mod(3, x^n-1)", false, 2,
         [](PlainNtru& ntru) { reduce_q_to_s3<set>(one, ntru.memory_->decapsulation.m); }},
        {"sha3-256", false, 1,
         [](PlainNtru& ntru) {  // both hashes, because their messages differ in length
             auto& memory = ntru.memory_->decapsulation;
             sha3_256(ntru.memory_->digest[0], memory.message, sizeof memory.message,
                      kem::keccak::constants.of);
             sha3_256(ntru.memory_->digest[1], memory.rejected, sizeof memory.rejected,
                      kem::keccak::constants.of);
         }},
        {"S3 frombytes", false, 2,
         [](PlainNtru& ntru) {
             auto& memory = ntru.memory_->decapsulation;
             unpack_ternary<set>(one, memory.key, memory.secret_key);
         }},
        {"cmov", false, 1,
         [](PlainNtru& ntru) {
             auto& [digest, rejected] = ntru.memory_->digest;
             select(digest, digest, rejected, ntru.memory_->decapsulation.wrong);
         }},
    };
    return all;
}

}  // namespace warpseal::papers
