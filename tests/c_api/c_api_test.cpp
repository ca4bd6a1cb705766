// The C interface: refused arguments, struct sizes, representations and policy.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "c_api/handles.h"
#include "c_api/internal.h"
#include "support/random_source.h"

namespace {

using Text = std::vector<uint8_t>;

warpseal_engine_options options(const char* device, uint32_t threads = 1) {
    warpseal_engine_options o = {};
    o.struct_bytes = sizeof o;
    o.device = device;
    o.threads = threads;
    return o;
}

class CApi : public testing::Test {
protected:
    void SetUp() override {
        const warpseal_engine_options cpu = options("cpu", 2);
        ASSERT_EQ(warpseal_engine_create(&cpu, &engine_), WARPSEAL_OK);
        ASSERT_EQ(warpseal_key_create(engine_, "aes-256", secret_, 32, &key_), WARPSEAL_OK);
    }
    void TearDown() override {
        warpseal_key_destroy(key_);
        warpseal_engine_destroy(engine_);
    }
    warpseal_status seal(size_t iv_bytes, size_t tag_bytes) {
        return warpseal_seal_unsafe_iv(key_, WARPSEAL_GCM, iv_, iv_bytes, nullptr, 0, text_, text_,
                                       64, tag_, tag_bytes);
    }
    warpseal_batch batch() {
        warpseal_batch b = {};
        b.struct_bytes = sizeof b;
        b.iv_bytes = 12, b.tag_bytes = 16, b.message_count = 2, b.message_bytes = 32;
        b.ivs = iv_, b.iv_stride = 12, b.in = text_, b.out = text_, b.in_stride = b.out_stride = 32,
        b.tags = tag_, b.tag_stride = 16, b.statuses = statuses_;
        return b;
    }

