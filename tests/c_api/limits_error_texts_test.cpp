// Texts of warpseal_last_error_message(): each refusal names its argument, and every function that
// returns a status leaves a text.
#include <cerrno>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "limits.h"
#include "support/public_functions.h"
#include "warpseal/batch.h"
#include "warpseal/batcher.h"
#include "warpseal/cobblestone.h"
#include "warpseal/device_file.h"
#include "warpseal/drbg.h"
#include "warpseal/error.h"
#include "warpseal/kem.h"
#include "warpseal/reader.h"
#include "warpseal/slots.h"

namespace {

using vectors::Text;

struct Refusal {
    std::string function;
    std::function<warpseal_status()> call;
    warpseal_status status;
    std::string text;  // a part of the text
};

class ErrorTexts : public tests::Limits {
protected:
    // Leaves another text, so that a stale one is noticed.
    static void forget() {
        (void)warpseal_random(nullptr, 1);
        ASSERT_STREQ(warpseal_last_error_message(), "out is null");
    }
    void expect(const std::vector<Refusal>& refusals) {
        for (const Refusal& refusal : refusals) {
            forget();
            EXPECT_EQ(refusal.call(), refusal.status) << refusal.function << ": " << refusal.text;
            EXPECT_NE(std::string(warpseal_last_error_message()).find(refusal.text),
                      std::string::npos)
                << refusal.function << " said '" << warpseal_last_error_message() << "', not '"
                << refusal.text << "'";
        }
    }
    // A valid batch with one change.
    template <class Change>
    std::function<warpseal_status()> seal_batch(Change change) {
        return [this, change] {
            warpseal_batch b = batch();
            change(b);
            return warpseal_seal_batch_unsafe_iv(key_.get(), WARPSEAL_GCM, &b);
        };
    }
    size_t written_ = 0;
    void* memory_ = nullptr;
};

constexpr warpseal_status invalid = WARPSEAL_INVALID_ARGUMENT;

TEST_F(ErrorTexts, OfOneMessage) {
    const auto key = key_.get();
    expect({
        {"warpseal_encrypt",
         [&] { return warpseal_encrypt(nullptr, WARPSEAL_CTR, iv_, 16, in_, out_, 16); }, invalid,
         "key is null"},
        {"warpseal_encrypt",
         [&] { return warpseal_encrypt(key, WARPSEAL_CTR, nullptr, 16, in_, out_, 16); }, invalid,
         "iv is null"},
        {"warpseal_encrypt",
         [&] { return warpseal_encrypt(key, WARPSEAL_CTR, iv_, 12, in_, out_, 16); }, invalid,
         "iv_bytes is 12: ctr takes one block, 16 bytes"},
        {"warpseal_decrypt",
         [&] { return warpseal_decrypt(key, WARPSEAL_CBC, iv_, 16, in_, out_, 17); }, invalid,
         "bytes is 17: cbc takes whole blocks of 16 bytes"},
        {"warpseal_encrypt",
         [&] { return warpseal_encrypt(key, WARPSEAL_CTR, iv_, 16, nullptr, out_, 16); }, invalid,
         "in is null"},
        {"warpseal_encrypt",
         [&] { return warpseal_encrypt(key, WARPSEAL_CTR, iv_, 16, in_, in_ + 1, 16); }, invalid,
         "out overlaps in"},
        {"warpseal_encrypt",
         [&] { return warpseal_encrypt(key, WARPSEAL_GCM, iv_, 16, in_, out_, 16); }, invalid,
         "mode is gcm"},
        {"warpseal_encrypt",
         [&] { return warpseal_encrypt(key, WARPSEAL_MODE_COUNT, iv_, 16, in_, out_, 16); },
         invalid, "there is no such mode"},
        {"warpseal_encrypt_padded",
         [&] { return warpseal_encrypt_padded(key, iv_, 16, in_, 16, out_, 31, &written_); },
         invalid, "out_capacity is 31: give at least 32"},
        {"warpseal_decrypt_padded",
         [&] { return warpseal_decrypt_padded(key, iv_, 16, in_, 15, out_, 32, &written_); },
         invalid, "bytes is 15"},
        {"warpseal_decrypt_padded",
         [&] { return warpseal_decrypt_padded(key, iv_, 16, in_, 16, out_, 32, nullptr); }, invalid,
         "out_bytes is null"},
        {"warpseal_xts_encrypt",
         [&] { return warpseal_xts_encrypt(key, nullptr, 16, in_, out_, 16); }, invalid,
         "first_unit is null"},
        {"warpseal_xts_decrypt", [&] { return warpseal_xts_decrypt(key, iv_, 16, in_, out_, 16); },
         invalid, "key was not created for xts"},
        {"warpseal_seal_unsafe_iv", [&] { return seal(12, 11); }, invalid,
         "tag_bytes is 11: a GCM tag has 12 to 16 bytes"},
        {"warpseal_seal_unsafe_iv", [&] { return seal(0, 16); }, invalid, "iv_bytes is 0: gcm"},
        {"warpseal_open", [&] { return open(12, 17); }, invalid, "tag_bytes is 17: gcm"},
        {"warpseal_open", [&] { return open(12, 16); }, WARPSEAL_NOT_AUTHENTIC,
         warpseal_status_text(WARPSEAL_NOT_AUTHENTIC)},
        {"warpseal_seal",
         [&] {
             return warpseal_seal(key, WARPSEAL_GCM, nullptr, nullptr, 0, in_, out_, 16, tag_, 16);
         },
         invalid, "iv is null"},
        {"warpseal_mac", [&] { return warpseal_mac(key, WARPSEAL_CMAC, in_, 16, nullptr, 16); },
         invalid, "tag is null"},
        {"warpseal_mac_verify",
         [&] { return warpseal_mac_verify(key, WARPSEAL_GCM, in_, 16, tag_, 16); }, invalid,
         "mode is gcm: give cmac"},
    });
}

TEST_F(ErrorTexts, OfBatches) {
    expect({
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.struct_bytes = 8; }),
         invalid, "the struct_bytes of batch is 8"},
        {"warpseal_seal_batch",
         [&] {
             warpseal_batch b = batch();
             return warpseal_seal_batch(key_.get(), WARPSEAL_GCM, &b, iv_);
         },
         invalid, "batch.ivs is not null: the call takes ivs"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.reserved = 1; }),
         invalid, "batch.reserved"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.ivs = nullptr; }),
         invalid, "batch.ivs"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.tags = nullptr; }),
         invalid, "batch.tags"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.in = nullptr; }),
         invalid, "batch.in is"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.out = nullptr; }),
         invalid, "batch.out is"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.aad_bytes = 1; }),
         invalid, "batch.aad"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.iv_stride = 0; }),
         invalid, "batch.iv_stride"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.tag_stride = 15; }),
         invalid, "batch.tag_stride"},
        {"warpseal_seal_batch_unsafe_iv", seal_batch([](warpseal_batch& b) { b.out_stride = 15; }),
         invalid, "batch.out_stride"},
        {"warpseal_seal_batch_unsafe_iv",
         seal_batch([](warpseal_batch& b) { b.in_stride = UINT64_MAX; }), invalid,
         "past the address space"},
        {"warpseal_open_batch",
         [&] {
             warpseal_batch b = batch();
             b.statuses = nullptr;
             return warpseal_open_batch(key_.get(), WARPSEAL_GCM, &b);
         },
         invalid, "batch.statuses"},
        {"warpseal_encrypt_batch",
         [&] {
             warpseal_batch b = batch();
             return warpseal_encrypt_batch(key_.get(), WARPSEAL_GCM, &b);
         },
         invalid, "mode is gcm: that mode has calls of its own, for texts with tags"},
        {"warpseal_decrypt_batch",
         [&] { return warpseal_decrypt_batch(key_.get(), WARPSEAL_CTR, nullptr); }, invalid,
         "batch is null"},
        {"warpseal_mac_batch", [&] { return warpseal_mac_batch(nullptr, WARPSEAL_CMAC, nullptr); },
         invalid, "key is null"},
        {"warpseal_mac_verify_batch",
         [&] {
             warpseal_batch b = batch();
             return warpseal_mac_verify_batch(key_.get(), WARPSEAL_CTR, &b);
         },
         invalid, "for texts without tags"},
    });
}

