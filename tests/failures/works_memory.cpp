// Catalogues, host memory, random bytes.
#include <algorithm>

#include "handles.h"
#include "warpseal/drbg.h"
#include "warpseal/kem.h"
#include "works.h"

namespace works {

// Not in handles.cpp, which the tests of the provider link without the library.
decltype(&warpseal_engine_create) create_engine = warpseal_engine_create;

uint8_t text[most_bytes];
size_t text_bytes = most_bytes;
const uint8_t secret[64] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 4, 4, 4, 4, 5, 5, 5, 5};

namespace {
uint8_t random_bytes[most_bytes];
}

void prepare() {
    for (size_t i = 0; i < most_bytes; ++i) text[i] = static_cast<uint8_t>(i * 7 + i / 251);
    prepare_messages();
    prepare_files();
    prepare_kem();
    if (drbg() != WARPSEAL_OK) complain("prepare", "a call fails");
}

warpseal_status catalogue() {
    warpseal_cipher_info cipher;
    warpseal_target_info target;
    warpseal_kem_info set;
    called("warpseal_status_text", [] { (void)warpseal_status_text(WARPSEAL_OK); });
    called("warpseal_version", [] { (void)warpseal_version(); });
    called("warpseal_mode_name", [] { (void)warpseal_mode_name(WARPSEAL_GCM); });
    return Steps()
        .then("warpseal_cipher_at", [&] { return warpseal_cipher_at(0, &cipher); })
        .then("warpseal_target_at", [&] { return warpseal_target_at(0, &target); })
        .then("warpseal_kem_at", [&] { return warpseal_kem_at(0, &set); })
        .then("warpseal_random", {{random_bytes, 100}},
              [] { return warpseal_random(random_bytes, 100); })
        .and_if_all_did([] {
            called("warpseal_wipe", [] { warpseal_wipe(random_bytes, sizeof random_bytes); });
        });
}

warpseal_status host_memory() {
    Engine engine(1);
    void *small = nullptr, *large = nullptr;
    const warpseal_status status =
        Steps({engine.status})
            .then("warpseal_host_alloc",
                  [&] { return warpseal_host_alloc(engine.get(), 100, &small); })
            .then("warpseal_host_alloc",
                  [&] { return warpseal_host_alloc(engine.get(), 5 << 20, &large); });
    if (engine.get() == nullptr) return status;
    if (status != WARPSEAL_OK && large != nullptr)
        complain("warpseal_host_alloc", "memory after a failure");
    called("warpseal_host_free", [&] { warpseal_host_free(engine.get(), small); });
    called("warpseal_host_free", [&] { warpseal_host_free(engine.get(), large); });
    return status;
}

warpseal_status drbg() {
    Engine engine(3);
    warpseal_drbg* generator = nullptr;
    std::fill(random_bytes, random_bytes + sizeof random_bytes, uint8_t{1});
    const warpseal_status status =
        Steps({engine.status})
            .then("warpseal_drbg_create",
                  [&] { return warpseal_drbg_create(engine.get(), nullptr, &generator); })
            .then("warpseal_drbg_fill", {{random_bytes, text_bytes}},
                  [&] { return warpseal_drbg_fill(generator, random_bytes, text_bytes); })
            .and_if_all_did([] {
                const auto zeros = std::count(random_bytes, random_bytes + text_bytes, 0);
                if (zeros > static_cast<long>(text_bytes) / 100)
                    complain("warpseal_drbg_fill", "zeros instead of random bytes");
            })
            .then("warpseal_drbg_reseed",
                  [&] { return warpseal_drbg_reseed(generator, secret, 48); })
            .then("warpseal_drbg_fill", {{random_bytes, 100}},
                  [&] { return warpseal_drbg_fill(generator, random_bytes, 100); });
    called("warpseal_drbg_destroy", [&] { warpseal_drbg_destroy(generator); });
    return status;
}

}  // namespace works
