// What measurements are made on, and OpenSSL's answers.
#include "bench_answers.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace warpseal::cli {
namespace {

// A big-endian counter block, `blocks` further on (SP 800-38A B.1, modulo the whole block).
std::vector<uint8_t> advance(const uint8_t* iv, size_t iv_bytes, uint64_t blocks) {
    std::vector<uint8_t> counter(iv, iv + iv_bytes);
    for (size_t i = iv_bytes; i-- > 0 && blocks != 0;) {
        blocks += counter[i];
        counter[i] = static_cast<uint8_t>(blocks);
        blocks >>= 8;
    }
    return counter;
}

}  // namespace

std::vector<uint8_t> bench_key(const BenchCase& what) {
    std::vector<uint8_t> key(what.cipher.key_bytes);
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(3 * i + 1);
    return key;
}

BenchKey make_bench_key(warpseal_engine* engine, const BenchCase& what, const std::vector<uint8_t>& key) {
    warpseal_key* made = nullptr;
    const warpseal_status status = warpseal_key_create(engine, what.cipher.name, key.data(), key.size(), &made);
    if (status != WARPSEAL_OK) throw BenchWrong(std::string("making a key: ") + warpseal_status_text(status));
    return BenchKey(made);
}

void fill_random(uint8_t* out, size_t bytes) {
    uint64_t state = 0x9e3779b97f4a7c15;  // splitmix64, as in the bulk vectors
    for (size_t i = 0; i < bytes; i += sizeof state) {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        z ^= z >> 31;
        std::memcpy(out + i, &z, std::min(sizeof z, bytes - i));
    }
}

std::vector<uint8_t> message_ivs(size_t iv_bytes, uint64_t count) {
    std::vector<uint8_t> ivs(iv_bytes * count);
    // The message's number stands where neither a counter of blocks nor one of calls reaches.
    const size_t at = iv_bytes == bench_nonce_bytes ? 8 : 0;
    for (uint64_t i = 0; iv_bytes != 0 && i < count; ++i) {
        const auto number = static_cast<uint32_t>(i);
        std::memcpy(ivs.data() + i * iv_bytes + at, &number, sizeof number);
    }
    return ivs;
}

warpseal_batch bench_batch(const BenchCase& what, const BatchMemory& memory, uint64_t bytes, uint64_t message_bytes) {
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = static_cast<uint32_t>(bench_iv_bytes(what));
    batch.tag_bytes = what.aead() ? bench_tag_bytes : 0;
    batch.message_count = (bytes + message_bytes - 1) / message_bytes;
    batch.message_bytes = message_bytes;
    batch.ivs = memory.ivs;
    batch.iv_stride = batch.iv_bytes;
    batch.in = memory.in;
    batch.in_stride = message_bytes;
    batch.out = memory.out;
    batch.out_stride = message_bytes;
    batch.tags = what.aead() ? memory.tags : nullptr;
    batch.tag_stride = batch.tag_bytes;
    batch.statuses = memory.statuses;
    return batch;
}

warpseal_status bench_call_batch(const BenchCase& what, const warpseal_key* key, const warpseal_batch& batch) {
    if (what.aead()) return (what.encrypt ? warpseal_seal_batch_unsafe_iv : warpseal_open_batch)(key, what.mode, &batch);
    return (what.encrypt ? warpseal_encrypt_batch : warpseal_decrypt_batch)(key, what.mode, &batch);
}

warpseal_status bench_call_batch_device(const BenchCase& what, const warpseal_key* key, const warpseal_batch& batch, void* stream) {
    if (what.aead())
        return (what.encrypt ? warpseal_seal_batch_device_unsafe_iv : warpseal_open_batch_device)(key, what.mode, &batch, stream);
    return (what.encrypt ? warpseal_encrypt_batch_device : warpseal_decrypt_batch_device)(key, what.mode, &batch, stream);
}

void in_slices(uint64_t count, const std::function<void(uint64_t begin, uint64_t end)>& work) {
    const uint64_t slices = std::min<uint64_t>(count, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::thread> threads;
    for (uint64_t s = 0; s < slices; ++s) threads.emplace_back([&, s] { work(count * s / slices, count * (s + 1) / slices); });
    for (std::thread& thread : threads) thread.join();
}

Answers::Answers(const BenchCase& what, uint64_t bytes, uint64_t message_size)
    : plaintext(bytes), ciphertext(bytes), message_bytes(message_size) {
    const uint64_t count = (bytes + message_bytes - 1) / message_bytes;
    const size_t iv_bytes = bench_iv_bytes(what);
    const std::vector<uint8_t> key = bench_key(what);
    ivs = message_ivs(iv_bytes, count);
    tags.resize(count * bench_tag_bytes);
    fill_random(plaintext.data(), bytes);
    BenchCase encrypting = what;
    encrypting.encrypt = true;
    require_openssl(encrypting, key);

    std::atomic<bool> good{true};
    const auto run = [&](const uint8_t* iv, uint64_t from, uint64_t length, uint64_t message) {
        const auto openssl = OpenSsl::find(encrypting, key);
        if (!openssl ||
            !openssl->run(iv, plaintext.data() + from, ciphertext.data() + from, length, tags.data() + message * bench_tag_bytes))
            good = false;
    };
    if (count == 1 && what.aead()) {
        run(ivs.data(), 0, bytes, 0);
    } else if (count == 1) {  // slices of whole blocks, each from its own counter
        const uint64_t block = what.cipher.block_bytes, blocks = (bytes + block - 1) / block;
        in_slices(blocks, [&](uint64_t begin, uint64_t end) {
            run(advance(ivs.data(), iv_bytes, begin).data(), begin * block, std::min(end * block, bytes) - begin * block, 0);
        });
    } else {
        in_slices(count, [&](uint64_t begin, uint64_t end) {
            for (uint64_t i = begin; i < end; ++i)
                run(ivs.data() + i * iv_bytes, i * message_bytes, std::min(message_bytes, bytes - i * message_bytes), i);
        });
    }
    if (!good) throw BenchWrong("OpenSSL failed");
}

}  // namespace warpseal::cli
