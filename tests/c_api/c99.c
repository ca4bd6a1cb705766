/* Compiles the headers as C99 without extensions and links the shared library as installed. Checks
   round trips and a refused forgery. */
#include "warpseal/batcher.h"
#include "warpseal/cobblestone.h"
#include "warpseal/device_file.h"
#include "warpseal/drbg.h"
#include "warpseal/error.h"
#include "warpseal/kem.h"
#include "warpseal/reader.h"
#include "warpseal/warpseal.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "FAILED: %s\n", what);
    ++failures;
}

static void notice(void* user, const char* text) {
    (void)text;
    ++*(int*)user;
}

static void finished(void* user, warpseal_status status) {
    if (status == WARPSEAL_OK) ++*(int*)user;
}

/* Exchanges a secret through a batcher, synchronously and asynchronously, and checks the refused
   calls. */
static void batcher(warpseal_engine* engine) {
    static unsigned char public_key[699], secret_key[935], ciphertext[699], sent[32], received[32];
    static char text[16384];
    warpseal_kem_batcher_options options = {0};
    warpseal_kem_batcher_counts counts = {0};
    warpseal_kem_request request = {0};
    warpseal_kem_batcher* some = NULL;
    size_t bytes;
    int done = 0;

    expect(warpseal_kem_batcher_create(engine, &options, &some) == WARPSEAL_INVALID_ARGUMENT &&
               some == NULL,
           "options without a size");
    options.struct_bytes = (uint32_t)sizeof options;
    options.max_waiting = 0xffffffffu;
    expect(warpseal_kem_batcher_create(engine, &options, &some) == WARPSEAL_INVALID_ARGUMENT &&
               some == NULL,
           "a bound without bounds");
    expect(warpseal_kem_batcher_create(NULL, NULL, &some) == WARPSEAL_INVALID_ARGUMENT,
           "no engine");
    options.max_waiting = 10;
    options.max_delay_us = 1000;
    expect(warpseal_kem_batcher_create(engine, &options, &some) == WARPSEAL_OK, "create a batcher");
    request.struct_bytes = (uint32_t)sizeof request;
    request.operation = WARPSEAL_KEM_KEYPAIR;
    request.set = "ntruhps2048509";
    request.public_key = public_key;
    request.secret_key = secret_key;
    request.ciphertext = ciphertext;
    request.shared_secret = sent;
    request.done = finished;
    request.user = &done;
    expect(warpseal_kem_batcher_run(some, &request) == WARPSEAL_OK, "make a key pair");
    request.operation = WARPSEAL_KEM_ENCAPSULATE;
    expect(warpseal_kem_batcher_run(some, &request) == WARPSEAL_OK, "encapsulate");
    expect(done == 0, "run does not call done");
    request.operation = WARPSEAL_KEM_DECAPSULATE;
    request.shared_secret = received;
    expect(warpseal_kem_batcher_submit(some, &request) == WARPSEAL_OK, "decapsulate");
    request.set = NULL;
    expect(warpseal_kem_batcher_run(some, &request) == WARPSEAL_INVALID_ARGUMENT, "no set");
    expect(warpseal_kem_batcher_submit(some, &request) == WARPSEAL_INVALID_ARGUMENT,
           "no set to submit for");
    request.set = "ntruhps2048509";
    expect(warpseal_kem_batcher_run(NULL, &request) == WARPSEAL_INVALID_ARGUMENT,
           "no batcher to run");
    expect(warpseal_kem_batcher_submit(NULL, &request) == WARPSEAL_INVALID_ARGUMENT,
           "no batcher to submit to");
    expect(warpseal_kem_batcher_run(some, NULL) == WARPSEAL_INVALID_ARGUMENT, "no request to run");
    expect(warpseal_kem_batcher_submit(some, NULL) == WARPSEAL_INVALID_ARGUMENT,
           "no request to submit");
    request.struct_bytes = (uint32_t)sizeof request - 1;
    expect(warpseal_kem_batcher_run(some, &request) == WARPSEAL_INVALID_ARGUMENT,
           "a request of a version before the first to run");
    expect(warpseal_kem_batcher_submit(some, &request) == WARPSEAL_INVALID_ARGUMENT,
           "a request of a version before the first");
    expect(warpseal_kem_batcher_counts_read(NULL, &counts) == WARPSEAL_INVALID_ARGUMENT,
           "no batcher that counts");
    expect(warpseal_kem_batcher_counts_read(some, NULL) == WARPSEAL_INVALID_ARGUMENT,
           "nowhere for the counts");
    expect(warpseal_kem_batcher_metrics(NULL, text, sizeof text) == 0, "no batcher with a text");
    expect(warpseal_kem_batcher_metrics(some, NULL, 8) == 0, "nowhere for the text");
    expect(warpseal_kem_batcher_counts_read(some, &counts) == WARPSEAL_INVALID_ARGUMENT,
           "counts without a size");
    counts.struct_bytes = (uint32_t)sizeof counts;
    expect(warpseal_kem_batcher_counts_read(some, &counts) == WARPSEAL_OK &&
               counts.inline_requests == 2,
           "counts");
    bytes = warpseal_kem_batcher_metrics(some, NULL, 0);
    expect(bytes > 1000 && bytes < sizeof text, "the text's size");
    expect(warpseal_kem_batcher_metrics(some, text, 8) >= bytes && strcmp(text, "# HELP ") == 0,
           "as much of the text as there is room for");
    warpseal_kem_batcher_destroy(some);
    expect(done == 1 && memcmp(sent, received, sizeof sent) == 0,
           "the secret has arrived before the end");
    warpseal_kem_batcher_destroy(NULL);
}