    const uint8_t secret_[32] = {1, 2, 3};
    warpseal_engine* engine_ = nullptr;
    warpseal_key* key_ = nullptr;
    uint8_t iv_[64] = {}, text_[256] = {}, tag_[32] = {};
    int32_t statuses_[4] = {};
};

// ---- lists and names

TEST_F(CApi, EveryStatusHasAMessage) {
    std::set<std::string> texts;
    for (int s = WARPSEAL_OK; s <= WARPSEAL_BAD_PADDING; ++s) {
        const std::string text = warpseal_status_text(static_cast<warpseal_status>(s));
        EXPECT_TRUE(text.size() > 5 && text.back() == '.') << text;
        EXPECT_TRUE(texts.insert(text).second) << text;
    }
    EXPECT_NE(warpseal_status_text(static_cast<warpseal_status>(99)), nullptr);
    EXPECT_EQ(texts.count(warpseal_status_text(static_cast<warpseal_status>(99))), 0u);
}

TEST_F(CApi, NamesAndLists) {
    int major = -1, minor = -1, patch = -1, end = 0;
    ASSERT_EQ(std::sscanf(warpseal_version(), "%d.%d.%d%n", &major, &minor, &patch, &end), 3)
        << warpseal_version();
    EXPECT_EQ(warpseal_version()[end], 0);
    const char* const modes[] = {"ecb", "ctr", "gcm", "cbc", "cfb", "ofb", "xts", "ccm", "cmac"};
    for (int m = 0; m < WARPSEAL_MODE_COUNT; ++m)
        EXPECT_STREQ(warpseal_mode_name(static_cast<warpseal_mode>(m)), modes[m]);
    EXPECT_EQ(warpseal_mode_name(WARPSEAL_MODE_COUNT), nullptr);
    EXPECT_EQ(warpseal_mode_name(static_cast<warpseal_mode>(-1)), nullptr);
    warpseal_cipher_info cipher;
    size_t count = 0;
    for (; warpseal_cipher_at(count, &cipher) == WARPSEAL_OK; ++count) {
        warpseal_key* key = nullptr;
        EXPECT_EQ(warpseal_key_create(engine_, cipher.name, Text(cipher.key_bytes).data(),
                                      cipher.key_bytes, &key),
                  WARPSEAL_OK)
            << cipher.name;
        warpseal_key_destroy(key);
        EXPECT_TRUE(cipher.block_bytes == 16 || (cipher.modes >> WARPSEAL_XTS & 1) == 0)
            << cipher.name;
        EXPECT_EQ(warpseal_key_create_xts(engine_, cipher.name, Text(2 * cipher.key_bytes).data(),
                                          2 * cipher.key_bytes, &key),
                  cipher.block_bytes == 16 ? WARPSEAL_WEAK_KEY : WARPSEAL_UNSUPPORTED)
            << cipher.name << ", equal halves";
        EXPECT_EQ(key, nullptr);
        EXPECT_NE(warpseal_internal_representation(cipher.name, "portable"), nullptr)
            << cipher.name;
    }
    EXPECT_EQ(warpseal_internal_representation("rot-13", "portable"), nullptr);
    EXPECT_EQ(warpseal_internal_representation("aes-256", "vaes1024"), nullptr);
    EXPECT_STREQ(warpseal_internal_representation("aes-256", "vaes512"), "instructions");
    EXPECT_STREQ(warpseal_internal_side_channels("aes-256", "vaes512"), "constant time");
    EXPECT_EQ(warpseal_internal_side_channels("rot-13", "portable"), nullptr);
    EXPECT_EQ(warpseal_internal_side_channels("aes-256", "vaes1024"), nullptr);
    const char* representation =
        warpseal_internal_representation("aes-256", "cuda");  // null: built without CUDA
    if (representation != nullptr && std::strcmp(representation, "table-based") == 0) {
        EXPECT_NE(std::strstr(warpseal_internal_side_channels("aes-256", "cuda"), "bank"), nullptr);
    }
    EXPECT_GE(count, 3u);
    EXPECT_EQ(warpseal_cipher_at(SIZE_MAX, &cipher), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_cipher_at(0, nullptr), WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(CApi, TargetsReportWhyTheyAreUnavailable) {
    for (const char* mask : {static_cast<const char*>(nullptr), "portable"}) {
        if (mask != nullptr) setenv("WARPSEAL_TARGETS", mask, 1);
        warpseal_target_info target;
        size_t count = 0;
        for (; warpseal_target_at(count, &target) == WARPSEAL_OK; ++count) {
            EXPECT_EQ(target.usable == 0, *target.reason != 0) << target.name;
            EXPECT_GT(std::strlen(target.side_channels), 5u);
            const warpseal_engine_options named = options(target.name);
            warpseal_engine* engine = nullptr;
            EXPECT_EQ(warpseal_engine_create(&named, &engine),
                      target.usable ? WARPSEAL_OK : WARPSEAL_NO_DEVICE)
                << target.name;
            warpseal_engine_destroy(engine);
        }
        EXPECT_EQ(count, 6u);
        unsetenv("WARPSEAL_TARGETS");
    }
    setenv("WARPSEAL_TARGETS", "nonsense", 1);
    warpseal_target_info target;
    EXPECT_EQ(warpseal_target_at(0, &target), WARPSEAL_INVALID_ARGUMENT);
    unsetenv("WARPSEAL_TARGETS");
}

// ---- nulls and sizes

TEST_F(CApi, StructsHaveTheirSize) {
    warpseal_engine* engine = nullptr;
    warpseal_engine_options o = options("cpu");
    for (const uint32_t bytes : {0u, 4u, static_cast<uint32_t>(sizeof o) - 1}) {
        o.struct_bytes = bytes;
        EXPECT_EQ(warpseal_engine_create(&o, &engine), WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(engine, nullptr);
    }
    o.struct_bytes = sizeof o + 64;  // a caller compiled with a newer header
    EXPECT_EQ(warpseal_engine_create(&o, &engine), WARPSEAL_OK);
    warpseal_engine_destroy(engine);
    EXPECT_EQ(warpseal_engine_create(nullptr, &engine), WARPSEAL_OK);
    warpseal_engine_destroy(engine);
    warpseal_batch b = batch();
    b.struct_bytes -= 1;
    EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_, WARPSEAL_GCM, &b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_open_batch_device(key_, WARPSEAL_GCM, &b, nullptr),
              WARPSEAL_INVALID_ARGUMENT);
    warpseal_file_options f = {};
    warpseal_file_result r = {};
    EXPECT_EQ(warpseal_file_seal(engine_, 0, 1, &f, &r), WARPSEAL_INVALID_ARGUMENT);
    f.struct_bytes = sizeof f;
    EXPECT_EQ(warpseal_file_open(engine_, 0, 1, &f, &r), WARPSEAL_INVALID_ARGUMENT);
    warpseal_file_info info = {};
    r.struct_bytes = sizeof r;
    EXPECT_EQ(warpseal_file_info_read(0, &info, &r), WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(CApi, Nulls) {
    const auto bad = WARPSEAL_INVALID_ARGUMENT;
    warpseal_key* key = nullptr;
    EXPECT_EQ(warpseal_engine_create(nullptr, nullptr), bad);
    EXPECT_EQ(warpseal_key_create(nullptr, "aes-256", secret_, 32, &key), bad);
    EXPECT_EQ(warpseal_key_create(engine_, nullptr, secret_, 32, &key), bad);
    EXPECT_EQ(warpseal_key_create(engine_, "aes-256", nullptr, 32, &key), bad);
    EXPECT_EQ(warpseal_key_create(engine_, "aes-256", secret_, 32, nullptr), bad);
    EXPECT_EQ(warpseal_key_create(engine_, "aes-256", secret_, 31, &key), bad);
    EXPECT_EQ(warpseal_key_create(engine_, "rot-13", secret_, 8, &key), WARPSEAL_UNSUPPORTED);
    for (const auto call : {warpseal_encrypt, warpseal_decrypt}) {
        EXPECT_EQ(call(nullptr, WARPSEAL_CTR, iv_, 16, text_, text_, 16), bad);
        EXPECT_EQ(call(key_, WARPSEAL_CTR, nullptr, 16, text_, text_, 16), bad);
        EXPECT_EQ(call(key_, WARPSEAL_CTR, iv_, 16, nullptr, text_, 16), bad);
        EXPECT_EQ(call(key_, WARPSEAL_CTR, iv_, 16, text_, nullptr, 16), bad);
        EXPECT_EQ(call(key_, static_cast<warpseal_mode>(7), iv_, 16, text_, text_, 16), bad);
        EXPECT_EQ(call(key_, static_cast<warpseal_mode>(-1), iv_, 16, text_, text_, 16), bad);
        EXPECT_EQ(call(key_, WARPSEAL_CTR, iv_, 16, nullptr, nullptr, 0), WARPSEAL_OK);
    }
    EXPECT_EQ(warpseal_seal(nullptr, WARPSEAL_GCM, iv_, nullptr, 0, text_, text_, 16, tag_, 16),
              bad);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, nullptr, nullptr, 0, text_, text_, 16, tag_, 16),
              bad);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 1, text_, text_, 16, tag_, 16), bad);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, nullptr, text_, 16, tag_, 16),
              bad);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, nullptr, 16, tag_, 16),
              bad);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, text_, 16, nullptr, 16),
              bad);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_CTR, iv_, nullptr, 0, text_, text_, 16, tag_, 16), bad);
    EXPECT_EQ(
        warpseal_open(key_, WARPSEAL_GCM, nullptr, 12, nullptr, 0, text_, text_, 16, tag_, 16),
        bad);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, nullptr, nullptr, 0, tag_, 16),
              WARPSEAL_OK);
    EXPECT_EQ(warpseal_open(key_, WARPSEAL_GCM, iv_, 12, nullptr, 0, nullptr, nullptr, 0, tag_, 16),
              WARPSEAL_OK);
    EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_, WARPSEAL_GCM, nullptr), bad);
    size_t written = 77;
    for (const auto call : {warpseal_encrypt_padded, warpseal_decrypt_padded}) {
        EXPECT_EQ(call(key_, iv_, 16, text_, 16, text_, 32, nullptr), bad);
        EXPECT_EQ(call(nullptr, iv_, 16, text_, 16, text_, 32, &written), bad);
        EXPECT_EQ(written, 0u);
        EXPECT_EQ(call(key_, nullptr, 16, text_, 16, text_, 32, &written), bad);
        EXPECT_EQ(call(key_, iv_, 16, nullptr, 16, text_, 32, &written), bad);
        EXPECT_EQ(call(key_, iv_, 16, text_, 16, nullptr, 32, &written), bad);
    }
    for (const auto call : {warpseal_xts_encrypt, warpseal_xts_decrypt}) {
        EXPECT_EQ(call(nullptr, iv_, 16, text_, text_, 16), bad);
        EXPECT_EQ(call(key_, nullptr, 16, text_, text_, 16), bad);
    }
    EXPECT_EQ(warpseal_mac(nullptr, WARPSEAL_CMAC, text_, 16, tag_, 16), bad);
    EXPECT_EQ(warpseal_mac(key_, WARPSEAL_CMAC, nullptr, 16, tag_, 16), bad);
    EXPECT_EQ(warpseal_mac(key_, WARPSEAL_CMAC, text_, 16, nullptr, 16), bad);
    EXPECT_EQ(warpseal_mac(key_, WARPSEAL_CMAC, nullptr, 0, tag_, 16), WARPSEAL_OK);
    EXPECT_EQ(warpseal_mac_verify(key_, WARPSEAL_CMAC, nullptr, 0, tag_, 16), WARPSEAL_OK);
    EXPECT_EQ(warpseal_mac_batch(key_, WARPSEAL_CMAC, nullptr), bad);
    EXPECT_EQ(warpseal_key_create_xts(nullptr, "aes-256", secret_, 32, &key), bad);
    EXPECT_EQ(warpseal_key_create_xts(engine_, "aes-256", nullptr, 64, &key), bad);
    EXPECT_EQ(warpseal_internal_key_create(engine_, nullptr, secret_, 32, &key), bad);
    EXPECT_EQ(warpseal_random(nullptr, 1), bad);
    EXPECT_EQ(warpseal_random(nullptr, 0), WARPSEAL_OK);
    EXPECT_EQ(warpseal_host_alloc(nullptr, 1, nullptr), bad);
    EXPECT_EQ(warpseal_device_at(0, nullptr), bad);
    EXPECT_STREQ(warpseal_engine_pick(nullptr, "aes-256", WARPSEAL_CTR, 1), "");
    EXPECT_STREQ(warpseal_engine_pick(engine_, nullptr, WARPSEAL_CTR, 1), "");
    warpseal_engine_destroy(nullptr);
    warpseal_key_destroy(nullptr);
    warpseal_host_free(engine_, nullptr);
    warpseal_device_free(engine_, nullptr);
    warpseal_wipe(nullptr, 0);
}

