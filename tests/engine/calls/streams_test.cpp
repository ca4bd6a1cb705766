// The public calls on device memory use the stream passed to them.
#include <gtest/gtest.h>

#include "c_api/handles.h"
#include "engine/pattern.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Text;

struct World {
    warpseal_engine engine;
    warpseal_key *key = nullptr, *xts = nullptr;
    uint8_t* memory = nullptr;  // the fake backend's device memory is host memory
    static constexpr size_t bytes = 1024, text_bytes = 64;

    World() {
        EngineOptions options;
        options.device = "cuda";
        options.cuda = tests::fake_backend();
        void* made = nullptr;
        const Text secret = tests::pattern(32, 1);
        EXPECT_EQ(Engine::create(options, engine.engine), WARPSEAL_OK);
        EXPECT_EQ(warpseal_key_create(&engine, "aes-128", secret.data(), 16, &key), WARPSEAL_OK);
        EXPECT_EQ(warpseal_key_create_xts(&engine, "aes-128", secret.data(), 32, &xts),
                  WARPSEAL_OK);
        EXPECT_EQ(warpseal_device_alloc(&engine, bytes, &made), WARPSEAL_OK);
        memory = static_cast<uint8_t*>(made);
        std::memset(memory, 0, bytes);
    }
    ~World() {
        warpseal_device_free(&engine, memory);
        warpseal_key_destroy(key);
        warpseal_key_destroy(xts);
    }

    warpseal_batch batch(uint32_t iv_bytes, uint32_t tag_bytes) const {
        warpseal_batch one = {};
        one.struct_bytes = sizeof one;
        one.message_count = 1;
        one.message_bytes = text_bytes;
        one.in = memory;
        one.out = tag_bytes != 0 && iv_bytes == 0 ? nullptr : memory;
        one.ivs = iv_bytes == 0 ? nullptr : memory + 128;
        one.iv_bytes = iv_bytes;
        one.tags = tag_bytes == 0 ? nullptr : memory + 256;
        one.tag_bytes = tag_bytes;
        one.statuses = tag_bytes == 0 ? nullptr : reinterpret_cast<int32_t*>(memory + 512);
        return one;
    }
};

TEST(Streams, EachPublicCallUsesItsStream) {
    const World it;
    const uint8_t iv[16] = {};
    const warpseal_batch plain = it.batch(16, 0), sealed = it.batch(12, 16),
                         summed = it.batch(0, 16);
    const auto last = [] { return tests::script().last_stream; };
    uintptr_t number = 1;
    const auto expect = [&](auto call, const char* name) {
        void* const stream = reinterpret_cast<void*>(number++);
        EXPECT_EQ(call(stream), WARPSEAL_OK) << name;
        EXPECT_EQ(last(), stream) << name;
    };
    uint8_t* const m = it.memory;
    constexpr size_t n = World::text_bytes;
    expect(
        [&](void* s) { return warpseal_encrypt_device(it.key, WARPSEAL_CTR, iv, 16, m, m, n, s); },
        "encrypt");
    expect(
        [&](void* s) { return warpseal_decrypt_device(it.key, WARPSEAL_CBC, iv, 16, m, m, n, s); },
        "decrypt");
    expect([&](void* s) { return warpseal_xts_encrypt_device(it.xts, iv, n, m, m, n, s); },
           "xts encrypt");
    expect([&](void* s) { return warpseal_xts_decrypt_device(it.xts, iv, n, m, m, n, s); },
           "xts decrypt");
    expect([&](void* s) { return warpseal_encrypt_batch_device(it.key, WARPSEAL_CBC, &plain, s); },
           "encrypt batch");
    expect([&](void* s) { return warpseal_decrypt_batch_device(it.key, WARPSEAL_CBC, &plain, s); },
           "decrypt batch");
    expect(
        [&](void* s) {
            return warpseal_seal_batch_device_unsafe_iv(it.key, WARPSEAL_GCM, &sealed, s);
        },
        "seal batch");
    expect([&](void* s) { return warpseal_open_batch_device(it.key, WARPSEAL_GCM, &sealed, s); },
           "open batch");
    expect([&](void* s) { return warpseal_mac_batch_device(it.key, WARPSEAL_CMAC, &summed, s); },
           "mac batch");
    expect(
        [&](void* s) {
            return warpseal_mac_verify_batch_device(it.key, WARPSEAL_CMAC, &summed, s);
        },
        "mac verify batch");
    expect(
        [&](void* s) {
            return warpseal_device_synchronize(const_cast<warpseal_engine*>(&it.engine), s);
        },
        "synchronize");
}

}  // namespace