/* Reads a byte of a message that is sealed in one update. */
static int64_t read_message(void* message, uint64_t offset, void* out, size_t bytes) {
    memcpy(out, (unsigned char*)message + offset, bytes);
    return (int64_t)bytes;
}

static void reader(warpseal_engine* engine) {
    static const unsigned char key[16] = {3};
    unsigned char sealed[56 + 4 + 16], byte = 0;
    warpseal_secret secret = {WARPSEAL_SECRET_KEY, key, sizeof key};
    warpseal_file_options options = {0};
    warpseal_cobblestone* message = NULL;
    warpseal_reader* some = NULL;
    size_t head = 0, rest = 0, got = 0;

    expect(
        warpseal_cobblestone_create_seal(engine, key, sizeof key, NULL, 0, &message) == WARPSEAL_OK,
        "begin a message");
    expect(warpseal_cobblestone_update(message, "text", 4, sealed, sizeof sealed, &head) ==
                   WARPSEAL_OK &&
               head == 56,
           "salt and commitment come first");
    expect(warpseal_cobblestone_finish(message, sealed + head, sizeof sealed - head, &rest) ==
                   WARPSEAL_OK &&
               head + rest == sizeof sealed,
           "the last chunk");
    warpseal_cobblestone_destroy(message);
    options.struct_bytes = (uint32_t)sizeof options;
    options.format = WARPSEAL_FORMAT_COBBLESTONE;
    options.secrets = &secret;
    options.secret_count = 1;
    expect(warpseal_reader_open_callback(engine, read_message, sealed, sizeof sealed, &options,
                                         &some, NULL) == WARPSEAL_OK,
           "open a reader");
    expect(warpseal_reader_size(some) == 4, "its size");
    expect(warpseal_reader_read_at(some, 2, &byte, 1, &got, NULL) == WARPSEAL_OK && got == 1 &&
               byte == 'x',
           "read a byte");
    expect(warpseal_reader_read_at(some, 2, NULL, 1, &got, NULL) == WARPSEAL_INVALID_ARGUMENT &&
               strcmp(warpseal_last_error_message(), "out is null") == 0,
           "the message names the argument");
    warpseal_reader_close(some);
}

