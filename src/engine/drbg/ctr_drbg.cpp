// CTR_DRBG over a CPU backend's AES-256.
#include "engine/drbg/ctr_drbg.h"

#include <cstring>

#include "core/secret.h"
#include "core/word.h"

namespace warpseal {
namespace {

constexpr int encrypt = static_cast<int>(Direction::encrypt);

void add(uint8_t block[CtrDrbg::block_bytes], uint64_t i) {
    const uint64_t low = load_be64(block + 8) + i;
    store_be64(block, load_be64(block) + (low < i ? 1 : 0));
    store_be64(block + 8, low);
}

}  // namespace

struct CtrDrbg::State {
    alignas(64) uint8_t key[key_bytes];
    uint8_t v[block_bytes];
    uint64_t requests;  // reseed_counter of the standard; 0: not instantiated
};

bool CtrDrbg::allocate() {
    return memory_.allocate(sizeof(State) + aes_.state_bytes, SecretMemory::AfterFork::wiped);
}

bool CtrDrbg::instantiated() const { return state().requests != 0; }
bool CtrDrbg::needs_reseed() const { return state().requests > interval_; }

uint8_t* CtrDrbg::schedule() { return static_cast<uint8_t*>(memory_.data()) + sizeof(State); }

// Writes E(Key, V + 1), E(Key, V + 2), ... without a change of V.
void CtrDrbg::keystream(uint8_t* out, size_t bytes) {
    Secret<block_bytes> counter;
    std::memcpy(counter.data(), state().v, block_bytes);
    add(counter.data(), 1);
    std::memset(out, 0, bytes);
    aes_.sweep[WARPSEAL_CTR][encrypt](schedule(), counter.data(), 0, out, out, bytes);
}

void CtrDrbg::advance(size_t bytes) {
    add(state().v, bytes / block_bytes + (bytes % block_bytes != 0));
}

// CTR_DRBG_Update, 10.2.1.2. `provided` may be null: zeros.
void CtrDrbg::update(const uint8_t* provided) {
    Secret<drbg::seed_bytes> next;
    keystream(next.data(), next.size());
    for (size_t i = 0; provided != nullptr && i < next.size(); ++i) next.data()[i] ^= provided[i];
    std::memcpy(state().key, next.data(), key_bytes);
    std::memcpy(state().v, next.data() + key_bytes, block_bytes);
    aes_.expand(schedule(), state().key);
}

void CtrDrbg::instantiate(const uint8_t* seed_material) {
    std::memset(&state(), 0, sizeof(State));
    aes_.expand(schedule(), state().key);
    reseed(seed_material);
}

void CtrDrbg::reseed(const uint8_t* entropy) {
    update(entropy);
    state().requests = 1;
}

void CtrDrbg::generate(uint8_t* out, size_t bytes) {
    if (bytes != 0) keystream(out, bytes);
    skip(bytes);
}

void CtrDrbg::next(uint8_t key[key_bytes], uint8_t counter[block_bytes]) const {
    std::memcpy(key, state().key, key_bytes);
    std::memcpy(counter, state().v, block_bytes);
    add(counter, 1);
}

void CtrDrbg::skip(size_t bytes) {
    advance(bytes);
    update(nullptr);
    ++state().requests;
}

// NIST CAVP 14.3, CTR_DRBG.rsp: "AES-256 no df", no prediction resistance, no personalization
// string, no additional input, COUNT = 0. The file has the output of the second request.
warpseal_status test_ctr_drbg(const CpuCipher& aes) {
    static constexpr uint8_t entropy[drbg::seed_bytes] = {
        0xdf, 0x5d, 0x73, 0xfa, 0xa4, 0x68, 0x64, 0x9e, 0xdd, 0xa3, 0x3b, 0x5c,
        0xca, 0x79, 0xb0, 0xb0, 0x56, 0x00, 0x41, 0x9c, 0xcb, 0x7a, 0x87, 0x9d,
        0xdf, 0xec, 0x9d, 0xb3, 0x2e, 0xe4, 0x94, 0xe5, 0x53, 0x1b, 0x51, 0xde,
        0x16, 0xa3, 0x0f, 0x76, 0x92, 0x62, 0x47, 0x4c, 0x73, 0xbe, 0xc0, 0x10};
    static constexpr uint8_t expected[64] = {
        0xd1, 0xc0, 0x7c, 0xd9, 0x5a, 0xf8, 0xa7, 0xf1, 0x10, 0x12, 0xc8, 0x4c, 0xe4,
        0x8b, 0xb8, 0xcb, 0x87, 0x18, 0x9e, 0x99, 0xd4, 0x0f, 0xcc, 0xb1, 0x77, 0x1c,
        0x61, 0x9b, 0xdf, 0x82, 0xab, 0x22, 0x80, 0xb1, 0xdc, 0x2f, 0x25, 0x81, 0xf3,
        0x91, 0x64, 0xf7, 0xac, 0x0c, 0x51, 0x04, 0x94, 0xb3, 0xa4, 0x3c, 0x41, 0xb7,
        0xdb, 0x17, 0x51, 0x4c, 0x87, 0xb1, 0x07, 0xae, 0x79, 0x3e, 0x01, 0xc5};
    CtrDrbg instance(aes);
    if (!instance.allocate()) return WARPSEAL_OUT_OF_MEMORY;
    instance.instantiate(entropy);
    uint8_t out[sizeof expected];
    for (int request = 0; request < 2; ++request) instance.generate(out, sizeof out);
    return std::memcmp(out, expected, sizeof out) == 0 ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
}

}  // namespace warpseal
