// Text in device memory on one side: batches with chunks in host memory, and sealed files.
#include <sys/mman.h>
#include <unistd.h>

#include "host_memory.h"
#include "support/oracle.h"
#include "warpseal/device_file.h"

namespace {

using namespace gpu;
using warpseal::TextWindow;

class Resident : public OnGpuOnce {};

constexpr size_t tag_bytes = 16, iv_bytes = 12;

// Messages of one length. In host memory each is ciphertext and tag; text lies without gaps.
struct Chunks {
    Chunks(const Key& key, size_t bytes, size_t count, tests::Random& random)
        : bytes(bytes), count(count), ivs(random.text(iv_bytes * count)), statuses(count) {
        for (size_t i = 0; i < count; ++i) {
            const Text one = random.text(bytes);
            Text tag;
            const Text out = oracle::run(key.mode("gcm"), true, key.bytes,
                                         slice(ivs, i * iv_bytes, iv_bytes), {}, one, &tag);
            text.insert(text.end(), one.begin(), one.end());
            sealed.insert(sealed.end(), out.begin(), out.end());
            sealed.insert(sealed.end(), tag.begin(), tag.begin() + tag_bytes);
        }
    }
    warpseal_batch batch(Direction direction, uint8_t* device_text, uint8_t* host) {
        const bool seals = direction == Direction::encrypt;
        warpseal_batch b{};
        b.struct_bytes = sizeof b;
        b.iv_bytes = iv_bytes, b.tag_bytes = tag_bytes;
        b.message_count = count, b.message_bytes = bytes;
        b.ivs = ivs.data(), b.iv_stride = iv_bytes;
        b.in = seals ? device_text : host, b.out = seals ? host : device_text;
        b.in_stride = seals ? bytes : bytes + tag_bytes;
        b.out_stride = seals ? bytes + tag_bytes : bytes;
        b.tags = host + bytes, b.tag_stride = bytes + tag_bytes;
        b.statuses = statuses.data();
        return b;
    }

    size_t bytes, count;
    Text ivs, text, sealed;
    std::vector<int32_t> statuses;
};

warpseal_status run(Key& key, Direction direction, const warpseal_batch& batch,
                    const TextWindow* window, uint64_t* refused, uint8_t* space = nullptr) {
    void* begun = nullptr;
    const warpseal_status status = backend().begin_resident(
        device, key.cipher, key.state(), WARPSEAL_GCM, direction, batch, window, space, &begun);
    return status == WARPSEAL_OK ? backend().finish_resident(begun, refused) : status;
}

TEST_F(Resident, SealAndOpen) {
    tests::Random random(561);
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100}, size_t{4096}, size_t{16384},
                               size_t{16384} + 4, (size_t{3} << 20) + 1})
        for (const bool pinned : {true, false}) {
            const size_t count = bytes > 20000 ? 3 : 700;
            Key key("aes-256", random);
            Chunks chunks(key, bytes, count, random);
            const Host host(chunks.sealed.size(), pinned),
                space(count * warpseal::resident_space_bytes, pinned);
            uint64_t refused = 0;
            const Memory text(chunks.text);
            ASSERT_EQ(
                run(key, Direction::encrypt,
                    chunks.batch(Direction::encrypt, text.data(), host.data()), nullptr, &refused),
                WARPSEAL_OK);
            EXPECT_TRUE(host.holds(chunks.sealed)) << bytes << " " << pinned;
            EXPECT_EQ(text.get() == chunks.text, true);
            // At an address of any alignment.
            for (const size_t shift : {size_t{0}, size_t{5}, size_t{16}}) {
                Memory opened(Text(chunks.text.size() + shift + 1, 0xa5));
                ASSERT_EQ(run(key, Direction::decrypt,
                              chunks.batch(Direction::decrypt, opened.data() + shift, host.data()),
                              nullptr, &refused, shift == 0 ? nullptr : space.data()),
                          WARPSEAL_OK);
                EXPECT_EQ(refused, 0u);
                const Text got = opened.get();
                EXPECT_EQ(slice(got, shift, chunks.text.size()) == chunks.text, true) << bytes;
                EXPECT_EQ(got.back(), 0xa5);
                EXPECT_TRUE(host.holds(chunks.sealed));
            }
        }
}