int main(void) {
    static const unsigned char secret[32] = {1, 2, 3};
    static const unsigned char pair[64] = {1, 2, 3};
    unsigned char text[1000], out[1008], iv[12], counter[16] = {0}, tag[16];
    size_t out_bytes = 0;
    warpseal_key* units = NULL;
    int notices = 0;
    warpseal_engine_options options = {0};
    warpseal_engine* engine = NULL;
    warpseal_key* key = NULL;

    options.struct_bytes = (uint32_t)sizeof options;
    options.device = "cpu";
    options.notice = notice;
    options.notice_user = &notices;
    memset(text, 'a', sizeof text);
    expect(warpseal_engine_create(&options, &engine) == WARPSEAL_OK, "create an engine");
    expect(warpseal_key_create(engine, "aes-256", secret, sizeof secret, &key) == WARPSEAL_OK,
           "create a key");
    if (failures != 0) return 1;

    expect(warpseal_seal(key, WARPSEAL_GCM, iv, "aad", 3, text, out, sizeof text, tag,
                         sizeof tag) == WARPSEAL_OK,
           "seal");
    expect(memcmp(text, out, sizeof text) != 0, "sealed text differs");
    expect(warpseal_open(key, WARPSEAL_GCM, iv, sizeof iv, "aad", 3, out, out, sizeof text, tag,
                         sizeof tag) == WARPSEAL_OK,
           "open in place");
    expect(memcmp(text, out, sizeof text) == 0, "opened text is the text");
    expect(warpseal_open(key, WARPSEAL_GCM, iv, sizeof iv, "aae", 3, text, out, sizeof text, tag,
                         sizeof tag) == WARPSEAL_NOT_AUTHENTIC,
           "forgery");
    expect(out[0] == 0 && out[sizeof text - 1] == 0, "a forgery's output is wiped");

    expect(warpseal_encrypt(key, WARPSEAL_CTR, counter, sizeof counter, text, out, sizeof text) ==
               WARPSEAL_OK,
           "encrypt");
    expect(warpseal_decrypt(key, WARPSEAL_CTR, counter, sizeof counter, out, out, sizeof text) ==
               WARPSEAL_OK,
           "decrypt in place");
    expect(memcmp(text, out, sizeof text) == 0, "decrypted text is the text");

    expect(warpseal_encrypt_padded(key, counter, sizeof counter, text, sizeof text, out, sizeof out,
                                   &out_bytes) == WARPSEAL_OK,
           "pad");
    expect(out_bytes == sizeof out, "a block's worth of padding at most");
    expect(warpseal_decrypt_padded(key, counter, sizeof counter, out, out_bytes, out, sizeof out,
                                   &out_bytes) == WARPSEAL_OK,
           "unpad");
    expect(out_bytes == sizeof text && memcmp(text, out, sizeof text) == 0,
           "unpadded text is the text");
    expect(warpseal_mac(key, WARPSEAL_CMAC, text, sizeof text, tag, sizeof tag) == WARPSEAL_OK,
           "mac");
    expect(
        warpseal_mac_verify(key, WARPSEAL_CMAC, text, sizeof text, tag, sizeof tag) == WARPSEAL_OK,
        "verify");
    expect(warpseal_mac_verify(key, WARPSEAL_CMAC, text, sizeof text - 1, tag, sizeof tag) ==
               WARPSEAL_NOT_AUTHENTIC,
           "another text");
    expect(warpseal_key_create_xts(engine, "aes-256", pair, sizeof pair, &units) == WARPSEAL_OK,
           "create a key of XTS");
    expect(warpseal_xts_encrypt(units, counter, 512, text, out, sizeof text) == WARPSEAL_OK,
           "encrypt data units");
    expect(warpseal_xts_decrypt(units, counter, 512, out, out, sizeof text) == WARPSEAL_OK,
           "decrypt data units in place");
    expect(memcmp(text, out, sizeof text) == 0, "decrypted units are the text");
    warpseal_key_destroy(units);
    batcher(engine);
    reader(engine);
    expect(notices == 0, "nothing to notice");

    warpseal_key_destroy(key);
    warpseal_engine_destroy(engine);
    return failures == 0 ? 0 : 1;
}