TEST_F(CApi, WithoutAGpuDeviceCallsReportIt) {
    void* memory = nullptr;
    float milliseconds = 0;
    const warpseal_batch b = batch();
    EXPECT_EQ(warpseal_device_alloc(engine_, 16, &memory), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(warpseal_device_upload(engine_, text_, text_ + 16, 16), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_device_download(engine_, text_, text_ + 16, 16), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_device_synchronize(engine_, nullptr), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_encrypt_device(key_, WARPSEAL_CTR, iv_, 16, text_, text_, 16, nullptr),
              WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_decrypt_device(key_, WARPSEAL_ECB, nullptr, 0, text_, text_, 16, nullptr),
              WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_encrypt_device(key_, WARPSEAL_CBC, iv_, 16, text_, text_, 16, nullptr),
              WARPSEAL_UNSUPPORTED)
        << "serial: a batch";
    EXPECT_EQ(warpseal_decrypt_device(key_, WARPSEAL_CBC, iv_, 16, text_, text_, 16, nullptr),
              WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_xts_encrypt_device(key_, iv_, 16, text_, text_, 16, nullptr),
              WARPSEAL_INVALID_ARGUMENT)
        << "not a key of XTS";
    warpseal_batch mac = b;
    mac.iv_bytes = 0, mac.out = nullptr;
    EXPECT_EQ(warpseal_mac_batch_device(key_, WARPSEAL_CMAC, &mac, nullptr), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_mac_verify_batch_device(key_, WARPSEAL_CMAC, &mac, nullptr),
              WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_seal_batch_device_unsafe_iv(key_, WARPSEAL_GCM, &b, nullptr),
              WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_open_batch_device(key_, WARPSEAL_GCM, &b, nullptr), WARPSEAL_NO_DEVICE);
    EXPECT_EQ(warpseal_internal_time_device(
                  engine_, [](void*, void*) { return WARPSEAL_OK; }, nullptr, &milliseconds),
              WARPSEAL_NO_DEVICE);
}

// ---- policy

TEST_F(CApi, TagsOf12To16BytesAndTheInternalInterfaceForAll) {
    for (size_t tag_bytes = 0; tag_bytes <= 20; ++tag_bytes) {
        const bool allowed = tag_bytes >= 12 && tag_bytes <= 16,
                   computable = tag_bytes >= 1 && tag_bytes <= 16;
        EXPECT_EQ(seal(12, tag_bytes), allowed ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT)
            << tag_bytes;
        EXPECT_EQ(
            warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, text_, 64, tag_, tag_bytes),
            allowed ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        EXPECT_EQ(warpseal_internal_seal(key_, WARPSEAL_GCM, iv_, 12, nullptr, 0, text_, text_, 64,
                                         tag_, tag_bytes),
                  computable ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
        if (!computable) continue;
        if (!allowed) {
            EXPECT_EQ(warpseal_open(key_, WARPSEAL_GCM, iv_, 12, nullptr, 0, text_, text_, 64, tag_,
                                    tag_bytes),
                      WARPSEAL_INVALID_ARGUMENT);
        }
        EXPECT_EQ(warpseal_internal_open(key_, WARPSEAL_GCM, iv_, 12, nullptr, 0, text_, text_, 64,
                                         tag_, tag_bytes),
                  WARPSEAL_OK);
        warpseal_batch b = batch();
        b.tag_bytes = static_cast<uint32_t>(tag_bytes);
        EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_, WARPSEAL_GCM, &b),
                  allowed ? WARPSEAL_OK : WARPSEAL_INVALID_ARGUMENT);
    }
}

