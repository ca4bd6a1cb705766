// warpseal_file_slots_change and its C++ wrapper: arguments, and what the structs report.
#include "warpseal/slots.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "c_api/internal_slot_keys.h"
#include "warpseal/device_file.h"
#include "warpseal/warpseal.hpp"

namespace {

class CApiSlots : public testing::Test {
protected:
    CApiSlots() {
        options_.struct_bytes = sizeof options_;
        options_.secrets = &old_;
        options_.secret_count = 1;
        result_.struct_bytes = sizeof result_;
        change_.struct_bytes = sizeof change_;
        const int plain = memfd_create("plain", 0);
        EXPECT_EQ(write(plain, "text", 4), 4);
        lseek(plain, 0, SEEK_SET);
        warpseal::seal_file(engine_, plain, file_, options_);
        close(plain);
        lseek(file_, 0, SEEK_SET);
    }
    ~CApiSlots() override { close(file_); }
    warpseal_status change(int fd) {
        return warpseal_file_slots_change(engine_.get(), fd, &options_, &change_, &result_);
    }

    const warpseal::Engine engine_{"cpu", 1};
    const uint8_t old_key_[32] = {1}, new_key_[32] = {2};
    const warpseal_secret old_ = {WARPSEAL_SECRET_KEY, old_key_, 32};
    const warpseal_secret new_ = {WARPSEAL_SECRET_KEY, new_key_, 32};
    const int file_ = memfd_create("sealed", 0);
    warpseal_file_options options_ = {};
    warpseal_slots_change change_ = {};
    warpseal_file_result result_ = {};
};

TEST_F(CApiSlots, Arguments) {
    const uint32_t none = 0;
    EXPECT_EQ(change(-1), WARPSEAL_INVALID_ARGUMENT);
    change_.add_count = 1;
    EXPECT_EQ(change(file_), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(result_.message, "add is null");
    change_.add_count = 0;
    change_.remove_count = 1;
    EXPECT_EQ(change(file_), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(result_.message, "remove is null");
    change_.remove = &none;
    --change_.struct_bytes;
    EXPECT_EQ(change(file_), WARPSEAL_INVALID_ARGUMENT);
    ++change_.struct_bytes;
    EXPECT_EQ(warpseal_file_slots_change(nullptr, file_, &options_, &change_, &result_),
              WARPSEAL_INVALID_ARGUMENT);
}

constexpr auto type_of_program(int number) { return static_cast<warpseal_secret_type>(number); }

warpseal_status count_and_unwrap(void* user, const warpseal_internal_stanza_slot*,
                                 uint8_t* file_key, char*) {
    ++*static_cast<int*>(user);
    std::memset(file_key, 3, 16);
    return WARPSEAL_OK;
}

// The types of secrets of our own program hold pointers to functions. No public function calls
// one, whatever bytes a caller gives.
TEST_F(CApiSlots, SecretsOfTheProgramAreRefused) {
    int asked = 0;
    const warpseal_internal_unwrapper unwrapper = {count_and_unwrap, &asked};
    uint8_t stanza[2 + 16 + 68] = {0, WARPSEAL_SLOT_SSH_ED25519};
    std::memset(stanza + 2, 3, 16);
    const warpseal_secret seals = {type_of_program(WARPSEAL_INTERNAL_SECRET_STANZA), stanza,
                                   sizeof stanza};
    const int plain = memfd_create("plain", 0), sealed = memfd_create("sealed", 0);
    const auto begin = [&] {
        lseek(plain, 0, SEEK_SET);
        lseek(sealed, 0, SEEK_SET);
    };
    const auto is_refused = [&](warpseal_status status) {
        begin();
        return status == WARPSEAL_INVALID_ARGUMENT &&
               std::string(result_.message) ==
                   "a secret is no key, passphrase, recipient or identity";
    };
    EXPECT_EQ(write(plain, "text", 4), 4);
    begin();
    warpseal_engine* const engine = engine_.get();
    options_.secrets = &seals;
    ASSERT_EQ(warpseal_internal_file_seal(engine, plain, sealed, &options_, nullptr, &result_),
              WARPSEAL_OK)
        << result_.message;
    begin();
    EXPECT_TRUE(is_refused(warpseal_file_seal(engine, plain, sealed, &options_, &result_)));
    EXPECT_TRUE(
        is_refused(warpseal_file_seal_device(engine, "", 0, nullptr, sealed, &options_, &result_)));
    warpseal_rescue rescue = {};
    rescue.struct_bytes = sizeof rescue;
    warpseal_reader* reader = nullptr;
    size_t got = 0;
    const auto read = [](void*, uint64_t, void*, size_t) { return int64_t{0}; };
    for (const int type :
         {WARPSEAL_INTERNAL_SECRET_UNWRAPPER, WARPSEAL_INTERNAL_SECRET_LATE_UNWRAPPER}) {
        const warpseal_secret opens = {type_of_program(type), &unwrapper, sizeof unwrapper};
        options_.secrets = &opens;
        asked = 0;
        EXPECT_TRUE(is_refused(warpseal_file_open(engine, sealed, -1, &options_, &result_)));
        EXPECT_TRUE(
            is_refused(warpseal_file_rescue(engine, sealed, -1, &options_, &rescue, &result_)));
        EXPECT_TRUE(is_refused(warpseal_reader_open(engine, sealed, &options_, &reader, &result_)));
        EXPECT_TRUE(is_refused(warpseal_reader_open_callback(engine, read, nullptr, 99, &options_,
                                                             &reader, &result_)));
        EXPECT_TRUE(is_refused(warpseal_file_open_device(engine, sealed, &options_, 0, nullptr, 0,
                                                         nullptr, &got, &result_)));
        EXPECT_TRUE(is_refused(change(sealed)));
        EXPECT_EQ(asked, 0);
        EXPECT_EQ(warpseal_internal_file_open(engine, sealed, -1, &options_, nullptr, &result_),
                  WARPSEAL_OK)
            << result_.message;
        begin();
        EXPECT_EQ(warpseal_internal_file_rescue(engine, sealed, -1, &options_, &rescue, &result_),
                  WARPSEAL_OK)
            << result_.message;
        begin();
        EXPECT_EQ(
            warpseal_internal_reader_open(engine, sealed, &options_, nullptr, &reader, &result_),
            WARPSEAL_OK)
            << result_.message;
        warpseal_reader_close(reader);
        EXPECT_EQ(asked, 3);
    }
    options_.secrets = &old_;
    change_.add = &seals;
    change_.add_count = 1;
    EXPECT_TRUE(is_refused(change(file_)));
    EXPECT_EQ(
        warpseal_internal_file_slots_change(engine, file_, &options_, nullptr, &change_, &result_),
        WARPSEAL_OK)
        << result_.message;
    close(plain);
    close(sealed);
}

TEST_F(CApiSlots, ResultsAreSet) {
    change_.add = &new_;
    change_.add_count = 1;
    change_.remove_opened = 1;
    change_.removed_count = change_.slot_count = 77;
    change_.in_force = 77;
    options_.secrets = &new_;
    EXPECT_EQ(change(file_), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(change_.removed_count + change_.slot_count, 0u);
    EXPECT_EQ(change_.in_force, 0);
    EXPECT_THROW(warpseal::change_slots(engine_, file_, options_, change_), warpseal::FileError);
    int used = 0;
    options_.secrets = &old_;
    options_.secrets_used = [](void* user) { ++*static_cast<int*>(user); };
    options_.secrets_user = &used;
    const warpseal_file_result done = warpseal::change_slots(engine_, file_, options_, change_);
    EXPECT_EQ(used, 1);
    EXPECT_EQ(done.output_bytes, 2u * 28672);
    EXPECT_EQ(change_.removed_count, 1u);
    EXPECT_EQ(change_.slot_count, 1u);
    EXPECT_EQ(change_.in_force, 1);
    EXPECT_THROW(warpseal::open_file(engine_, file_, -1, options_), warpseal::FileError);
    lseek(file_, 0, SEEK_SET);
    options_.secrets = &new_;
    EXPECT_EQ(warpseal::open_file(engine_, file_, -1, options_).plaintext_bytes, 4u);
}

// A file for a recipient, whose slot another recipient's replaces.
TEST_F(CApiSlots, Recipients) {
    constexpr char alice[] = "age140wn03u8329te2ruznm3mhgl973pwtlq7kevav8ydvd7usdhes2q987e7v",
                   alice_secret[] =
                       "AGE-SECRET-KEY-1WURK6ZNNRZJH60QKC9E9RVNXGKS2PG9Q5ZS2PG9Q5ZS2PG9Q5ZSQH2QWQ4";
    const warpseal_secret recipient = warpseal::recipient(alice),
                          identity = warpseal::identity(alice_secret);
    change_.add = &recipient;
    change_.add_count = 1;
    change_.remove_opened = 1;
    warpseal::change_slots(engine_, file_, options_, change_);
    lseek(file_, 0, SEEK_SET);
    warpseal_file_info info = {};
    info.struct_bytes = sizeof info;
    ASSERT_EQ(warpseal_file_info_read(file_, &info, &result_), WARPSEAL_OK);
    EXPECT_EQ(info.slot_count, 1u);
    EXPECT_EQ(info.slots[0].type, WARPSEAL_SLOT_X25519);
    lseek(file_, 0, SEEK_SET);
    EXPECT_THROW(warpseal::open_file(engine_, file_, -1, options_), warpseal::FileError);
    lseek(file_, 0, SEEK_SET);
    options_.secrets = &identity;
    EXPECT_EQ(warpseal::open_file(engine_, file_, -1, options_).plaintext_bytes, 4u);
    lseek(file_, 0, SEEK_SET);
    EXPECT_EQ(warpseal::Reader(engine_, file_, options_).size(), 4u);
    change_.add = &identity;
    EXPECT_EQ(change(file_), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(result_.message, "an identity does not seal a file: give its recipient");
    options_.secrets = &recipient;
    EXPECT_EQ(change(file_), WARPSEAL_INVALID_ARGUMENT);
    EXPECT_STREQ(result_.message, "a recipient does not open a file: give its identity");
}

}  // namespace
