// What the fake libraries share: AES-128 in ECB by the system's libcrypto, and faults that the
// environment selects.
//
// FAKE_SLOW names the library whose calls take 2 ms longer. FAKE_FAULT is "wrong" (a changed byte
// of each output), "late" (the same after 20 calls), "fails" (calls fail) or "refuses" (keys).
#pragma once

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int fake_fault(const char* name) {
    const char* const fault = getenv("FAKE_FAULT");
    return fault && strcmp(fault, name) == 0;
}

static inline EVP_CIPHER_CTX* fake_key(const unsigned char* key, int encrypts) {
    EVP_CIPHER_CTX* const made = EVP_CIPHER_CTX_new();
    EVP_CipherInit_ex(made, EVP_aes_128_ecb(), NULL, key, NULL, encrypts);
    EVP_CIPHER_CTX_set_padding(made, 0);
    return made;
}

// Returns 0 on success.
static inline int fake_blocks(EVP_CIPHER_CTX* cipher, const char* library, void* out,
                              const void* in, size_t bytes) {
    static int calls;
    const char* const slow = getenv("FAKE_SLOW");
    const int late = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) > 20;
    const struct timespec delay = {0, 2000000};
    int wrote = 0;
    if (slow && strcmp(slow, library) == 0) nanosleep(&delay, NULL);
    if (fake_fault("fails")) return 1;
    if (EVP_CipherUpdate(cipher, (unsigned char*)out, &wrote, (const unsigned char*)in,
                         (int)bytes) != 1)
        return 1;
    if (fake_fault("wrong") || (fake_fault("late") && late)) ((unsigned char*)out)[bytes - 1] ^= 1;
    return 0;
}