TEST_F(ErrorTexts, OfEnginesKeysAndMemory) {
    warpseal_engine* engine = nullptr;
    warpseal_key* key = nullptr;
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.device = "cuba";
    const targets::EngineHandle cores = targets::engine("cpu", 1);
    expect({
        {"warpseal_engine_create", [&] { return warpseal_engine_create(&options, &engine); },
         invalid, "device is cuba"},
        {"warpseal_engine_create", [&] { return warpseal_engine_create(&options, nullptr); },
         invalid, "engine is null"},
        {"warpseal_key_create",
         [&] { return warpseal_key_create(engine_.get(), "aes-512", in_, 64, &key); },
         WARPSEAL_UNSUPPORTED, "cipher is aes-512"},
        {"warpseal_key_create",
         [&] { return warpseal_key_create(engine_.get(), "aes-256", in_, 16, &key); }, invalid,
         "key_bytes is 16: aes-256 takes 32"},
        {"warpseal_key_create_xts",
         [&] { return warpseal_key_create_xts(engine_.get(), "aes-256", in_, 32, &key); }, invalid,
         "key_bytes is 32: aes-256 in xts takes 64"},
        {"warpseal_host_alloc", [&] { return warpseal_host_alloc(engine_.get(), 0, &memory_); },
         invalid, "bytes is 0"},
        {"warpseal_host_alloc", [&] { return warpseal_host_alloc(nullptr, 1, &memory_); }, invalid,
         "engine is null"},
        {"warpseal_device_alloc", [&] { return warpseal_device_alloc(nullptr, 1, &memory_); },
         invalid, "engine is null"},
        {"warpseal_device_upload",
         [&] { return warpseal_device_upload(engine_.get(), nullptr, in_, 1); }, invalid,
         "to_device is null"},
        {"warpseal_device_download",
         [&] { return warpseal_device_download(engine_.get(), out_, nullptr, 1); }, invalid,
         "from_device is null"},
        {"warpseal_device_synchronize",
         [&] { return warpseal_device_synchronize(nullptr, nullptr); }, invalid, "engine is null"},
        {"warpseal_device_synchronize",
         [&] { return warpseal_device_synchronize(cores.get(), nullptr); }, WARPSEAL_NO_DEVICE,
         warpseal_status_text(WARPSEAL_NO_DEVICE)},
        {"warpseal_device_alloc", [&] { return warpseal_device_alloc(cores.get(), 1, &memory_); },
         WARPSEAL_NO_DEVICE, warpseal_status_text(WARPSEAL_NO_DEVICE)},
        {"warpseal_cipher_at", [&] { return warpseal_cipher_at(0, nullptr); }, invalid,
         "info is null"},
        {"warpseal_target_at", [&] { return warpseal_target_at(0, nullptr); }, invalid,
         "info is null"},
        {"warpseal_device_at", [&] { return warpseal_device_at(0, nullptr); }, invalid,
         "info is null"},
        {"warpseal_random", [&] { return warpseal_random(nullptr, 1); }, invalid, "out is null"},
    });
}