TEST_F(CApi, ModesWithATagSealOthersEncrypt) {
    warpseal_batch b = batch();
    EXPECT_EQ(warpseal_encrypt_batch(key_, WARPSEAL_GCM, &b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_decrypt_batch(key_, WARPSEAL_GCM, &b), WARPSEAL_INVALID_ARGUMENT);
    b.iv_bytes = 16, b.iv_stride = 16, b.tag_bytes = 0, b.tags = nullptr;
    EXPECT_EQ(warpseal_seal_batch_unsafe_iv(key_, WARPSEAL_CTR, &b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_open_batch(key_, WARPSEAL_CTR, &b), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(warpseal_encrypt_batch(key_, WARPSEAL_CTR, &b), WARPSEAL_OK);
    EXPECT_EQ(warpseal_encrypt(key_, WARPSEAL_GCM, iv_, 12, text_, text_, 16),
              WARPSEAL_INVALID_ARGUMENT);
}

TEST_F(CApi, DrawnIvsDifferAndHaveALimit) {
    std::set<std::string> seen;
    for (int i = 0; i < 2000; ++i) {
        ASSERT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, text_, 16, tag_, 16),
                  WARPSEAL_OK);
        ASSERT_TRUE(seen.insert(std::string(reinterpret_cast<char*>(iv_), 12)).second);
    }
    EXPECT_EQ(key_->key->random_ivs.load(), 2000u);
    key_->key->random_ivs = (uint64_t{1} << 32) - 1;
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, text_, 16, tag_, 16),
              WARPSEAL_OK);
    for (int i = 0; i < 3; ++i) {
        std::memset(text_, 7, 16);
        EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, text_, 16, tag_, 16),
                  WARPSEAL_LIMIT_EXCEEDED);
        EXPECT_EQ(text_[0], 7) << "nothing was sealed";
    }
    EXPECT_EQ(seal(12, 16), WARPSEAL_OK) << "IVs supplied by the caller are not checked";
}

