// Vectors that are long rather than many: Monte Carlo chains (AESAVS 6.4 and its kin) and bulk messages given by seed and hashes.
#include <algorithm>

#include "vectors_arena.h"

namespace warpseal::cli {
namespace {

// ---- chains

struct Round {
    Octets key, iv, in, out;
};

Round read_round(const nlohmann::json& row) {
    return {hex_field(row, "key"), hex_field_or_empty(row, "iv"), hex_field(row, "in"), hex_field(row, "out")};
}

void count_up(Octets& counter) {
    for (auto digit = counter.rbegin(); digit != counter.rend() && ++*digit == 0; ++digit) {
    }
}

// Runs the inner loop on one block that stays where it is, so that each call's output is the next one's input; returns the last two blocks.
Octets run_inner(Subject& subject, const warpseal_key* key, warpseal_mode mode, bool encrypt, const Round& round, uint64_t steps) {
    const size_t block = round.in.size();
    Octets iv = round.iv, last_two(2 * block);
    Arena arena;
    const size_t place = arena.add(round.in);
    const auto chain = [&](uint64_t count) {
        const bool on_device = subject.has_device_memory();
        return arena.run(subject, on_device, [&](uint8_t* base, void* stream) {
            warpseal_status status = WARPSEAL_OK;
            for (uint64_t i = 0; i < count && status == WARPSEAL_OK; ++i) {
                uint8_t* data = base + place;
                status = on_device ? (encrypt ? warpseal_encrypt_device : warpseal_decrypt_device)(key, mode, iv.data(), iv.size(), data,
                                                                                                   data, block, stream)
                                   : (encrypt ? warpseal_encrypt : warpseal_decrypt)(key, mode, iv.data(), iv.size(), data, data, block);
                if (!iv.empty()) count_up(iv);
            }
            return status;
        });
    };
    require_status(chain(steps - 1), WARPSEAL_OK, "a step of the chain");
    std::copy_n(arena.at(place), block, last_two.begin());
    require_status(chain(1), WARPSEAL_OK, "the last step of the chain");
    std::copy_n(arena.at(place), block, last_two.begin() + static_cast<ptrdiff_t>(block));
    return last_two;
}

// AESAVS 6.4.1: the next key is this one xor the last key_bytes bytes of the last two outputs.
Octets next_key(const Octets& key, const Octets& last_two) {
    Octets next = key;
    const size_t skip = last_two.size() - key.size();
    for (size_t i = 0; i < key.size(); ++i) next[i] ^= last_two[skip + i];
    return next;
}

// ---- bulk

// splitmix64's outputs, little-endian (Steele, Lea, Flood 2014; constants as in Java's SplittableRandom).
Octets splitmix64_bytes(uint64_t state, size_t bytes) {
    Octets out(bytes);
    for (size_t i = 0; i < bytes; i += 8) {
        state += 0x9e3779b97f4a7c15;
        uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        z ^= z >> 31;
        for (size_t j = 0; j < std::min<size_t>(8, bytes - i); ++j) out[i + j] = static_cast<uint8_t>(z >> (8 * j));
    }
    return out;
}

struct Bulk {
    warpseal_mode mode;
    Octets iv, aad, tag;
    bool aead() const { return mode == WARPSEAL_GCM; }
};

warpseal_status encrypt_bulk(const Bulk& bulk, const warpseal_key* key, const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag) {
    if (bulk.aead())
        return warpseal_seal_unsafe_iv(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), bulk.aad.data(), bulk.aad.size(), in, out, bytes,
                                       tag, bulk.tag.size());
    return warpseal_encrypt(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), in, out, bytes);
}

warpseal_status decrypt_bulk(const Bulk& bulk, const warpseal_key* key, const uint8_t* in, uint8_t* out, size_t bytes) {
    if (bulk.aead())
        return warpseal_open(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), bulk.aad.data(), bulk.aad.size(), in, out, bytes,
                             bulk.tag.data(), bulk.tag.size());
    return warpseal_decrypt(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), in, out, bytes);
}

void check_bulk_ciphertext(const nlohmann::json& row, const uint8_t* data, size_t bytes, const std::string& what) {
    const Octets head = hex_field(row, "ct_head"), tail = hex_field(row, "ct_tail");
    if (head.size() > bytes || tail.size() > bytes) throw RowSkipped("malformed row: ct_head or ct_tail longer than the message");
    require_equal(data, head, what + ": the head");
    require_equal(data + bytes - tail.size(), tail, what + ": the tail");
    require(digest_hex("SHA256", data, bytes) == text_field(row, "ct_sha256"), what + ": the SHA-256");
}