TEST_F(ErrorTexts, OfDeviceMemory) {
    const auto key = key_.get();
    warpseal_batch b = batch();
    expect({
        {"warpseal_encrypt_device",
         [&] { return warpseal_encrypt_device(key, WARPSEAL_CTR, iv_, 8, in_, out_, 16, nullptr); },
         invalid, "iv_bytes is 8"},
        {"warpseal_decrypt_device",
         [&] {
             return warpseal_decrypt_device(key, WARPSEAL_CTR, iv_, 16, nullptr, out_, 16, nullptr);
         },
         invalid, "in is null"},
        {"warpseal_encrypt_device",
         [&] {
             return warpseal_encrypt_device(key, WARPSEAL_CBC, iv_, 16, in_, out_, 16, nullptr);
         },
         WARPSEAL_UNSUPPORTED, "mode is cbc: it is serial"},
        {"warpseal_xts_encrypt_device",
         [&] { return warpseal_xts_encrypt_device(key, nullptr, 16, in_, out_, 16, nullptr); },
         invalid, "first_unit is null"},
        {"warpseal_xts_decrypt_device",
         [&] { return warpseal_xts_decrypt_device(key, iv_, 16, in_, out_, 16, nullptr); }, invalid,
         "key was not created for xts"},
        {"warpseal_encrypt_batch_device",
         [&] { return warpseal_encrypt_batch_device(key, WARPSEAL_GCM, &b, nullptr); }, invalid,
         "mode is gcm"},
        {"warpseal_decrypt_batch_device",
         [&] { return warpseal_decrypt_batch_device(key, WARPSEAL_CTR, nullptr, nullptr); },
         invalid, "batch is null"},
        {"warpseal_seal_batch_device_unsafe_iv",
         [&] { return warpseal_seal_batch_device_unsafe_iv(nullptr, WARPSEAL_GCM, &b, nullptr); },
         invalid, "key is null"},
        {"warpseal_seal_batch_device",
         [&] { return warpseal_seal_batch_device(key, WARPSEAL_GCM, nullptr, iv_, nullptr); },
         invalid, "batch is null"},
        {"warpseal_batch_device_workspace",
         [&] { return warpseal_batch_device_workspace(key, WARPSEAL_GCM, &b, nullptr); }, invalid,
         "bytes is null"},
        {"warpseal_open_batch_device",
         [&] { return warpseal_open_batch_device(key, WARPSEAL_CMAC, &b, nullptr); }, invalid,
         "for a MAC"},
        {"warpseal_mac_batch_device",
         [&] { return warpseal_mac_batch_device(key, WARPSEAL_GCM, &b, nullptr); }, invalid,
         "mode is gcm"},
        {"warpseal_mac_verify_batch_device",
         [&] { return warpseal_mac_verify_batch_device(key, WARPSEAL_GCM, &b, nullptr); }, invalid,
         "mode is gcm"},
    });
}