TEST_F(Resident, ForgedMessagesAreZeros) {
    tests::Random random(562);
    Key key("aes-128", random);
    Chunks chunks(key, 16384, 50, random);
    for (const size_t i : {size_t{0}, size_t{17}, size_t{49}})
        chunks.sealed[i * 16400 + 16390] ^= 1;
    const Host host(chunks.sealed.size(), true);
    std::memcpy(host.data(), chunks.sealed.data(), chunks.sealed.size());
    const Memory opened(Text(chunks.text.size(), 0xa5));
    uint64_t refused = 0;
    ASSERT_EQ(run(key, Direction::decrypt,
                  chunks.batch(Direction::decrypt, opened.data(), host.data()), nullptr, &refused),
              WARPSEAL_OK);
    EXPECT_EQ(refused, 3u);
    const Text got = opened.get();
    for (size_t i = 0; i < 50; ++i) {
        const bool forged = i == 0 || i == 17 || i == 49;
        EXPECT_EQ(chunks.statuses[i], forged ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK);
        EXPECT_EQ(slice(got, i * 16384, 16384) ==
                      (forged ? Text(16384) : slice(chunks.text, i * 16384, 16384)),
                  true)
            << i;
    }
}

// More batches than slots are begun before one is waited for. Their IVs may change meanwhile.
TEST_F(Resident, ManyInFlight) {
    constexpr size_t batches = 24, count = 100;
    tests::Random random(565);
    Key key("aes-256", random);
    Chunks chunks(key, 16384, count, random);
    const size_t sealed = chunks.sealed.size(), text = chunks.text.size(),
                 step = sealed + count * warpseal::resident_space_bytes;
    const Host host(batches * step, true);
    const Memory opened(Text(batches * text, 0xa5));
    std::vector<int32_t> statuses(batches * count, -1);
    std::vector<void*> begun(batches);
    Text right;
    for (size_t i = 0; i < batches; ++i) {
        uint8_t* const at = host.data() + i * step;
        std::memcpy(at, chunks.sealed.data(), sealed);
        at[i * 16400 + 7] ^= 1;  // chunk i of batch i is forged
        warpseal_batch batch = chunks.batch(Direction::decrypt, opened.data() + i * text, at);
        Text ivs = chunks.ivs;
        batch.ivs = ivs.data();
        batch.statuses = statuses.data() + i * count;
        ASSERT_EQ(
            backend().begin_resident(device, key.cipher, key.state(), WARPSEAL_GCM,
                                     Direction::decrypt, batch, nullptr, at + sealed, &begun[i]),
            WARPSEAL_OK);
        std::fill(ivs.begin(), ivs.end(), uint8_t{0});
        right.insert(right.end(), chunks.text.begin(), chunks.text.end());
        const auto forged = right.end() - static_cast<ptrdiff_t>(text - i * 16384);
        std::fill(forged, forged + 16384, uint8_t{0});
    }
    for (size_t i = batches; i-- > 0;) {
        uint64_t refused = 0;
        EXPECT_EQ(backend().finish_resident(begun[i], &refused), WARPSEAL_OK);
        EXPECT_EQ(refused, 1u);
        for (size_t k = 0; k < count; ++k)
            EXPECT_EQ(statuses[i * count + k], k == i ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK);
    }
    EXPECT_EQ(opened.get() == right, true);
}

// 18 MiB, which no slot holds, are opened before begin_resident returns.
TEST_F(Resident, MoreThanASlotHolds) {
    tests::Random random(566);
    Key key("aes-256", random);
    Chunks chunks(key, 16384, 1150, random);
    const size_t sealed = chunks.sealed.size();
    const Host host(sealed + chunks.count * warpseal::resident_space_bytes, true);
    std::memcpy(host.data(), chunks.sealed.data(), sealed);
    const Memory opened(Text(chunks.text.size(), 0xa5));
    uint64_t refused = 0;
    ASSERT_EQ(
        run(key, Direction::decrypt, chunks.batch(Direction::decrypt, opened.data(), host.data()),
            nullptr, &refused, host.data() + sealed),
        WARPSEAL_OK);
    EXPECT_EQ(refused, 0u);
    EXPECT_EQ(opened.get() == chunks.text, true);
}

