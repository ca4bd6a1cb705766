/* A third-party C99 program: seals, opens, and is refused after a change. */
#include <stdio.h>
#include <string.h>
#include <warpseal/warpseal.h>

#define REQUIRE(condition)                                          \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: " #condition "\n", __LINE__); \
            return 1;                                               \
        }                                                           \
    } while (0)

int main(void) {
    static const char text[] = "the same text, there and back";
    unsigned char raw[32], iv[12], tag[16], sealed[sizeof text], opened[sizeof text];
    warpseal_engine* engine = NULL;
    warpseal_key* key = NULL;

    REQUIRE(warpseal_engine_create(NULL, &engine) == WARPSEAL_OK);
    REQUIRE(warpseal_random(raw, sizeof raw) == WARPSEAL_OK);
    REQUIRE(warpseal_key_create(engine, "aes-256", raw, sizeof raw, &key) == WARPSEAL_OK);
    REQUIRE(warpseal_seal(key, WARPSEAL_GCM, iv, NULL, 0, text, sealed, sizeof text, tag,
                          sizeof tag) == WARPSEAL_OK);
    REQUIRE(memcmp(text, sealed, sizeof text) != 0);
    REQUIRE(warpseal_open(key, WARPSEAL_GCM, iv, sizeof iv, NULL, 0, sealed, opened, sizeof text,
                          tag, sizeof tag) == WARPSEAL_OK);
    REQUIRE(memcmp(text, opened, sizeof text) == 0);
    tag[0] ^= 1;
    REQUIRE(warpseal_open(key, WARPSEAL_GCM, iv, sizeof iv, NULL, 0, sealed, opened, sizeof text,
                          tag, sizeof tag) == WARPSEAL_NOT_AUTHENTIC);
    warpseal_key_destroy(key);
    warpseal_engine_destroy(engine);
    return 0;
}
