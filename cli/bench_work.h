// What one block of each cipher costs a GPU at least: the counts behind the bounds of docs/tuning.md. A test counts them in src/ciphers.
#pragma once

namespace warpseal::cli {

struct CipherWork {
    const char* cipher;
    unsigned block_bytes;
    unsigned look_ups;           // in table form, of a block on its own; 0: no such form
    unsigned pair_look_ups;      // of a block in a sweep, which goes two at a time
    unsigned counting_look_ups;  // of those, what counter mode cannot take over from other blocks
    unsigned plane_gates;        // in plane form, for 32 blocks, without transpositions and additions of a key alone; 0: no such form
    unsigned logic;              // in word form: exclusive-ors and rotations; 0: no such form
};

// Without an entry a cipher has no bound drawn.
inline constexpr CipherWork cipher_work[] = {
    {"aes-128", 16, 160, 144, 112, 0, 0},      {"aes-192", 16, 192, 176, 144, 0, 0},      {"aes-256", 16, 224, 208, 176, 0, 0},
    {"aria-128", 16, 192, 192, 162, 0, 0},     {"aria-192", 16, 224, 224, 194, 0, 0},     {"aria-256", 16, 256, 256, 226, 0, 0},
    {"camellia-128", 16, 144, 144, 124, 0, 0}, {"camellia-192", 16, 192, 192, 172, 0, 0}, {"camellia-256", 16, 192, 192, 172, 0, 0},
    {"des", 8, 128, 128, 128, 3584, 0},        {"des-ede2", 8, 384, 384, 384, 10752, 0},  {"des-ede3", 8, 384, 384, 384, 10752, 0},
    {"seed-128", 16, 192, 192, 192, 0, 0},     {"sm4-128", 16, 128, 128, 128, 0, 0},      {"lea-128", 16, 0, 0, 0, 0, 216},
    {"lea-192", 16, 0, 0, 0, 0, 252},          {"lea-256", 16, 0, 0, 0, 0, 288},
};

}  // namespace warpseal::cli