TEST_F(CApi, WithoutRandomBytesNothingIsSealed) {
    uint8_t out[64];
    std::memset(out, 0xa5, sizeof out);
    tests::source = tests::Source::failing;
    const warpseal_status status =
        warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, out, sizeof out, tag_, 16);
    tests::source = tests::Source::kernel;
    EXPECT_EQ(status, WARPSEAL_NO_RANDOM);
    EXPECT_EQ(Text(out, out + sizeof out), Text(sizeof out, 0xa5));
}

TEST_F(CApi, ADrawnIvIsZeroizedIfTheCallFails) {
    std::memset(iv_, 0xa5, sizeof iv_);
    EXPECT_EQ(warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_, text_ + 1, 32, tag_, 16),
              WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(Text(iv_, iv_ + 12), Text(12));
}

TEST_F(CApi, OutputIsTheInputOrDisjoint) {
    for (int shift = -32; shift <= 32; ++shift) {
        const bool overlaps = shift != 0 && shift > -32 && shift < 32;
        uint8_t* out = text_ + 100 + shift;
        const auto expected = overlaps ? WARPSEAL_INVALID_ARGUMENT : WARPSEAL_OK;
        EXPECT_EQ(warpseal_encrypt(key_, WARPSEAL_CTR, iv_, 16, text_ + 100, out, 32), expected)
            << shift;
        EXPECT_EQ(warpseal_decrypt(key_, WARPSEAL_ECB, nullptr, 0, text_ + 100, out, 32), expected)
            << shift;
        EXPECT_EQ(
            warpseal_seal(key_, WARPSEAL_GCM, iv_, nullptr, 0, text_ + 100, out, 32, tag_, 16),
            expected)
            << shift;
    }
}