TEST_F(ErrorTexts, OfKeyEncapsulation) {
    warpseal_kem_info set;
    ASSERT_EQ(warpseal_kem_at(0, &set), WARPSEAL_OK);
    warpseal_kem_batch empty{};
    empty.struct_bytes = sizeof empty;
    empty.count = 1;
    warpseal_kem_key* key = nullptr;
    const std::vector<uint8_t> key_bytes(4096, 0xff);
    warpseal_kem_pool* pool = nullptr;
    warpseal_kem_batcher* batcher = nullptr;
    warpseal_kem_batcher_options options{};
    warpseal_kem_batcher_counts counts{};
    warpseal_kem_request request{};
    warpseal_drbg* drbg = nullptr;
    const auto engine = engine_.get();
    expect({
        {"warpseal_kem_at", [&] { return warpseal_kem_at(1000, &set); }, invalid, "index is 1000"},
        {"warpseal_kem_keypair", [&] { return warpseal_kem_keypair(engine, set.name, &empty); },
         invalid, "public_keys is null"},
        {"warpseal_kem_encapsulate",
         [&] { return warpseal_kem_encapsulate(engine, nullptr, &empty); }, invalid, "set is null"},
        {"warpseal_kem_decapsulate",
         [&] { return warpseal_kem_decapsulate(engine, set.name, &empty); }, invalid,
         "secret_keys is null"},
        {"warpseal_kem_keypair",
         [&] {
             warpseal_kem_batch b = empty;
             std::vector<uint8_t> keys(set.public_key_bytes * 2), secrets(set.secret_key_bytes * 2);
             b.count = 2;
             b.public_keys = keys.data();
             b.public_key_stride = set.public_key_bytes - 1;
             b.secret_keys = secrets.data();
             b.secret_key_stride = set.secret_key_bytes;
             return warpseal_kem_keypair(engine, set.name, &b);
         },
         invalid, "the stride of public_keys"},
        {"warpseal_kem_keypair_device",
         [&] { return warpseal_kem_keypair_device(nullptr, set.name, &empty, nullptr); }, invalid,
         "engine is null"},
        {"warpseal_kem_encapsulate_device",
         [&] { return warpseal_kem_encapsulate_device(engine, set.name, nullptr, nullptr); },
         invalid, "batch is null"},
        {"warpseal_kem_decapsulate_device",
         [&] { return warpseal_kem_decapsulate_device(engine, set.name, &empty, nullptr); },
         invalid, "secret_keys is null"},
        {"warpseal_kem_public_key_create",
         [&] {
             return warpseal_kem_public_key_create(engine, set.name, key_bytes.data(), 5, &key);
         },
         invalid, "the length of public_key is 5: that of"},
        {"warpseal_kem_public_key_create",
         [&] {
             return warpseal_kem_public_key_create(engine, "ml-kem-768", key_bytes.data(), 1184,
                                                   &key);
         },
         invalid, "public_key does not pass the check of ml-kem-768"},
        {"warpseal_kem_secret_key_create",
         [&] {
             return warpseal_kem_secret_key_create(engine, "ml-kem-768", key_bytes.data(), 2400,
                                                   &key);
         },
         invalid, "secret_key does not pass the check of ml-kem-768"},
        {"warpseal_kem_secret_key_create",
         [&] { return warpseal_kem_secret_key_create(engine, set.name, nullptr, 0, &key); },
         invalid, "secret_key is null"},
        {"warpseal_kem_key_encapsulate",
         [&] { return warpseal_kem_key_encapsulate(nullptr, &empty); }, invalid, "key is null"},
        {"warpseal_kem_key_decapsulate",
         [&] { return warpseal_kem_key_decapsulate(nullptr, &empty); }, invalid, "key is null"},
        {"warpseal_kem_pool_create",
         [&] { return warpseal_kem_pool_create(engine, set.name, 0, &pool); }, invalid,
         "pairs is 0"},
        {"warpseal_kem_pool_fill", [&] { return warpseal_kem_pool_fill(nullptr); }, invalid,
         "pool is null"},
        {"warpseal_kem_pool_acquire",
         [&] { return warpseal_kem_pool_acquire(nullptr, 1, nullptr, 0, nullptr); }, invalid,
         "pool is null"},
        {"warpseal_kem_pool_decapsulate",
         [&] {
             return warpseal_kem_pool_decapsulate(nullptr, 1, nullptr, nullptr, 0, nullptr, 0,
                                                  nullptr);
         },
         invalid, "pool is null"},
        {"warpseal_kem_batcher_create",
         [&] { return warpseal_kem_batcher_create(engine, &options, &batcher); }, invalid,
         "the struct_bytes of options is 0"},
        {"warpseal_kem_batcher_run", [&] { return warpseal_kem_batcher_run(nullptr, &request); },
         invalid, "batcher is null"},
        {"warpseal_kem_batcher_submit",
         [&] { return warpseal_kem_batcher_submit(nullptr, &request); }, invalid,
         "batcher is null"},
        {"warpseal_kem_batcher_counts_read",
         [&] { return warpseal_kem_batcher_counts_read(nullptr, &counts); }, invalid,
         "batcher is null"},
        {"warpseal_drbg_create", [&] { return warpseal_drbg_create(nullptr, nullptr, &drbg); },
         invalid, "engine is null"},
        {"warpseal_drbg_reseed", [&] { return warpseal_drbg_reseed(nullptr, nullptr, 0); }, invalid,
         "drbg is null"},
        {"warpseal_drbg_fill", [&] { return warpseal_drbg_fill(nullptr, out_, 1); }, invalid,
         "drbg is null"},
        {"warpseal_drbg_fill_device",
         [&] { return warpseal_drbg_fill_device(nullptr, out_, 1, nullptr); }, invalid,
         "drbg is null"},
    });
}

