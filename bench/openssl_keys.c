/* Measures short messages through EVP in OpenSSL's provider and in ours, in turn, each under the
 * last key or a new one. bench/openssl_keys builds and runs it.
 *
 *   PROGRAM MODULE_FOLDER SECONDS BYTES CIPHER...
 *
 * Prints one JSON object a line: for a cipher and a kind of key, nanoseconds of this thread's
 * CPU time per message, in each of seven repetitions of both. A message is an init with key and
 * IV, its text, its end, and reading its tag. */
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { repetitions = 7, most_bytes = 1 << 16, kind_count = 4 };
enum kind { same_key, new_key, named_again, new_context };
static const char* const kind_names[kind_count] = {"same key", "new key", "cipher named again",
                                                   "new context and key"};

static void require(int condition, const char* what) {
    if (condition) return;
    fprintf(stderr, "openssl_keys: %s\n", what);
    exit(1);
}

struct side {
    OSSL_LIB_CTX* library;
    EVP_CIPHER* cipher;
    EVP_CIPHER_CTX* context;
    uint8_t key[64], iv[16], tag[16];
    uint8_t out[most_bytes + 32];
};

static uint8_t text[most_bytes];
static size_t text_bytes;

static int is_aead(const struct side* side) {
    return (EVP_CIPHER_get_flags(side->cipher) & EVP_CIPH_FLAG_AEAD_CIPHER) != 0;
}

/* Increments the number in the first bytes, so that keys and IVs never repeat. */
static void count_up(uint8_t* bytes) {
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    ++number;
    memcpy(bytes, &number, sizeof number);
}

static int without_padding(const EVP_CIPHER* cipher, EVP_CIPHER_CTX* context) {
    return EVP_CIPHER_get_block_size(cipher) == 1 || EVP_CIPHER_CTX_set_padding(context, 0) == 1;
}

static EVP_CIPHER_CTX* make_context(const struct side* side) {
    EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
    require(context != NULL && EVP_EncryptInit_ex2(context, side->cipher, NULL, NULL, NULL) == 1,
            "no context");
    require(without_padding(side->cipher, context), "no text without padding");
    return context;
}

/* `named` is the cipher, or null to keep it. Naming it makes libcrypto free and recreate the
 * context's state. */
static int seal(struct side* side, EVP_CIPHER_CTX* context, const EVP_CIPHER* named) {
    const int ccm = EVP_CIPHER_get_mode(side->cipher) == EVP_CIPH_CCM_MODE;
    int made = 0;
    if (EVP_EncryptInit_ex2(context, named, side->key, side->iv, NULL) != 1) return 0;
    if (named != NULL && !without_padding(named, context)) return 0;
    if (ccm && EVP_EncryptUpdate(context, NULL, &made, NULL, (int)text_bytes) != 1) return 0;
    if (EVP_EncryptUpdate(context, side->out, &made, text, (int)text_bytes) != 1) return 0;
    if (EVP_EncryptFinal_ex(context, side->out + made, &made) != 1) return 0;
    return !is_aead(side) ||
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, ccm ? 12 : 16, side->tag) == 1;
}

static void message(struct side* side, enum kind kind) {
    EVP_CIPHER_CTX* const context = kind == new_context ? make_context(side) : side->context;
    if (kind == new_key || kind == new_context) count_up(side->key);
    count_up(side->iv);
    require(seal(side, context, kind == named_again ? side->cipher : NULL), "a message failed");
    if (kind == new_context) EVP_CIPHER_CTX_free(context);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double nanoseconds(struct side* side, enum kind kind, double seconds) {
    const int in_a_row = 100;
    long count = 0;
    const double begin = now();
    double end = begin;
    for (; end - begin < seconds; end = now(), count += in_a_row)
        for (int i = 0; i < in_a_row; ++i) message(side, kind);
    return 1e9 * (end - begin) / (double)count;
}

static void start(struct side* side, const char* cipher, const char* properties) {
    side->cipher = EVP_CIPHER_fetch(side->library, cipher, properties);
    require(side->cipher != NULL, "no such cipher");
    for (size_t i = 0; i < sizeof side->key; ++i) side->key[i] = (uint8_t)(7 * i + 1);
    memset(side->iv, 3, sizeof side->iv);
    memset(side->tag, 0, sizeof side->tag);
    side->context = make_context(side);
}

static void stop(struct side* side) {
    EVP_CIPHER_CTX_free(side->context);
    EVP_CIPHER_free(side->cipher);
}

static void print(const char* name, const double* all) {
    printf(", \"%s\": [", name);
    for (int i = 0; i < repetitions; ++i) printf("%s%.1f", i == 0 ? "" : ", ", all[i]);
    printf("]");
}

static void measure(struct side* ours, struct side* theirs, const char* cipher, double seconds) {
    start(ours, cipher, "provider=warpseal");
    start(theirs, cipher, "provider=default");
    for (int kind = 0; kind < kind_count; ++kind) {
        double rates[2][repetitions];
        for (int i = 0; i < 1000; ++i) {
            message(ours, kind);
            message(theirs, kind);
            require(memcmp(ours->out, theirs->out, text_bytes) == 0 &&
                        memcmp(ours->tag, theirs->tag, 16) == 0,
                    "other output than OpenSSL's");
        }
        for (int i = 0; i < repetitions; ++i) {
            rates[0][i] = nanoseconds(ours, kind, seconds / repetitions);
            rates[1][i] = nanoseconds(theirs, kind, seconds / repetitions);
        }
        memcpy(ours->key, theirs->key, sizeof ours->key);
        memcpy(ours->iv, theirs->iv, sizeof ours->iv);
        printf("{\"case\": \"%s\", \"bytes\": %zu, \"key\": \"%s\"", cipher, text_bytes,
               kind_names[kind]);
        print("repetitions", rates[0]);
        print("openssl_repetitions", rates[1]);
        printf("}\n");
        fflush(stdout);
    }
    stop(ours);
    stop(theirs);
}

int main(int argc, char** argv) {
    static struct side ours, theirs;
    require(argc > 4, "PROGRAM MODULE_FOLDER SECONDS BYTES CIPHER...");
    ours.library = OSSL_LIB_CTX_new();
    theirs.library = OSSL_LIB_CTX_new();
    text_bytes = (size_t)strtoul(argv[3], NULL, 10);
    require(text_bytes > 0 && text_bytes <= most_bytes && text_bytes % 16 == 0,
            "BYTES: whole blocks of 16, up to 64 KiB");
    require(OSSL_PROVIDER_set_default_search_path(ours.library, argv[1]) == 1 &&
                OSSL_PROVIDER_load(ours.library, "warpseal") != NULL,
            "the module cannot be loaded");
    require(OSSL_PROVIDER_load(theirs.library, "default") != NULL,
            "the default provider cannot be loaded");
    for (int i = 4; i < argc; ++i) measure(&ours, &theirs, argv[i], strtod(argv[2], NULL));
    return 0;
}