// ---- memory

TEST_F(CApi, RandomAndWipe) {
    Text a(1 << 20), b(1 << 20);
    ASSERT_EQ(warpseal_random(a.data(), a.size()),
              WARPSEAL_OK);  // more than one getrandom(2) gives at a time
    ASSERT_EQ(warpseal_random(b.data(), b.size()), WARPSEAL_OK);
    EXPECT_NE(a, b);
    EXPECT_NE(Text(a.end() - 32, a.end()), Text(32));
    warpseal_wipe(a.data(), a.size());
    EXPECT_EQ(a, Text(a.size()));
}

TEST_F(CApi, HostMemory) {
    for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{5} << 20}) {
        void* memory = nullptr;
        ASSERT_EQ(warpseal_host_alloc(engine_, bytes, &memory), WARPSEAL_OK);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
        std::memset(memory, 0xff, bytes);
        warpseal_host_free(engine_, memory);
    }
    void* memory = text_;
    EXPECT_EQ(warpseal_host_alloc(engine_, SIZE_MAX, &memory), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(warpseal_host_alloc(engine_, SIZE_MAX / 4, &memory), WARPSEAL_OUT_OF_MEMORY);
    EXPECT_EQ(warpseal_host_alloc(engine_, 0, &memory), WARPSEAL_INVALID_ARGUMENT);
    warpseal_host_free(engine_, text_);  // not allocated by the library: ignored
}

// ---- files

