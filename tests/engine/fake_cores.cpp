// Broken ciphers: call the working function, then flip one bit of its output.
#include "engine/fake_cores.h"

#include <cstring>
#include <memory>
#include <vector>

namespace tests {
namespace {

using namespace warpseal;

constexpr const char* name = "aes-256";

const CpuCipher& working() {
    return *cpu_cipher(cpu_has(Target::aesni) ? Target::aesni : Target::portable, name);
}

void bad_expand(void* state, const uint8_t* key) {
    uint8_t other[32];
    std::memcpy(other, key, sizeof other);
    other[31] ^= 1;
    working().expand(state, other);
}

// Wrong only for long messages, as a broken wide loop would be.
template <int mode, int direction>
void bad_sweep(const void* state, const uint8_t* iv, uint64_t first, const uint8_t* in,
               uint8_t* out, size_t bytes) {
    working().sweep[mode][direction](state, iv, first, in, out, bytes);
    if (bytes > 500) out[bytes / 2] ^= 0x40;
}

template <int direction>
void bad_xts(const void* state, const void* tweak_state, const XtsUnits& units, const uint8_t* in,
             uint8_t* out, size_t bytes) {
    working().xts[direction](state, tweak_state, units, in, out, bytes);
    if (bytes > 500) out[bytes / 2] ^= 0x40;
}

void bad_begin(const void* state, const uint8_t* iv, size_t iv_bytes, const uint8_t* aad,
               size_t aad_bytes, GcmState* run) {
    working().gcm_begin(state, iv, iv_bytes, aad, aad_bytes, run);
    if (iv_bytes != 12) run->counter0[0] ^= 1;
}

template <int direction>
void bad_chunk(const void* state, GcmState* run, uint64_t first, const uint8_t* in, uint8_t* out,
               size_t bytes) {
    working().gcm_segment[direction](state, run, first, in, out, bytes);
    if (bytes > 500) run->sum[7] ^= 1;
}

void bad_combine(const void* state, uint8_t sum[16], const uint8_t segment[16], uint64_t blocks) {
    working().gcm_combine(state, sum, segment, blocks);
    sum[0] ^= 0x80;
}

void bad_finish(const void* state, const GcmState* run, uint64_t aad_bytes, uint64_t text_bytes,
                uint8_t tag[16]) {
    working().gcm_finish(state, run, aad_bytes, text_bytes, tag);
    tag[15] ^= 1;
}

template <int mode, int direction>
uint64_t bad_text(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
    const uint64_t forgeries = working().batch[mode][direction](state, batch, first, count);
    if (first + count > 7)
        batch.out[batch.out_offsets != nullptr ? batch.out_offsets[7] : 7 * batch.out_stride] ^= 1;
    return forgeries;
}

template <int mode, int direction>
uint64_t bad_tag(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
    const uint64_t forgeries = working().batch[mode][direction](state, batch, first, count);
    if (direction == 1 && batch.statuses != nullptr)
        batch.statuses[first] ^= WARPSEAL_NOT_AUTHENTIC;
    if (direction == 0 && batch.tags != nullptr) batch.tags[first * batch.tag_stride] ^= 1;
    return forgeries;
}

template <int mode, int direction>
uint64_t bad_count(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
    return working().batch[mode][direction](state, batch, first, count) + 1;
}

template <int mode, int direction>
void break_in(CpuCipher& cipher, Break what) {
    if (what == Break::expand) cipher.expand = bad_expand;
    if (what == Break::sweep) cipher.sweep[mode][direction] = bad_sweep<mode, direction>;
    if (what == Break::xts) cipher.xts[direction] = bad_xts<direction>;
    if (what == Break::gcm_begin) cipher.gcm_begin = bad_begin;
    if (what == Break::gcm_segment) cipher.gcm_segment[direction] = bad_chunk<direction>;
    if (what == Break::gcm_combine) cipher.gcm_combine = bad_combine;
    if (what == Break::gcm_finish) cipher.gcm_finish = bad_finish;
    if (what == Break::batch_text) cipher.batch[mode][direction] = bad_text<mode, direction>;
    if (what == Break::batch_tag) cipher.batch[mode][direction] = bad_tag<mode, direction>;
    if (what == Break::batch_count) cipher.batch[mode][direction] = bad_count<mode, direction>;
    if (what == Break::known_answer) cipher.known.ciphertext[0] ^= 1;
}

using BreakIn = void (*)(CpuCipher&, Break);
constexpr BreakIn break_in_of[WARPSEAL_MODE_COUNT][direction_count] = {
    {break_in<0, 0>, break_in<0, 1>}, {break_in<1, 0>, break_in<1, 1>},
    {break_in<2, 0>, break_in<2, 1>}, {break_in<3, 0>, break_in<3, 1>},
    {break_in<4, 0>, break_in<4, 1>}, {break_in<5, 0>, break_in<5, 1>},
    {break_in<6, 0>, break_in<6, 1>}, {break_in<7, 0>, break_in<7, 1>},
    {break_in<8, 0>, break_in<8, 1>}};

std::vector<std::unique_ptr<CpuCipher>> made;  // never freed: results are recorded by address
const CpuCipher* machine[cpu_target_count];

CpuCipher* new_cipher() {
    made.push_back(std::make_unique<CpuCipher>(working()));
    return made.back().get();
}

}  // namespace

void mend_cores() {
    for (const CpuCipher*& cipher : machine) cipher = new_cipher();
}

void break_cores(Target target, Break what, warpseal_mode mode, Direction direction) {
    mend_cores();
    CpuCipher* broken = new_cipher();
    break_in_of[mode][static_cast<int>(direction)](*broken, what);
    machine[static_cast<int>(target)] = broken;
}

void break_all_cores(Break what, warpseal_mode mode, Direction direction) {
    for (const CpuCipher*& cipher : machine) {
        CpuCipher* broken = new_cipher();
        break_in_of[mode][static_cast<int>(direction)](*broken, what);
        cipher = broken;
    }
}

const CpuCipher* machine_cipher(Target target, const char* cipher) {
    return std::strcmp(cipher, name) == 0 ? machine[static_cast<int>(target)] : nullptr;
}

bool machine_has(Target) { return true; }

bool portable_alone(Target target) { return target == Target::portable; }

const CpuCipher* choosy_cipher(Target target, const char* cipher) {
    static const CpuCipher choosy = [] {
        CpuCipher made = working();
        made.weak = [](const uint8_t* key) {
            bool same = true;
            for (int i = 1; i < 32; ++i) same &= key[i] == key[0];
            return same;
        };
        return made;
    }();
    return target == Target::portable && std::strcmp(cipher, name) == 0 ? &choosy : nullptr;
}

}  // namespace tests