TEST_F(ErrorTexts, OfFiles) {
    warpseal_file_result result{};
    warpseal_file_options options{};
    warpseal_reader* reader = nullptr;
    warpseal_cobblestone* message = nullptr;
    result.struct_bytes = sizeof result;
    options.struct_bytes = sizeof options;
    const auto engine = engine_.get();
    const std::string small = "struct_bytes";
    expect({
        {"warpseal_file_seal", [&] { return warpseal_file_seal(engine, 0, 1, &options, nullptr); },
         invalid, small},
        {"warpseal_file_open", [&] { return warpseal_file_open(engine, 0, 1, nullptr, &result); },
         invalid, small},
        {"warpseal_file_rescue",
         [&] { return warpseal_file_rescue(engine, 0, 1, &options, nullptr, &result); }, invalid,
         small},
        {"warpseal_file_info_read", [&] { return warpseal_file_info_read(-1, nullptr, &result); },
         invalid, small},
        {"warpseal_file_slots_change",
         [&] { return warpseal_file_slots_change(engine, 0, &options, nullptr, &result); }, invalid,
         small},
        {"warpseal_reader_open",
         [&] { return warpseal_reader_open(engine, -1, &options, &reader, &result); }, invalid,
         "in_fd"},
        {"warpseal_reader_open_callback",
         [&] {
             return warpseal_reader_open_callback(engine, nullptr, nullptr, 1, &options, &reader,
                                                  &result);
         },
         invalid, "read_at is null"},
        {"warpseal_reader_read_at",
         [&] { return warpseal_reader_read_at(nullptr, 0, out_, 1, &written_, &result); }, invalid,
         "reader is null"},
        {"warpseal_reader_read_at_device",
         [&] {
             return warpseal_reader_read_at_device(nullptr, 0, out_, 1, nullptr, &written_,
                                                   &result);
         },
         invalid, "reader is null"},
        {"warpseal_file_open_device",
         [&] {
             return warpseal_file_open_device(engine, 0, &options, 0, out_, 1, nullptr, nullptr,
                                              &result);
         },
         invalid, "out_bytes is null"},
        {"warpseal_file_seal_device",
         [&] {
             return warpseal_file_seal_device(engine, nullptr, 1, nullptr, 1, &options, &result);
         },
         invalid, "in is null"},
        {"warpseal_cobblestone_create_seal",
         [&] { return warpseal_cobblestone_create_seal(engine, in_, 5, nullptr, 0, &message); },
         invalid, "key_bytes is 5"},
        {"warpseal_cobblestone_create_open",
         [&] {
             return warpseal_cobblestone_create_open(engine, nullptr, 16, nullptr, 0, &message);
         },
         invalid, "key is null"},
        {"warpseal_cobblestone_update",
         [&] { return warpseal_cobblestone_update(nullptr, in_, 1, out_, 1, &written_); }, invalid,
         "message is null"},
        {"warpseal_cobblestone_finish",
         [&] { return warpseal_cobblestone_finish(nullptr, out_, 1, nullptr); }, invalid,
         "out_bytes is null"},
    });
}