TEST_F(CApi, FilesSealAndOpen) {
    const int in = memfd_create("in", 0), sealed = memfd_create("sealed", 0),
              out = memfd_create("out", 0);
    const Text text(100000, 0x61);
    ASSERT_EQ(write(in, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    lseek(in, 0, SEEK_SET);
    const warpseal_secret secret = {WARPSEAL_SECRET_KEY, secret_, 32};
    warpseal_file_options o = {};
    o.struct_bytes = sizeof o;
    o.secrets = &secret;
    o.secret_count = 1;
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    ASSERT_EQ(warpseal_file_seal(engine_, in, sealed, &o, &result), WARPSEAL_OK) << result.message;
    EXPECT_EQ(result.plaintext_bytes, text.size());
    EXPECT_EQ(result.output_bytes, result.file_bytes);
    EXPECT_EQ(result.struct_bytes, sizeof result);
    EXPECT_STREQ(result.target,
                 warpseal_engine_pick(engine_, "aes-256", WARPSEAL_GCM, text.size()));
    lseek(sealed, 0, SEEK_SET);
    int used = 0;
    o.secrets_used = [](void* count) { ++*static_cast<int*>(count); };
    o.secrets_user = &used;
    o.any_order = 1;
    ASSERT_EQ(warpseal_file_open(engine_, sealed, out, &o, &result), WARPSEAL_OK) << result.message;
    EXPECT_EQ(result.output_bytes, text.size());
    EXPECT_EQ(result.header_copies_differ, 0);
    EXPECT_EQ(used, 1);
    Text back(text.size());
    ASSERT_EQ(pread(out, back.data(), back.size(), 0), static_cast<ssize_t>(back.size()));
    EXPECT_EQ(back, text);
    warpseal_file_info info = {};
    info.struct_bytes = sizeof info;
    lseek(sealed, 0, SEEK_SET);
    EXPECT_EQ(warpseal_file_info_read(sealed, &info, &result), WARPSEAL_OK) << result.message;
    EXPECT_EQ(info.slot_count, 1u);
    lseek(in, 0, SEEK_SET);
    EXPECT_EQ(warpseal_file_open(engine_, in, out, &o, &result), WARPSEAL_UNSUPPORTED);
    EXPECT_EQ(result.output_bytes, 0u);
    EXPECT_EQ(used, 1);
    EXPECT_NE(result.message[0], 0);
    EXPECT_NE(result.target, nullptr);
    for (const int fd : {in, sealed, out}) close(fd);
}

TEST_F(CApi, FilesRefuseInvalidArguments) {
    const warpseal_secret none = {WARPSEAL_SECRET_KEY, nullptr, 32};
    warpseal_file_options o = {};
    o.struct_bytes = sizeof o;
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    warpseal_file_info info = {};
    info.struct_bytes = sizeof info;
    // Refused, with a message that says why.
    const auto refused = [&](warpseal_status status) {
        const bool explained = result.message[0] != 0 && result.target != nullptr &&
                               *result.target == 0 && result.struct_bytes == sizeof result;
        result.message[0] = 0;
        return status == WARPSEAL_INVALID_ARGUMENT && explained;
    };
    EXPECT_TRUE(refused(warpseal_file_seal(nullptr, 0, 1, &o, &result)));
    EXPECT_TRUE(refused(warpseal_file_seal(engine_, -1, 1, &o, &result)));
    EXPECT_TRUE(refused(warpseal_file_seal(engine_, 0, -1, &o, &result)));
    EXPECT_TRUE(refused(warpseal_file_open(engine_, 0, -2, &o, &result)));
    EXPECT_TRUE(refused(warpseal_file_seal(engine_, 0, 1, nullptr, &result)));
    EXPECT_EQ(warpseal_file_seal(engine_, 0, 1, &o, nullptr), WARPSEAL_INVALID_ARGUMENT);
    o.secret_count = 1;
    EXPECT_TRUE(refused(warpseal_file_seal(engine_, 0, 1, &o, &result)));
    o.secrets = &none;
    EXPECT_TRUE(refused(warpseal_file_seal(engine_, 0, 1, &o, &result)));
    o.format = WARPSEAL_FORMAT_COBBLESTONE;
    EXPECT_TRUE(refused(warpseal_file_seal(engine_, 0, 1, &o, &result)));
    const warpseal_secret some = {WARPSEAL_SECRET_KEY, secret_, sizeof secret_};
    o.secrets = &some;
    o.context_bytes = 5;
    EXPECT_TRUE(refused(warpseal_file_seal(engine_, 0, 1, &o, &result)));
    EXPECT_TRUE(refused(warpseal_file_info_read(-1, &info, &result)));
    EXPECT_TRUE(refused(warpseal_file_info_read(0, nullptr, &result)));
}

}  // namespace
