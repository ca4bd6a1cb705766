/* Interface between a cipher under trial and the program that checks and times it. */
#ifndef TRIAL_H
#define TRIAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A variable at file scope that the block functions read. */
struct trial_variable {
    const char* name;
    void* data;
    size_t bytes;
    int constant; /* 0 if the key function or an initializer fills it at run time */
};

struct trial_vector {
    const uint8_t *key, *plaintext, *ciphertext;
    size_t bytes;
};

typedef void trial_block_function(const void* context, const uint8_t* in, uint8_t* out);

struct trial_cipher {
    const char *name, *encrypt_name, *decrypt_name, *key_name, *context_name;
    size_t key_bytes, block_bytes, context_bytes;
    void (*expand)(const uint8_t* key, void* context);
    trial_block_function *encrypt, *decrypt; /* decrypt may be NULL */
    const struct trial_variable* variables;
    size_t variable_count;
    const struct trial_vector* vectors;
    size_t vector_count;
};

extern const struct trial_cipher cipher_under_trial;

#ifdef __cplusplus
}
#endif

#endif
