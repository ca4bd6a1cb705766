// warpseal_file_slots_change and its C++ wrapper: arguments, and what the structs report.
#include "warpseal/slots.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

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
