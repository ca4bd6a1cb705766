/* Secrets of a program that wraps and unwraps file keys by itself, as SSH keys and plugins of age
 * need. They are no part of the public interface. */
#ifndef WARPSEAL_CONTAINER_UNWRAPPER_H
#define WARPSEAL_CONTAINER_UNWRAPPER_H

#include <stddef.h>
#include <stdint.h>

#include "warpseal/warpseal.h"

/* Seals. Its bytes: the slot's type (2, big-endian), a file key (16), the slot's parameters. */
#define WARPSEAL_INTERNAL_SECRET_STANZA 110
/* Open. Their bytes are a warpseal_internal_unwrapper. The late one is tried after all other
 * secrets, because it may ask a person. It alone is tried on slots of plugins. */
#define WARPSEAL_INTERNAL_SECRET_UNWRAPPER 111
#define WARPSEAL_INTERNAL_SECRET_LATE_UNWRAPPER 112

/* The parameters of a plugin's slot are a byte of flags, then the text of one or more stanzas. The
 * flags are this one or 0. */
#define WARPSEAL_INTERNAL_STANZA_POST_QUANTUM 1
#define WARPSEAL_INTERNAL_STANZA_FLAG_BYTES 1
#define WARPSEAL_INTERNAL_STANZA_TEXT_BYTES_MAX 8191

typedef struct warpseal_internal_parameters {
    const uint8_t* bytes;
    size_t byte_count;
} warpseal_internal_parameters;

/* A slot of a file. Nothing in it is authenticated. */
typedef struct warpseal_internal_stanza_slot {
    uint32_t type;
    warpseal_internal_parameters parameters;
    /* Those of all slots of the type in the file, this one among them: a plugin is started once. */
    const warpseal_internal_parameters* alike;
    size_t alike_count;
} warpseal_internal_stanza_slot;

typedef struct warpseal_internal_unwrapper {
    /* Finds the file key of a slot. WARPSEAL_WRONG_KEY: the slot is for somebody else. After a
     * failure `message`, of 240 bytes, says what the user should know of it, or is left alone.
     * Throws nothing. Any number of threads may call it. */
    warpseal_status (*unwrap)(void* user, const warpseal_internal_stanza_slot* slot,
                              uint8_t file_key[16], char* message);
    void* user;
} warpseal_internal_unwrapper;

#endif
