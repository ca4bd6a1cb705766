// Tests the readers and the messages in updates of warpseal.hpp: they can be moved, free
// themselves, and throw statuses.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "warpseal/warpseal.hpp"

namespace {

using Data = std::vector<std::uint8_t>;
const Data key(32, 9);

Data in_updates(warpseal::Cobblestone message, const Data& in, std::size_t step) {
    Data out;
    for (std::size_t at = 0; at < in.size(); at += step) {
        const warpseal::Bytes some =
            warpseal::Bytes(in).subspan(at, std::min(step, in.size() - at));
        Data wrote(message.update_bytes(some.size()));
        EXPECT_EQ(message.update(some, wrote).size(), wrote.size());
        out.insert(out.end(), wrote.begin(), wrote.end());
    }
    Data last(message.finish_bytes());
    EXPECT_EQ(message.finish(last).size(), last.size());
    out.insert(out.end(), last.begin(), last.end());
    return out;
}

warpseal_file_options options_of(const warpseal_secret& secret) {
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.format = WARPSEAL_FORMAT_COBBLESTONE;
    options.secrets = &secret;
    options.secret_count = 1;
    return options;
}

std::int64_t copy(void* user, std::uint64_t offset, void* out, std::size_t bytes) {
    const Data& from = *static_cast<const Data*>(user);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(offset), bytes,
                static_cast<std::uint8_t*>(out));
    return static_cast<std::int64_t>(bytes);
}

TEST(Bindings, CobblestoneInUpdates) {
    const warpseal::Engine engine("cpu", 2);
    Data text(100'000);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::uint8_t>(i);
    const Data context = {1, 2},
               sealed = in_updates(warpseal::Cobblestone::seal(engine, key, context), text, 999);
    EXPECT_EQ(in_updates(warpseal::Cobblestone::open(engine, key, context), sealed, 70'000), text);
    warpseal::Cobblestone wrong = warpseal::Cobblestone::open(engine, key);
    Data out(text.size());
    try {
        wrong.update(sealed, out);
        FAIL();
    } catch (const warpseal::Error& error) {
        EXPECT_EQ(error.status(), WARPSEAL_WRONG_KEY);
    }
    EXPECT_THROW(warpseal::Cobblestone::seal(engine, Data(24)), warpseal::Error);
}

TEST(Bindings, ReadersAreMovedAndThrow) {
    const warpseal::Engine engine("cpu", 2);
    const Data text(100'000, 5);
    Data sealed = in_updates(warpseal::Cobblestone::seal(engine, key), text, text.size());
    const warpseal_secret secret = {WARPSEAL_SECRET_KEY, key.data(), key.size()};
    warpseal::Reader made(engine, copy, &sealed, sealed.size(), options_of(secret));
    warpseal::Reader reader = std::move(made);
    EXPECT_EQ(made.size(), 0u);
    EXPECT_EQ(reader.size(), text.size());
    Data out(40'000);
    EXPECT_EQ(reader.read_at(99'000, out).size(), 1000u);
    EXPECT_EQ(reader.read_at(10, out).size(), out.size());
    EXPECT_EQ(out, Data(out.size(), 5));
    sealed[100] ^= 1;
    try {
        (void)reader.read_at(0, out);
        FAIL();
    } catch (const warpseal::FileError& error) {
        EXPECT_EQ(error.status(), WARPSEAL_NOT_AUTHENTIC);
        EXPECT_STREQ(error.what(), warpseal_last_error_message());
    }
    EXPECT_EQ(out, Data(out.size()));
    EXPECT_THROW((void)made.read_at(0, out), warpseal::FileError);

    const int descriptor = memfd_create("bindings", MFD_CLOEXEC);
    sealed[100] ^= 1;
    ASSERT_EQ(write(descriptor, sealed.data(), sealed.size()), static_cast<ssize_t>(sealed.size()));
    lseek(descriptor, 0, SEEK_SET);
    EXPECT_EQ(warpseal::Reader(engine, descriptor, options_of(secret)).read_at(99'999, out).size(),
              1u);
    close(descriptor);
    EXPECT_THROW(warpseal::Reader(engine, -1, options_of(secret)), warpseal::FileError);
}

}  // namespace
