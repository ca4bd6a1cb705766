// The table of all functions, and the parent's objects.
#include "calls.h"

#include <cstdio>
#include <cstring>

namespace forks {
namespace {

const Calls calls[] = {
    {{"warpseal_status_text", "warpseal_version", "warpseal_mode_name", "warpseal_cipher_at",
      "warpseal_target_at", "warpseal_device_at", "warpseal_kem_at", "warpseal_random",
      "warpseal_wipe"},
     catalogue},
    {{"warpseal_engine_create", "warpseal_engine_destroy", "warpseal_engine_pick",
      "warpseal_key_create", "warpseal_key_create_xts", "warpseal_key_destroy"},
     engines_and_keys},
    {{"warpseal_encrypt", "warpseal_decrypt", "warpseal_encrypt_padded", "warpseal_decrypt_padded",
      "warpseal_xts_encrypt", "warpseal_xts_decrypt", "warpseal_mac", "warpseal_mac_verify",
      "warpseal_seal", "warpseal_seal_unsafe_iv", "warpseal_open"},
     messages},
    {{"warpseal_encrypt_batch", "warpseal_decrypt_batch", "warpseal_seal_batch_unsafe_iv",
      "warpseal_seal_batch", "warpseal_open_batch", "warpseal_mac_batch",
      "warpseal_mac_verify_batch"},
     batches},
    {{"warpseal_encrypt_device",
      "warpseal_decrypt_device",
      "warpseal_xts_encrypt_device",
      "warpseal_xts_decrypt_device",
      "warpseal_encrypt_batch_device",
      "warpseal_decrypt_batch_device",
      "warpseal_seal_batch_device_unsafe_iv",
      "warpseal_open_batch_device",
      "warpseal_mac_batch_device",
      "warpseal_mac_verify_batch_device",
      "warpseal_seal_batch_device",
      "warpseal_batch_device_workspace",
      "warpseal_device_alloc",
      "warpseal_device_free",
      "warpseal_device_upload",
      "warpseal_device_download",
      "warpseal_device_synchronize",
      "warpseal_kem_keypair_device",
      "warpseal_kem_encapsulate_device",
      "warpseal_kem_decapsulate_device"},
     device_memory},
    {{"warpseal_host_alloc", "warpseal_host_free"}, host_memory},
    {{"warpseal_file_seal", "warpseal_file_open", "warpseal_file_rescue", "warpseal_file_info_read",
      "warpseal_file_slots_change"},
     files},
    {{"warpseal_kem_keypair", "warpseal_kem_encapsulate", "warpseal_kem_decapsulate"},
     encapsulation},
    {{"warpseal_kem_public_key_create", "warpseal_kem_secret_key_create",
      "warpseal_kem_key_destroy", "warpseal_kem_key_encapsulate", "warpseal_kem_key_decapsulate"},
     prepared_keys},
    {{"warpseal_kem_pool_create", "warpseal_kem_pool_destroy", "warpseal_kem_pool_fill",
      "warpseal_kem_pool_acquire", "warpseal_kem_pool_decapsulate", "warpseal_kem_pool_release"},
     pools},
    {{"warpseal_kem_batcher_create", "warpseal_kem_batcher_destroy", "warpseal_kem_batcher_run",
      "warpseal_kem_batcher_submit", "warpseal_kem_batcher_counts_read",
      "warpseal_kem_batcher_metrics"},
     batchers},
    {{"warpseal_drbg_create", "warpseal_drbg_destroy", "warpseal_drbg_reseed", "warpseal_drbg_fill",
      "warpseal_drbg_fill_device"},
     generators},
    {{"warpseal_reader_open", "warpseal_reader_open_callback", "warpseal_reader_size",
      "warpseal_reader_read_at", "warpseal_reader_close", "warpseal_reader_read_at_device",
      "warpseal_file_open_device", "warpseal_file_seal_device"},
     readers},
    {{"warpseal_cobblestone_create_seal", "warpseal_cobblestone_create_open",
      "warpseal_cobblestone_update", "warpseal_cobblestone_update_bytes",
      "warpseal_cobblestone_finish", "warpseal_cobblestone_finish_bytes",
      "warpseal_cobblestone_destroy", "warpseal_last_error_message"},
     messages_in_updates},
};

}  // namespace

std::span<const Calls> every_call() { return calls; }

bool wrong(const char* file, int line, const char* what) {
    std::fprintf(stderr, "%s:%d: wrong: %s\n", file, line, what);
    return false;
}

Owned<warpseal_engine> engine_with(uint32_t threads) {
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.threads = threads;
    options.device = "cpu";
    warpseal_engine* made = nullptr;
    (void)warpseal_engine_create(&options, &made);
    return Owned<warpseal_engine>(made);
}

bool cipher_called(const char* name, warpseal_cipher_info& cipher) {
    for (size_t i = 0; warpseal_cipher_at(i, &cipher) == WARPSEAL_OK; ++i)
        if (std::strcmp(cipher.name, name) == 0) return true;
    return false;
}

// Uses distinct bytes, so that the key is not weak.
Owned<warpseal_key> key_of(warpseal_engine* engine, const warpseal_cipher_info& cipher) {
    Bytes bytes(cipher.key_bytes);
    warpseal_key* made = nullptr;
    if (warpseal_random(bytes.data(), bytes.size()) == WARPSEAL_OK)
        (void)warpseal_key_create(engine, cipher.name, bytes.data(), bytes.size(), &made);
    return Owned<warpseal_key>(made);
}

bool Parent::make() {
    warpseal_kem_pool* made_pool = nullptr;
    warpseal_kem_batcher* made_batcher = nullptr;
    engine = engine_with(2);
    RIGHT(engine != nullptr && cipher_called("aes-256", key.cipher));
    key.key = key_of(engine.get(), key.cipher);
    RIGHT(key.key != nullptr);
    RIGHT(make_prepared(engine.get(), public_key, secret_key));
    RIGHT(warpseal_kem_pool_create(engine.get(), "ntruhps2048509", 64, &made_pool) == WARPSEAL_OK);
    pool.reset(made_pool);
    RIGHT(warpseal_kem_batcher_create(engine.get(), nullptr, &made_batcher) == WARPSEAL_OK);
    batcher.reset(made_batcher);
    warpseal_drbg* made_drbg = nullptr;
    RIGHT(warpseal_drbg_create(engine.get(), nullptr, &made_drbg) == WARPSEAL_OK);
    drbg.reset(made_drbg);
    RIGHT(reading.make(engine.get()));
    warpseal_kem_info info{};
    RIGHT(warpseal_kem_at(0, &info) == WARPSEAL_OK);
    Bytes publics(4096);
    RIGHT(warpseal_kem_pool_acquire(pool.get(), 1, publics.data(), publics.size(), &handle) ==
          WARPSEAL_OK);
    RIGHT(warpseal_host_alloc(engine.get(), host_bytes, &host) == WARPSEAL_OK);
    return true;
}

Parent::~Parent() {
    if (engine != nullptr) warpseal_host_free(engine.get(), host);
    public_key.reset();
    secret_key.reset();
    pool.reset();
    batcher.reset();
    drbg.reset();
    reading.reader.reset();
    reading.message.reset();
    key.key.reset();
}

}  // namespace forks
