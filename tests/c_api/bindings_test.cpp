// Tests warpseal.hpp: handles free themselves, spans carry lengths, and statuses become exceptions.
#include "warpseal/warpseal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

namespace {

const std::vector<std::uint8_t> secret(32, 9);

TEST(Bindings, SealAndOpen) {
    const warpseal::Engine engine("cpu", 1);
    const warpseal::Key key(engine, "aes-256", secret);
    std::vector<std::uint8_t> text(1000, 3), sealed(text.size()), opened(text.size()), aad(5),
        tag(16);
    std::array<std::uint8_t, 12> iv{};
    key.seal(iv, aad, text, sealed, tag);
    EXPECT_NE(sealed, text);
    EXPECT_TRUE(key.open(iv, aad, sealed, opened, tag));
    EXPECT_EQ(opened, text);
    aad[0] ^= 1;
    EXPECT_FALSE(key.open(iv, aad, sealed, opened, tag));
    EXPECT_EQ(opened, std::vector<std::uint8_t>(text.size()));
}

TEST(Bindings, CtrTwiceIsTheIdentity) {
    const warpseal::Engine engine;
    const warpseal::Key key(engine, "aes-128", warpseal::Bytes(secret).first(16));
    std::vector<std::uint8_t> text(100, 3), iv(16);
    key.encrypt(WARPSEAL_CTR, iv, text, text);
    EXPECT_NE(text, std::vector<std::uint8_t>(100, 3));
    key.decrypt(WARPSEAL_CTR, iv, text, text);
    EXPECT_EQ(text, std::vector<std::uint8_t>(100, 3));
    EXPECT_STREQ(engine.pick("aes-128", WARPSEAL_CTR, 100),
                 warpseal::Engine("cpu").pick("aes-128", WARPSEAL_CTR, 100));
}

TEST(Bindings, PaddingUnitsAndMacs) {
    const warpseal::Engine engine("cpu", 1);
    const warpseal::Key key(engine, "aes-256", secret);
    std::vector<std::uint8_t> text(1001, 3), padded(1008), iv(16), tag(16);
    ASSERT_EQ(key.encrypt_padded(iv, text, padded), padded.size());
    std::size_t written = 0;
    ASSERT_TRUE(key.decrypt_padded(iv, padded, padded, written));
    EXPECT_EQ(std::vector<std::uint8_t>(padded.begin(),
                                        padded.begin() + static_cast<std::ptrdiff_t>(written)),
              text);
    std::vector<std::uint8_t> noise(16);
    key.encrypt(WARPSEAL_CBC, iv, noise, noise);  // zero IV: no padding
    EXPECT_FALSE(key.decrypt_padded(iv, noise, noise, written));
    EXPECT_EQ(written, 0u);

    key.mac(text, tag);
    EXPECT_TRUE(key.mac_verify(text, tag));
    tag[3] ^= 1;
    EXPECT_FALSE(key.mac_verify(text, tag));

    std::array<std::uint8_t, 12> drawn{};
    std::vector<std::uint8_t> sealed(text.size()), opened(text.size());
    key.seal(drawn, {}, text, sealed, tag, WARPSEAL_CCM);
    EXPECT_TRUE(key.open(drawn, {}, sealed, opened, tag, WARPSEAL_CCM));
    EXPECT_EQ(opened, text);
    EXPECT_FALSE(key.open(drawn, {}, sealed, opened, tag));

    std::vector<std::uint8_t> pair(64, 1);
    EXPECT_THROW(warpseal::Key::xts(engine, "aes-256", pair), warpseal::Error) << "equal halves";
    pair[0] = 2;
    const warpseal::Key units = warpseal::Key::xts(engine, "aes-256", pair);
    const std::array<std::uint8_t, 16> first{7};
    units.xts_encrypt(first, 512, text, sealed);
    EXPECT_NE(sealed, text);
    units.xts_decrypt(first, 512, sealed, sealed);
    EXPECT_EQ(sealed, text);
}

TEST(Bindings, ExceptionsHaveTheStatus) {
    try {
        warpseal::Engine("no such device");
        FAIL();
    } catch (const warpseal::Error& error) {
        EXPECT_EQ(error.status(), WARPSEAL_INVALID_ARGUMENT);
        EXPECT_STREQ(error.what(), warpseal_status_text(WARPSEAL_INVALID_ARGUMENT));
    }
    const warpseal::Engine engine("cpu", 1);
    EXPECT_THROW(warpseal::Key(engine, "aes-256", warpseal::Bytes(secret).first(31)),
                 warpseal::Error);
    const warpseal::Key key(engine, "aes-256", secret);
    std::vector<std::uint8_t> two(2), three(3), iv(16);
    EXPECT_THROW(key.encrypt(WARPSEAL_CTR, iv, two, three), warpseal::Error) << "lengths differ";
    EXPECT_THROW(warpseal::DeviceMemory(engine, 16), warpseal::Error);
}

TEST(Bindings, MemoryAndBatches) {
    const warpseal::Engine engine("cpu", 1);
    const warpseal::Key key(engine, "aes-256", secret);
    const warpseal::HostMemory memory(engine, 64 * 100);
    std::vector<std::uint8_t> ivs(12 * 64), tags(16 * 64);
    std::vector<std::int32_t> statuses(64);
    for (std::size_t i = 0; i < ivs.size(); ++i) ivs[i] = static_cast<std::uint8_t>(i / 12);
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = 12, batch.tag_bytes = 16, batch.message_count = 64, batch.message_bytes = 100;
    batch.ivs = ivs.data(), batch.iv_stride = 12;
    batch.in = batch.out = memory.span().data(), batch.in_stride = batch.out_stride = 100;
    batch.tags = tags.data(), batch.tag_stride = 16, batch.statuses = statuses.data();
    for (std::uint8_t& byte : memory.span()) byte = 0x55;
    key.seal_unsafe_iv(batch);
    EXPECT_TRUE(key.open(batch));
    for (const std::uint8_t byte : memory.span()) ASSERT_EQ(byte, 0x55);
    key.seal_unsafe_iv(batch);
    tags[16 * 7] ^= 1;
    EXPECT_FALSE(key.open(batch));
    EXPECT_EQ(statuses[7], WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(statuses[8], WARPSEAL_OK);
}

// Records of IV, text and tag in one memory, which are sealed and opened in place.
TEST(Bindings, ScatteredBatches) {
    constexpr std::size_t count = 20, record_bytes = 12 + 100 + 16;
    const warpseal::Engine engine("cpu", 1);
    const warpseal::Key key(engine, "aes-256", secret);
    std::vector<std::uint8_t> records(count * record_bytes, 0x55);
    std::vector<std::uint64_t> ivs(count), texts(count), tags(count);
    std::vector<std::int32_t> statuses(count);
    for (std::size_t i = 0; i < count; ++i)
        ivs[i] = i * record_bytes, texts[i] = ivs[i] + 12, tags[i] = texts[i] + 100;
    warpseal_scattered_batch batch = {};
    batch.batch.struct_bytes = sizeof batch;
    batch.batch.iv_bytes = 12, batch.batch.tag_bytes = 16;
    batch.batch.message_count = count, batch.batch.message_bytes = 100;
    batch.batch.in = batch.batch.out = batch.batch.tags = records.data();
    batch.batch.in_offsets = batch.batch.out_offsets = texts.data();
    batch.batch.statuses = statuses.data();
    batch.iv_offsets = ivs.data(), batch.tag_offsets = tags.data();
    key.seal(batch, records);
    warpseal_scattered_batch opened = batch;
    opened.batch.ivs = records.data();
    records[tags[3]] ^= 1;
    EXPECT_FALSE(key.open(opened));
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(statuses[i], i == 3 ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK);
        EXPECT_TRUE(std::all_of(records.data() + texts[i], records.data() + tags[i],
                                [&](std::uint8_t byte) { return byte == (i == 3 ? 0 : 0x55); }));
    }
    EXPECT_THROW(key.seal(batch, warpseal::MutableBytes(records).first(records.size() - 117)),
                 warpseal::Error)
        << "the last IV does not fit";
    opened.batch.struct_bytes = sizeof(warpseal_batch);
    EXPECT_THROW(key.seal_unsafe_iv(opened), warpseal::Error);
    batch.batch.struct_bytes = sizeof(warpseal_batch);
    EXPECT_THROW(key.seal(batch, records), warpseal::Error);

    std::vector<std::uint8_t> drawn(count * 12);
    batch.batch.in_offsets = batch.batch.out_offsets = nullptr;
    batch.batch.in_stride = batch.batch.out_stride = 100;
    batch.batch.tag_stride = 16, batch.batch.iv_stride = 12;
    std::vector<std::uint8_t> text(count * 100, 0x55), strided_tags(count * 16);
    batch.batch.in = batch.batch.out = text.data(), batch.batch.tags = strided_tags.data();
    key.seal(batch.batch, drawn);
    batch.batch.ivs = drawn.data();
    EXPECT_TRUE(key.open(batch.batch));
    EXPECT_EQ(text, std::vector<std::uint8_t>(count * 100, 0x55));
    batch.batch.ivs = nullptr;
    EXPECT_THROW(key.seal(batch.batch, warpseal::MutableBytes(drawn).first(count * 12 - 1)),
                 warpseal::Error);
}

TEST(Bindings, KeyEncapsulation) {
    const warpseal::Engine engine("cpu", 1);
    const warpseal::Kem kem(engine, "ntruhps2048509");
    const std::size_t pk = kem.info().public_key_bytes, sk = kem.info().secret_key_bytes,
                      ct = kem.info().ciphertext_bytes;
    for (const std::size_t count : {0u, 1u, 5u}) {
        std::vector<std::uint8_t> publics(count * pk), secrets(count * sk), texts(count * ct),
            sent(count * 32), received(count * 32);
        kem.keypair(publics, secrets);
        kem.encapsulate(publics, texts, sent);
        kem.decapsulate(secrets, texts, received);
        EXPECT_EQ(received, sent);
    }
    // One key for all items, in records: a ciphertext followed by both secrets.
    constexpr std::size_t count = 3;
    const std::size_t record = ct + 64;
    std::vector<std::uint8_t> publics(pk), secrets(sk), records(count * record);
    kem.keypair(publics, secrets);
    const std::span<std::uint8_t> all = records;
    kem.encapsulate({publics, 0}, {all, record}, {all.subspan(ct), record});
    kem.decapsulate({secrets, 0}, {all, record}, {all.subspan(ct + 32), record});
    for (std::size_t i = 0; i < count; ++i) {
        const auto sent = all.subspan(i * record + ct, 32),
                   received = all.subspan(i * record + ct + 32, 32);
        EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
    }
    std::vector<std::uint8_t> text(ct), shared(32);
    kem.encapsulate(publics, text, shared);
    const auto bytes = [](std::vector<std::uint8_t>& of) { return std::span<std::uint8_t>(of); };
    EXPECT_THROW(kem.encapsulate(publics, bytes(text).first(ct - 1), shared), warpseal::Error);
    EXPECT_THROW(kem.encapsulate(publics, text, bytes(shared).first(31)), warpseal::Error);
    EXPECT_THROW(kem.encapsulate(bytes(publics).first(pk - 1), text, shared), warpseal::Error);
    EXPECT_THROW(kem.encapsulate({bytes(publics).first(pk - 1), 0}, text, shared), warpseal::Error);
    EXPECT_THROW(kem.encapsulate(publics, {text, ct - 1}, shared), warpseal::Error);
    EXPECT_THROW(kem.encapsulate(publics, {text, 0}, shared), warpseal::Error);
    // One key matches one ciphertext. One and a half ciphertexts are refused.
    std::vector<std::uint8_t> two_texts(2 * ct), two_secrets(64);
    EXPECT_THROW(kem.encapsulate(publics, two_texts, two_secrets), warpseal::Error);
    EXPECT_THROW(kem.encapsulate(publics, bytes(two_texts).first(ct + 5), shared), warpseal::Error);
    EXPECT_THROW(warpseal::Kem(engine, "ntru"), warpseal::Error);
    EXPECT_THROW(warpseal::Kem(engine, nullptr), warpseal::Error);
    EXPECT_THROW(warpseal::KemKeyPool(engine, nullptr, 1), warpseal::Error);
}

TEST(Bindings, PrepareKemKeys) {
    const warpseal::Engine engine("cpu", 1);
    for (const char* set : {"ml-kem-768", "x25519mlkem768", "ntruhps2048509"}) {
        const warpseal::Kem kem(engine, set);
        const warpseal_kem_info& sizes = kem.info();
        std::vector<uint8_t> publics(sizes.public_key_bytes), secrets(sizes.secret_key_bytes),
            ciphertexts(3 * sizes.ciphertext_bytes), sent(3 * sizes.shared_secret_bytes),
            received(sent.size()), one(sizes.shared_secret_bytes);
        kem.keypair(publics, secrets);
        const warpseal::KemPublicKey public_key(engine, set, publics);
        const warpseal::KemSecretKey secret_key(engine, set, secrets);
        EXPECT_STREQ(public_key.info().name, set);
        EXPECT_NE(secret_key.get(), nullptr);
        public_key.encapsulate(ciphertexts, sent);
        secret_key.decapsulate(ciphertexts, received);
        EXPECT_EQ(received, sent);
        EXPECT_NE(sent, std::vector<uint8_t>(sent.size()));
        // Spans of other numbers of items, and another length of the key.
        EXPECT_THROW(public_key.encapsulate(ciphertexts, one), warpseal::Error);
        EXPECT_THROW(secret_key.decapsulate(ciphertexts, one), warpseal::Error);
        publics.pop_back();
        EXPECT_THROW(warpseal::KemPublicKey(engine, set, publics), warpseal::Error);
        EXPECT_THROW(warpseal::KemSecretKey(engine, set, publics), warpseal::Error);
        EXPECT_THROW(warpseal::KemPublicKey(engine, nullptr, publics), warpseal::Error);
    }
}

TEST(Bindings, KeyPools) {
    const warpseal::Engine engine("cpu", 1);
    const warpseal::Kem kem(engine, "ntruhps2048509");
    warpseal::KemKeyPool pool(engine, "ntruhps2048509", 4);
    const std::size_t pk = pool.info().public_key_bytes, ct = pool.info().ciphertext_bytes;
    std::vector<std::uint8_t> publics(4 * pk), texts(4 * ct), sent(4 * 32), received(4 * 32);
    std::vector<std::uint64_t> handles(4);
    std::vector<std::int32_t> statuses(4);
    pool.fill();
    EXPECT_THROW(pool.acquire(std::span(publics).first(3 * pk), handles), warpseal::Error)
        << "fewer keys than handles";
    pool.acquire(publics, handles);
    kem.encapsulate(publics, texts, sent);
    EXPECT_THROW(pool.acquire(publics, handles), warpseal::Error) << "no keys are left";
    EXPECT_THROW(pool.acquire(publics, std::span(handles).first(3)), warpseal::Error)
        << "more keys than handles";
    pool.release(std::span(handles).first(1));
    warpseal_kem_pool_release(pool.get(), 3, nullptr);
    EXPECT_THROW(pool.decapsulate(handles, texts, received, std::span(statuses).first(3)),
                 warpseal::Error)
        << "too few statuses";
    EXPECT_THROW(pool.decapsulate(handles, texts, received, statuses), warpseal::Error)
        << "one was released";
    EXPECT_EQ(statuses, (std::vector<std::int32_t>{WARPSEAL_INVALID_ARGUMENT, WARPSEAL_OK,
                                                   WARPSEAL_OK, WARPSEAL_OK}));
    EXPECT_TRUE(std::equal(sent.begin() + 32, sent.end(), received.begin() + 32));
    EXPECT_THROW(warpseal::KemKeyPool(engine, "ntruhps2048509", 0), warpseal::Error);
}

TEST(Bindings, BatchersOfRequests) {
    const warpseal::Engine engine("cpu", 1);
    const warpseal_kem_info info = warpseal::Kem::find("ntruhps2048509");
    std::vector<std::uint8_t> publics(info.public_key_bytes), secrets(info.secret_key_bytes),
        text(info.ciphertext_bytes), sent(32), received(32);
    warpseal_kem_request request = {};
    request.struct_bytes = sizeof request;
    request.set = info.name;
    request.operation = WARPSEAL_KEM_KEYPAIR;
    request.public_key = publics.data();
    request.secret_key = secrets.data();
    request.ciphertext = text.data();
    request.shared_secret = sent.data();
    request.done = [](void* user, warpseal_status status) {
        *static_cast<warpseal_status*>(user) = status;
    };
    warpseal_status status = WARPSEAL_CANCELLED;
    request.user = &status;
    {
        warpseal::KemBatcher batcher(engine);
        batcher.run(request);
        request.operation = WARPSEAL_KEM_ENCAPSULATE;
        batcher.run(request);
        EXPECT_EQ(batcher.counts().inline_requests, 2u);
        request.operation = WARPSEAL_KEM_DECAPSULATE;
        request.shared_secret = received.data();
        EXPECT_TRUE(batcher.submit(request));
        request.operation = 7;
        EXPECT_THROW(batcher.run(request), warpseal::Error);
        EXPECT_THROW(batcher.submit(request), warpseal::Error);
    }
    EXPECT_EQ(status, WARPSEAL_OK);
    EXPECT_EQ(sent, received);

    warpseal_kem_batcher_options options = {};
    EXPECT_THROW(warpseal::KemBatcher(engine, &options), warpseal::Error) << "of no size";
    options.struct_bytes = sizeof options;
    options.max_waiting = 1;
    // `done` blocks the only thread that takes from the queue, so the bound is reported. It is not
    // an error.
    std::atomic<int> held{0}, reported{0};
    std::pair<std::atomic<int>*, std::atomic<int>*> both{&held, &reported};
    request.operation = WARPSEAL_KEM_KEYPAIR;
    request.user = &both;
    request.done = [](void* user, warpseal_status) {
        const auto [held, reported] =
            *static_cast<std::pair<std::atomic<int>*, std::atomic<int>*>*>(user);
        held->wait(0);
        ++*reported;
    };
    {
        warpseal::KemBatcher batcher(engine, &options);
        int accepted = 0;
        EXPECT_NO_THROW(while (accepted < 1000 && batcher.submit(request))++ accepted);
        EXPECT_LT(accepted, 1000);
        EXPECT_GE(batcher.counts().full_queue, 1u);
        held = 1;
        held.notify_all();
    }
    EXPECT_GE(reported, 1);
}

TEST(Bindings, FilesThrowOnErrors) {
    const warpseal::Engine engine("cpu", 1);
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    try {
        warpseal::seal_file(engine, 0, 1, options);
        FAIL();
    } catch (const warpseal::FileError& error) {
        EXPECT_NE(error.status(), WARPSEAL_OK);
        EXPECT_NE(error.what()[0], 0);
    }
}

}  // namespace
