// Bulk vectors: long messages given by their seed and hashes.
#include <algorithm>

#include "cli/vectors/message.h"

namespace warpseal::cli {
namespace {

// Output of splitmix64, little-endian (constants of Java's SplittableRandom).
Octets splitmix64_bytes(uint64_t state, size_t bytes) {
    Octets out(bytes);
    for (size_t i = 0; i < bytes; i += 8) {
        state += 0x9e3779b97f4a7c15;
        uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        z ^= z >> 31;
        for (size_t j = 0; j < std::min<size_t>(8, bytes - i); ++j)
            out[i + j] = static_cast<uint8_t>(z >> (8 * j));
    }
    return out;
}

struct Bulk {
    warpseal_mode mode;
    Octets iv, aad, tag;
    uint64_t unit_bytes;  // XTS only
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
};

warpseal_status encrypt_bulk(const Bulk& bulk, const warpseal_key* key, const uint8_t* in,
                             uint8_t* out, size_t bytes, uint8_t* tag) {
    if (bulk.aead())
        return warpseal_seal_unsafe_iv(key, bulk.mode, bulk.iv.data(), bulk.iv.size(),
                                       bulk.aad.data(), bulk.aad.size(), in, out, bytes, tag,
                                       bulk.tag.size());
    if (bulk.mode == WARPSEAL_XTS)
        return warpseal_xts_encrypt(key, bulk.iv.data(), bulk.unit_bytes, in, out, bytes);
    return warpseal_encrypt(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), in, out, bytes);
}

warpseal_status decrypt_bulk(const Bulk& bulk, const warpseal_key* key, const uint8_t* in,
                             uint8_t* out, size_t bytes) {
    if (bulk.aead())
        return warpseal_open(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), bulk.aad.data(),
                             bulk.aad.size(), in, out, bytes, bulk.tag.data(), bulk.tag.size());
    if (bulk.mode == WARPSEAL_XTS)
        return warpseal_xts_decrypt(key, bulk.iv.data(), bulk.unit_bytes, in, out, bytes);
    return warpseal_decrypt(key, bulk.mode, bulk.iv.data(), bulk.iv.size(), in, out, bytes);
}

void check_bulk_ciphertext(const nlohmann::json& row, const uint8_t* data, size_t bytes,
                           const std::string& what) {
    const Octets head = hex_field(row, "ct_head"), tail = hex_field(row, "ct_tail");
    if (head.size() > bytes || tail.size() > bytes)
        throw RowSkipped("malformed row: ct_head or ct_tail longer than the message");
    require_equal(data, head, what + ": the head");
    require_equal(data + bytes - tail.size(), tail, what + ": the tail");
    require(digest_hex("SHA256", data, bytes) == text_field(row, "ct_sha256"),
            what + ": the SHA-256");
}

warpseal_status call_on_device(const Bulk& bulk, const warpseal_key* key, bool encrypt,
                               uint8_t* data, size_t bytes, void* stream) {
    if (bulk.mode == WARPSEAL_XTS)
        return (encrypt ? warpseal_xts_encrypt_device : warpseal_xts_decrypt_device)(
            key, bulk.iv.data(), bulk.unit_bytes, data, data, bytes, stream);
    return (encrypt ? warpseal_encrypt_device : warpseal_decrypt_device)(
        key, bulk.mode, bulk.iv.data(), bulk.iv.size(), data, data, bytes, stream);
}

// Works in place; `data` is the plaintext before and after. Serial modes are encrypted on the host.
void check_bulk_on_device(Tested& tested, const Bulk& bulk, const warpseal_key* key,
                          const Octets& plaintext, const nlohmann::json& row) {
    Octets data = plaintext;
    for (const bool encrypt : {true, false}) {
        const std::string what = std::string(encrypt ? "encrypt" : "decrypt") + " on the device";
        if (!has_device_call(bulk.mode, encrypt)) {
            if (encrypt)
                require_status(
                    encrypt_bulk(bulk, key, data.data(), data.data(), data.size(), nullptr),
                    WARPSEAL_OK, "encrypt");
            continue;
        }
        Arena arena;
        const size_t offset = arena.add(data);
        const auto work = [&](uint8_t* base, void* stream) {
            return call_on_device(bulk, key, encrypt, base + offset, data.size(), stream);
        };
        require_status(arena.run(tested, true, work), WARPSEAL_OK, what);
        if (encrypt)
            check_bulk_ciphertext(row, arena.at(offset), data.size(), what);
        else
            require_equal(arena.at(offset), plaintext, what);
        std::copy_n(arena.at(offset), data.size(), data.begin());
    }
}

}  // namespace

void check_bulk(Tested& tested, const nlohmann::json& row) {
    const warpseal_cipher_info cipher = tested.cipher(text_field(row, "cipher"));
    const uint64_t bytes = number_field(row, "pt_len");
    if (bytes > uint64_t{1} << 32) throw RowSkipped("malformed row: pt_len over 4 GiB");
    const Bulk bulk{tested.mode(cipher, text_field(row, "mode")), hex_field_or_empty(row, "iv"),
                    hex_field_or_empty(row, "aad"), hex_field_or_empty(row, "tag"),
                    row.contains("data_unit_len") ? number_field(row, "data_unit_len") : bytes};
    if (bulk.mode == WARPSEAL_CMAC) throw RowSkipped("bulk rows of cmac are not in this program");
    if (bulk.mode == WARPSEAL_XTS && bulk.iv.size() != 16)
        throw RowSkipped("malformed row: the number of a data unit is not 16 bytes");
    if (!row.at("valid").get<bool>())
        throw RowSkipped("malformed row: a bulk row that is not valid");
    const Octets plaintext = splitmix64_bytes(number_field(row, "pt_splitmix64_seed"), bytes);
    if (digest_hex("SHA256", plaintext.data(), bytes) != text_field(row, "pt_sha256"))
        throw RowSkipped("malformed row: pt_sha256 does not fit the seed");

    const RowKey row_key(tested, cipher, bulk.mode, hex_field(row, "key"));
    require(!row_key.rejected(), "a key of the wrong length");
    if (row_key.weak()) throw RowSkipped("malformed row: a bulk row under a weak key");
    const warpseal_key* key = row_key.open();
    Octets data(bytes, Arena::poison), tag(bulk.tag.size());
    require_status(encrypt_bulk(bulk, key, plaintext.data(), data.data(), bytes, tag.data()),
                   WARPSEAL_OK, "encrypt");
    check_bulk_ciphertext(row, data.data(), bytes, "encrypt");
    require(tag == bulk.tag, "encrypt: the tag");

    require_status(decrypt_bulk(bulk, key, data.data(), data.data(), bytes), WARPSEAL_OK,
                   "decrypt in place");
    require_equal(data.data(), plaintext, "decrypt in place");
    require_status(encrypt_bulk(bulk, key, data.data(), data.data(), bytes, tag.data()),
                   WARPSEAL_OK, "encrypt in place");
    check_bulk_ciphertext(row, data.data(), bytes, "encrypt in place");
    require(tag == bulk.tag, "encrypt in place: the tag");

    if (tested.has_device_memory() && has_device_call(bulk.mode, false))
        check_bulk_on_device(tested, bulk, key, plaintext, row);
}

}  // namespace warpseal::cli
