// A Botan 8.7.6 that has the block cipher AES-128 and nothing else. With FAKE_LACKS it also lacks a
// function.
#include <stdint.h>

#include "fake.h"

struct handle {
    EVP_CIPHER_CTX *encrypts, *decrypts;
};

uint32_t botan_version_major(void) { return 8; }
uint32_t botan_version_minor(void) { return 7; }
uint32_t botan_version_patch(void) { return 6; }
int botan_block_cipher_init(void** handle, const char* name) {
    if (strcmp(name, "AES-128") != 0) return -40;
    *handle = calloc(1, sizeof(struct handle));
    return 0;
}
int botan_block_cipher_destroy(void* handle) {
    struct handle* const h = handle;
    EVP_CIPHER_CTX_free(h->encrypts);
    EVP_CIPHER_CTX_free(h->decrypts);
    free(h);
    return 0;
}
int botan_block_cipher_get_keyspec(void* handle, size_t* least, size_t* most, size_t* step) {
    (void)handle;
    *least = *most = 16;
    *step = 1;
    return 0;
}
int botan_block_cipher_set_key(void* handle, const uint8_t* key, size_t bytes) {
    struct handle* const h = handle;
    if (fake_fault("refuses") || bytes != 16) return -1;
    h->encrypts = fake_key(key, 1);
    h->decrypts = fake_key(key, 0);
    return 0;
}
int botan_block_cipher_encrypt_blocks(void* handle, const uint8_t* in, uint8_t* out,
                                      size_t blocks) {
    struct handle* const h = handle;
    return -fake_blocks(h->encrypts, "botan", out, in, 16 * blocks);
}
int botan_block_cipher_decrypt_blocks(void* handle, const uint8_t* in, uint8_t* out,
                                      size_t blocks) {
    struct handle* const h = handle;
    return -fake_blocks(h->decrypts, "botan", out, in, 16 * blocks);
}
int botan_cipher_init(void** handle, const char* name, uint32_t flags) {
    (void)handle, (void)name, (void)flags;
    return -40;
}
int botan_mac_init(void** handle, const char* name, uint32_t flags) {
    (void)handle, (void)name, (void)flags;
    return -40;
}

// No test reaches these.
int botan_cipher_destroy(void) { return -1; }
int botan_cipher_set_key(void) { return -1; }
int botan_cipher_start(void) { return -1; }
int botan_cipher_update(void) { return -1; }
int botan_mac_destroy(void) { return -1; }
int botan_mac_set_key(void) { return -1; }
int botan_mac_update(void) { return -1; }
#ifndef FAKE_LACKS
int botan_mac_final(void) { return -1; }
#endif