// A function without a row above is missing here.
TEST(ErrorTextRows, AreThereForEveryFunctionThatReturnsAStatus) {
    const std::string rows =
        tests::text_of(WARPSEAL_SOURCE "/tests/c_api/limits_error_texts_test.cpp");
    size_t functions = 0;
    for (const std::string& name : tests::public_functions("warpseal_status")) {
        EXPECT_NE(rows.find("{\"" + name + "\""), std::string::npos) << name;
        ++functions;
    }
    EXPECT_GT(functions, 50u);
}

TEST_F(ErrorTexts, ASuccessLeavesTheText) {
    forget();
    EXPECT_EQ(seal(12, 16), WARPSEAL_OK);
    EXPECT_STREQ(warpseal_last_error_message(), "out is null");
}

TEST_F(ErrorTexts, EachThreadHasItsOwn) {
    forget();
    std::thread([&] {
        EXPECT_STREQ(warpseal_last_error_message(), "");
        EXPECT_EQ(seal(12, 11), invalid);
    }).join();
    EXPECT_STREQ(warpseal_last_error_message(), "out is null");
}

// Exceptions of the standard library within a call become statuses.
TEST_F(ErrorTexts, ExceptionsEndInAStatusWithItsText) {
    const auto status_of = [](const auto& exception) {
        forget();
        return warpseal::c_api::guarded([&]() -> warpseal_status { throw exception; });
    };
    const char* const memory = warpseal_status_text(WARPSEAL_OUT_OF_MEMORY);
    EXPECT_EQ(status_of(std::bad_alloc()), WARPSEAL_OUT_OF_MEMORY);
    EXPECT_STREQ(warpseal_last_error_message(), memory);
    EXPECT_EQ(status_of(std::system_error(EAGAIN, std::generic_category())),
              WARPSEAL_OUT_OF_MEMORY);
    EXPECT_STREQ(warpseal_last_error_message(), memory);
    EXPECT_EQ(status_of(std::length_error("too long")), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(warpseal_last_error_message(), "a length is out of range");
}

}  // namespace
