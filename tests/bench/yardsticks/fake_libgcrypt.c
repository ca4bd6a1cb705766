// A libgcrypt 9.8.7 that has AES-128 in ECB and nothing else. With FAKE_LACKS it also lacks a
// function.
#include "fake.h"

enum { algorithm_aes128 = 7, mode_ecb = 1 };

struct handle {
    EVP_CIPHER_CTX *encrypts, *decrypts;
};

const char* gcry_check_version(const char* wanted) {
    (void)wanted;
    return "9.8.7";
}
unsigned gcry_control(int command, ...) {
    (void)command;
    return 0;
}
int gcry_cipher_map_name(const char* name) {
    return strcmp(name, "AES128") == 0 ? algorithm_aes128 : 0;
}
size_t gcry_cipher_get_algo_keylen(int algorithm) { return algorithm == algorithm_aes128 ? 16 : 0; }
unsigned gcry_cipher_open(void** handle, int algorithm, int mode, unsigned flags) {
    if (algorithm != algorithm_aes128 || mode != mode_ecb || flags != 0) return 1;
    *handle = calloc(1, sizeof(struct handle));
    return 0;
}
void gcry_cipher_close(void* handle) {
    struct handle* const h = handle;
    EVP_CIPHER_CTX_free(h->encrypts);
    EVP_CIPHER_CTX_free(h->decrypts);
    free(h);
}
unsigned gcry_cipher_setkey(void* handle, const void* key, size_t bytes) {
    struct handle* const h = handle;
    if (fake_fault("refuses") || bytes != 16) return 1;
    h->encrypts = fake_key(key, 1);
    h->decrypts = fake_key(key, 0);
    return 0;
}
unsigned gcry_cipher_encrypt(void* handle, void* out, size_t room, const void* in, size_t bytes) {
    struct handle* const h = handle;
    return room < bytes || fake_blocks(h->encrypts, "libgcrypt", out, in, bytes) != 0;
}
unsigned gcry_cipher_decrypt(void* handle, void* out, size_t room, const void* in, size_t bytes) {
    struct handle* const h = handle;
    return room < bytes || fake_blocks(h->decrypts, "libgcrypt", out, in, bytes) != 0;
}

// No test reaches these.
unsigned gcry_cipher_setiv(void) { return 1; }
unsigned gcry_cipher_ctl(void) { return 1; }
unsigned gcry_cipher_gettag(void) { return 1; }
unsigned gcry_cipher_checktag(void) { return 1; }
int gcry_mac_map_name(const char* name) {
    (void)name;
    return 0;
}
unsigned gcry_mac_open(void) { return 1; }
void gcry_mac_close(void) {}
unsigned gcry_mac_setkey(void) { return 1; }
unsigned gcry_mac_ctl(void) { return 1; }
unsigned gcry_mac_write(void) { return 1; }
unsigned gcry_mac_read(void) { return 1; }
#ifndef FAKE_LACKS
unsigned gcry_cipher_setctr(void) { return 1; }
#endif