void check_bulk_on_device(Subject& subject, const Bulk& bulk, const warpseal_key* key, const Octets& plaintext, const nlohmann::json& row) {
    Arena arena;
    const size_t place = arena.add(plaintext);
    const auto pass = [&](auto call, const char* what) {
        const auto work = [&](uint8_t* base, void* stream) {
            return call(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), base + place, base + place, plaintext.size(), stream);
        };
        require_status(arena.run(subject, true, work), WARPSEAL_OK, what);
    };
    pass(warpseal_encrypt_device, "encrypt on the device");
    check_bulk_ciphertext(row, arena.at(place), plaintext.size(), "encrypt on the device");
    pass(warpseal_decrypt_device, "decrypt on the device");
    require_equal(arena.at(place), plaintext, "decrypt on the device");
}

}  // namespace

void check_chain(Subject& subject, const nlohmann::json& row) {
    const warpseal_cipher_info cipher = subject.cipher(text_field(row, "cipher"));
    const warpseal_mode mode = subject.mode(cipher, text_field(row, "mode"));
    const std::string rule = text_field(row, "rule"), op = text_field(row, "op");
    if (rule != "aesavs" || mode == WARPSEAL_GCM) throw RowSkipped("Monte Carlo rule " + rule + " of this mode is not in this program");
    if (op != "encrypt" && op != "decrypt") throw RowSkipped("malformed row: op is neither encrypt nor decrypt");
    const uint64_t steps = number_field(row, "inner");
    if (steps < 2 || !row.at("rounds").is_array() || row["rounds"].empty()) throw RowSkipped("malformed row: no chain to run");

    Octets expected_key;
    for (const nlohmann::json& item : row["rounds"]) {
        const Round round = read_round(item);
        const std::string what = "round " + std::to_string(number_field(item, "count"));
        if (round.in.size() != cipher.block_bytes || round.out.size() != cipher.block_bytes)
            throw RowSkipped("malformed row: in or out is not one block");
        require(expected_key.empty() || expected_key == round.key, what + ": the key does not follow from the round before");
        const KeyHandle key = subject.key_or_fail(cipher, round.key);
        const Octets last_two = run_inner(subject, key.get(), mode, op == "encrypt", round, steps);
        require_equal(last_two.data() + cipher.block_bytes, round.out, what);
        expected_key = next_key(round.key, last_two);
    }
}

void check_bulk(Subject& subject, const nlohmann::json& row) {
    const warpseal_cipher_info cipher = subject.cipher(text_field(row, "cipher"));
    const Bulk bulk{subject.mode(cipher, text_field(row, "mode")), hex_field_or_empty(row, "iv"), hex_field_or_empty(row, "aad"),
                    hex_field_or_empty(row, "tag")};
    if (!row.at("valid").get<bool>()) throw RowSkipped("malformed row: a bulk row that is not valid");
    const uint64_t bytes = number_field(row, "pt_len");
    if (bytes > uint64_t{1} << 32) throw RowSkipped("malformed row: pt_len over 4 GiB");
    const Octets plaintext = splitmix64_bytes(number_field(row, "pt_splitmix64_seed"), bytes);
    if (digest_hex("SHA256", plaintext.data(), bytes) != text_field(row, "pt_sha256"))
        throw RowSkipped("malformed row: pt_sha256 does not fit the seed");

    const KeyHandle key = subject.key_or_fail(cipher, hex_field(row, "key"));
    Octets data(bytes, Arena::poison), tag(bulk.tag.size());
    require_status(encrypt_bulk(bulk, key.get(), plaintext.data(), data.data(), bytes, tag.data()), WARPSEAL_OK, "encrypt");
    check_bulk_ciphertext(row, data.data(), bytes, "encrypt");
    require(tag == bulk.tag, "encrypt: the tag");

    require_status(decrypt_bulk(bulk, key.get(), data.data(), data.data(), bytes), WARPSEAL_OK, "decrypt in place");
    require_equal(data.data(), plaintext, "decrypt in place");
    require_status(encrypt_bulk(bulk, key.get(), data.data(), data.data(), bytes, tag.data()), WARPSEAL_OK, "encrypt in place");
    check_bulk_ciphertext(row, data.data(), bytes, "encrypt in place");
    require(tag == bulk.tag, "encrypt in place: the tag");

    if (subject.has_device_memory() && !bulk.aead()) check_bulk_on_device(subject, bulk, key.get(), plaintext, row);
}

}  // namespace warpseal::cli