TEST_F(Resident, Windows) {
    tests::Random random(563);
    Key key("aes-256", random);
    Chunks chunks(key, 16384, 1, random);
    const Host host(chunks.sealed.size(), true), space(warpseal::resident_space_bytes, true);
    std::memcpy(host.data(), chunks.sealed.data(), chunks.sealed.size());
    for (const TextWindow window :
         {TextWindow{0, 1}, {0, 16383}, {1, 16383}, {16383, 1}, {100, 5000}})
        for (uint8_t* const beside : {static_cast<uint8_t*>(nullptr), space.data()}) {
            const Memory opened(Text(window.bytes + 1, 0xa5));
            uint64_t refused = 0;
            ASSERT_EQ(run(key, Direction::decrypt,
                          chunks.batch(Direction::decrypt, opened.data(), host.data()), &window,
                          &refused, beside),
                      WARPSEAL_OK);
            Text right = slice(chunks.text, window.begin, window.bytes);
            right.push_back(0xa5);
            EXPECT_EQ(opened.get() == right, true) << window.begin << " " << window.bytes;
        }
}

TEST_F(Resident, Zeroize) {
    const Memory memory(Text(100003, 0xa5));
    ASSERT_EQ(backend().zeroize(device, memory.data() + 3, 99990), WARPSEAL_OK);
    Text right(100003, 0xa5);
    std::fill(right.begin() + 3, right.begin() + 99993, uint8_t{0});
    EXPECT_EQ(memory.get() == right, true);
    EXPECT_EQ(backend().zeroize(device, nullptr, 0), WARPSEAL_OK);
}

// Through the C interface: a file of text in device memory, opened whole and by range.
TEST_F(Resident, Files) {
    tests::Random random(564);
    warpseal_engine_options engine_options{};
    engine_options.struct_bytes = sizeof engine_options;
    engine_options.device = "cuda";
    warpseal_engine* engine = nullptr;
    ASSERT_EQ(warpseal_engine_create(&engine_options, &engine), WARPSEAL_OK);
    const Text secret = random.text(32), text = random.text((size_t{40} << 20) + 12345);
    const warpseal_secret key = {WARPSEAL_SECRET_KEY, secret.data(), secret.size()};
    warpseal_file_options options{};
    options.struct_bytes = sizeof options;
    options.secrets = &key, options.secret_count = 1;
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    const int file = memfd_create("resident", MFD_CLOEXEC);
    {
        const Memory in(text);
        ASSERT_EQ(warpseal_file_seal_device(engine, in.data(), text.size(), nullptr, file, &options,
                                            &result),
                  WARPSEAL_OK)
            << result.message;
        EXPECT_EQ(result.plaintext_bytes, text.size());
    }
    (void)lseek(file, 0, SEEK_SET);
    const struct {
        size_t offset, bytes;
    } ranges[] = {{0, text.size()}, {16383, 70000}, {text.size() - 3, 100}, {5, 1}};
    for (const auto& range : ranges) {
        const Memory out(Text(range.bytes, 0xa5));
        size_t got = 0;
        ASSERT_EQ(warpseal_file_open_device(engine, file, &options, range.offset, out.data(),
                                            range.bytes, nullptr, &got, &result),
                  WARPSEAL_OK)
            << result.message;
        ASSERT_EQ(got, std::min(range.bytes, text.size() - range.offset));
        EXPECT_EQ(slice(out.get(), 0, got) == slice(text, range.offset, got), true);
    }
    uint8_t byte = 0;
    ASSERT_EQ(pread(file, &byte, 1, (20 << 20) + 7), 1);
    byte ^= 1;
    ASSERT_EQ(pwrite(file, &byte, 1, (20 << 20) + 7), 1);
    const Memory out(Text(text.size(), 0xa5));
    size_t got = 0;
    const warpseal_status status = warpseal_file_open_device(engine, file, &options, 0, out.data(),
                                                             text.size(), nullptr, &got, &result);
    EXPECT_EQ(status, WARPSEAL_NOT_AUTHENTIC) << result.message;
    EXPECT_EQ(out.get() == Text(text.size()), true) << "nothing of a refused file stays";
    close(file);
    warpseal_engine_destroy(engine);
}

}  // namespace
