// What one block of each cipher costs a GPU at least: the counts behind the bounds of docs/tuning.md. A test counts them in src/ciphers.
#pragma once

namespace warpseal::cli {

struct CipherWork {
    const char* cipher;
    unsigned block_bytes;
    unsigned look_ups;           // in table form; 0: no such form
    unsigned counting_look_ups;  // of those, what counter mode cannot take over from the block before
    unsigned plane_gates;        // in plane form, for 32 blocks, without the transposition; 0: no such form
    unsigned logic;              // in word form: exclusive-ors and rotations; 0: no such form
};

// Without an entry a cipher has no bound drawn.
inline constexpr CipherWork cipher_work[] = {
    {"aes-128", 16, 160, 128, 0, 0},      {"aes-192", 16, 192, 160, 0, 0},      {"aes-256", 16, 224, 192, 0, 0},
    {"aria-128", 16, 192, 162, 0, 0},     {"aria-192", 16, 224, 194, 0, 0},     {"aria-256", 16, 256, 226, 0, 0},
    {"camellia-128", 16, 144, 124, 0, 0}, {"camellia-192", 16, 192, 172, 0, 0}, {"camellia-256", 16, 192, 172, 0, 0},
    {"des", 8, 128, 128, 3904, 0},        {"des-ede2", 8, 384, 384, 11648, 0},  {"des-ede3", 8, 384, 384, 11648, 0},
    {"seed-128", 16, 192, 192, 0, 0},     {"sm4-128", 16, 128, 128, 0, 0},      {"lea-128", 16, 0, 0, 0, 216},
    {"lea-192", 16, 0, 0, 0, 252},        {"lea-256", 16, 0, 0, 0, 288},
};

}  // namespace warpseal::cli
