// Inputs of measurements and their expected outputs.
#include "bench/bulk/reference_output.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "bench/report/slices.h"

namespace warpseal::bench {

std::vector<uint8_t> bench_iv_at(const BenchCase& what, std::vector<uint8_t> iv, uint64_t blocks,
                                 const uint8_t* in) {
    const size_t block = what.cipher.block_bytes;
    if (blocks == 0 || what.mode == WARPSEAL_ECB) return iv;
    if (what.mode == WARPSEAL_CBC || what.mode == WARPSEAL_CFB)
        return {in + (blocks - 1) * block, in + blocks * block};
    const bool xts = what.mode == WARPSEAL_XTS;
    uint64_t carry = xts ? blocks * block / what.unit_bytes : blocks;
    for (size_t i = 0; i < iv.size() && carry != 0; ++i, carry >>= 8) {
        uint8_t& byte = xts ? iv[i] : iv[iv.size() - 1 - i];
        carry += byte;
        byte = static_cast<uint8_t>(carry);
    }
    return iv;
}

std::vector<uint8_t> bench_key(const BenchCase& what) {
    std::vector<uint8_t> key(what.key_bytes());
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(3 * i + 1);
    return key;
}

BenchKey make_bench_key(warpseal_engine* engine, const BenchCase& what) {
    const std::vector<uint8_t> key = bench_key(what);
    warpseal_key* made = nullptr;
    const auto create = what.mode == WARPSEAL_XTS ? warpseal_key_create_xts : warpseal_key_create;
    const warpseal_status status = create(engine, what.cipher.name, key.data(), key.size(), &made);
    if (status != WARPSEAL_OK)
        throw BenchWrong(std::string("making a key: ") + warpseal_status_text(status));
    return BenchKey(made);
}

std::vector<uint8_t> message_keys(const BenchCase& what, uint64_t count) {
    std::vector<uint8_t> keys(what.key_per_message ? count * what.key_bytes() : 0);
    fill_random(keys.data(), keys.size());
    return keys;
}

void fill_random(uint8_t* out, size_t bytes, uint64_t from) {
    constexpr uint64_t step = 0x9e3779b97f4a7c15;  // splitmix64, as in the bulk vectors
    uint64_t state = step + from / sizeof state * step;
    for (size_t i = 0; i < bytes; i += sizeof state) {
        uint64_t z = state += step;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        z ^= z >> 31;
        std::memcpy(out + i, &z, std::min(sizeof z, bytes - i));
    }
}

std::vector<uint8_t> message_ivs(size_t iv_bytes, uint64_t count) {
    std::vector<uint8_t> ivs(iv_bytes * count);
    // The message number is stored where neither the block counter nor the call counter reaches.
    const size_t at = iv_bytes == bench_nonce_bytes ? 8 : 0;
    for (uint64_t i = 0; iv_bytes != 0 && i < count; ++i) {
        const auto number = static_cast<uint32_t>(i);
        std::memcpy(ivs.data() + i * iv_bytes + at, &number, sizeof number);
    }
    return ivs;
}

Answers::Answers(const BenchCase& what, uint8_t* text, uint8_t* other, uint64_t byte_count,
                 uint64_t message_size, const std::string& device, Oracle oracle)
    : in(text), out(what.mac() ? nullptr : other), bytes(byte_count), message_bytes(message_size) {
    const uint64_t messages = (bytes + message_bytes - 1) / message_bytes;
    ivs = message_ivs(bench_iv_bytes(what), messages);
    keys = message_keys(what, messages);
    tags.resize(messages * bench_tag_stride);
    in_chunks(bytes,
              [&](uint64_t begin, uint64_t end) { fill_random(text + begin, end - begin, begin); });
    // Opening needs sealed input, so the input is sealed first.
    compute(what.tagged() ? what.as(true) : what, text, other, device, oracle);
    if (what.aead() && !what.encrypt) std::swap(in, out);
}

void Answers::compute(const BenchCase& what, const uint8_t* from, uint8_t* to,
                      const std::string& device, Oracle oracle) {
    std::atomic<bool> good{true};
    std::mutex naming;
    const auto reference = [&] {
        const std::vector<uint8_t> key = bench_key(what);
        auto made = oracle == Oracle::cores ? make_quick_reference(what, key)
                                            : make_reference(what, key, device);
        const std::lock_guard lock(naming);
        checked_against = made->name();
        return made;
    };
    reference();  // Throws errors of the reference here instead of in a thread.
    // Slices consist of whole blocks or units.
    if (count() == 1 && !what.serial() && !what.tagged()) {
        const uint64_t block = what.cipher.block_bytes,
                       step = what.mode == WARPSEAL_XTS ? what.unit_bytes : block;
        in_slices((bytes + step - 1) / step, [&](uint64_t first, uint64_t last) {
            const uint64_t begin = first * step, end = std::min<uint64_t>(last * step, bytes);
            const std::vector<uint8_t> iv = bench_iv_at(what, ivs, begin / block, from);
            if (!reference()->run(iv.data(), from + begin, to + begin, end - begin, nullptr))
                good = false;
        });
    } else {
        in_slices(count(), [&](uint64_t first, uint64_t last) {
            const auto side = reference();
            for (uint64_t i = first; i < last; ++i) {
                const uint64_t begin = i * message_bytes;
                if ((!keys.empty() && !side->set_key(keys.data() + i * what.key_bytes())) ||
                    !side->run(ivs.data() + i * bench_iv_bytes(what), from + begin,
                               what.mac() ? nullptr : to + begin,
                               std::min<uint64_t>(message_bytes, bytes - begin),
                               tags.data() + i * bench_tag_stride))
                    good = false;
            }
        });
    }
    if (!good) throw BenchWrong("the reference failed");
}

}  // namespace warpseal::bench
