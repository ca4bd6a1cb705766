// Known answers of modes without a tag: ECB, CTR, CBC, CFB, OFB, CBC with padding, and XTS.
#include <algorithm>

#include "cli/vectors/message.h"

namespace warpseal::cli {
namespace {

const Octets& input(const Message& m, bool encrypt) { return encrypt ? m.plaintext : m.ciphertext; }
const Octets& output(const Message& m, bool encrypt) {
    return encrypt ? m.ciphertext : m.plaintext;
}
const char* operation(bool encrypt) { return encrypt ? "encrypt" : "decrypt"; }

// One call in host memory or on the device.
using Call =
    std::function<warpseal_status(const uint8_t* in, uint8_t* out, bool on_device, void* stream)>;

void check_call(Tested& tested, const Message& m, bool encrypt, const CallPath& path,
                const Call& call) {
    const Octets& in = input(m, encrypt);
    const std::string what = describe(operation(encrypt), path);
    Arena arena;
    const size_t from = arena.add(in, path.skew);
    const size_t to = path.in_place ? from : arena.add(in.size(), path.skew);
    const auto work = [&](uint8_t* base, void* stream) {
        return call(base + from, base + to, path.on_device, stream);
    };
    require_status(arena.run(tested, path.on_device, work), WARPSEAL_OK, what);
    require_equal(arena.at(to), output(m, encrypt), what);
    if (!path.in_place) require_equal(arena.at(from), in, what + ": the input");
}

warpseal_status call_plain(const Message& m, const warpseal_key* key, bool encrypt,
                           const uint8_t* in, uint8_t* out, bool on_device, void* stream) {
    const size_t bytes = input(m, encrypt).size();
    if (on_device)
        return (encrypt ? warpseal_encrypt_device : warpseal_decrypt_device)(
            key, m.mode, m.iv.data(), m.iv.size(), in, out, bytes, stream);
    return (encrypt ? warpseal_encrypt : warpseal_decrypt)(key, m.mode, m.iv.data(), m.iv.size(),
                                                           in, out, bytes);
}

void check_refused_lengths(const Message& m, const RowKey& key) {
    const auto try_iv = [&](size_t iv_bytes, size_t bytes, const char* what) {
        const Octets iv(m.iv.size() + 1);
        Octets out(bytes + m.cipher.block_bytes);
        require_refused(warpseal_encrypt(key.encrypting(), m.mode, iv.data(), iv_bytes,
                                         m.plaintext.data(), out.data(), bytes),
                        what);
    };
    try_iv(m.iv.size() + 1, m.plaintext.size(), "a longer IV");
    if (!m.iv.empty()) try_iv(m.iv.size() - 1, m.plaintext.size(), "a shorter IV");
    const bool whole_blocks = m.mode == WARPSEAL_ECB || m.mode == WARPSEAL_CBC;
    if (whole_blocks && !m.plaintext.empty())
        try_iv(m.iv.size(), m.plaintext.size() - 1, "a block that is not whole");
}

void check_weak_refused(const Message& m, const RowKey& key) {
    Octets out(m.plaintext.size() + m.cipher.block_bytes);
    require_status(call_plain(m, key.open(), true, m.plaintext.data(), out.data(), false, nullptr),
                   WARPSEAL_WEAK_KEY, "a public encrypt under a weak key");
}

// ---- XTS

warpseal_status call_units(const Message& m, const warpseal_key* key, uint64_t unit_bytes,
                           bool encrypt, const uint8_t* in, uint8_t* out, bool on_device,
                           void* stream) {
    const size_t bytes = input(m, encrypt).size();
    if (on_device)
        return (encrypt ? warpseal_xts_encrypt_device : warpseal_xts_decrypt_device)(
            key, m.iv.data(), unit_bytes, in, out, bytes, stream);
    return (encrypt ? warpseal_xts_encrypt : warpseal_xts_decrypt)(key, m.iv.data(), unit_bytes, in,
                                                                   out, bytes);
}

// ---- padding

void check_padded_call(Tested& tested, const Message& m, const RowKey& key, bool encrypt,
                       const CallPath& path) {
    const Octets& in = input(m, encrypt);
    const Octets& expected = output(m, encrypt);
    const size_t capacity = m.ciphertext.size();
    const std::string what = describe(operation(encrypt), path) + " with padding";
    Arena arena;
    const size_t to = arena.add(capacity, path.skew);
    const size_t from = path.in_place ? to : arena.add(in, path.skew);
    std::copy(in.begin(), in.end(), arena.at(from));
    size_t wrote = SIZE_MAX;
    const auto work = [&](uint8_t* base, void*) {
        return (encrypt ? warpseal_encrypt_padded : warpseal_decrypt_padded)(
            key.for_direction(encrypt), m.iv.data(), m.iv.size(), base + from, in.size(), base + to,
            capacity, &wrote);
    };
    require_status(arena.run(tested, false, work), WARPSEAL_OK, what);
    require(wrote == expected.size(), what + ": the length");
    require_equal(arena.at(to), expected, what);
    if (!path.in_place) require_equal(arena.at(from), in, what + ": the input");
}

void check_bad_padding(Tested& tested, const Message& m, const RowKey& key, const CallPath& path) {
    const std::string what = describe("decrypt", path) + " of bad padding";
    const size_t bytes = m.ciphertext.size();
    Arena arena;
    const size_t from = arena.add(m.ciphertext, path.skew);
    const size_t to = path.in_place ? from : arena.add(bytes, path.skew);
    size_t wrote = SIZE_MAX;
    const auto work = [&](uint8_t* base, void*) {
        return warpseal_decrypt_padded(key.decrypting(), m.iv.data(), m.iv.size(), base + from,
                                       bytes, base + to, bytes, &wrote);
    };
    const warpseal_status status = arena.run(tested, false, work);
    if (bytes == 0 || bytes % m.cipher.block_bytes != 0) return require_refused(status, what);
    require_status(status, WARPSEAL_BAD_PADDING, what);
    require_wiped(arena.at(to), bytes, what);
}

}  // namespace

void check_plain(Tested& tested, const Message& m, const RowKey& key) {
    if (key.weak()) check_weak_refused(m, key);
    for (const bool encrypt : {true, false}) {
        for (const CallPath& path : call_paths(tested)) {
            if (path.on_device && !has_device_call(m.mode, encrypt)) continue;
            check_call(tested, m, encrypt, path,
                       [&](const uint8_t* in, uint8_t* out, bool on_device, void* stream) {
                           return call_plain(m, key.for_direction(encrypt), encrypt, in, out,
                                             on_device, stream);
                       });
        }
        if (m.mode != WARPSEAL_ECB) check_batches(tested, m, key, encrypt);
    }
    check_refused_lengths(m, key);
}

void check_units(Tested& tested, const Message& m, const RowKey& key) {
    if (m.iv.size() != 16)
        throw RowSkipped("malformed row: the number of a data unit is not 16 bytes");
    const size_t bytes = m.plaintext.size();
    for (const bool encrypt : {true, false})
        for (const CallPath& path : call_paths(tested))
            check_call(tested, m, encrypt, path,
                       [&](const uint8_t* in, uint8_t* out, bool on_device, void* stream) {
                           return call_units(m, key.for_direction(encrypt), bytes, encrypt, in, out,
                                             on_device, stream);
                       });
    constexpr uint64_t largest_unit = uint64_t{16} << 20;  // limit of 2^20 blocks of SP 800-38E
    Octets out(bytes);
    for (const uint64_t unit : {uint64_t{0}, uint64_t{15}, largest_unit + 1})
        require_refused(call_units(m, key.encrypting(), unit, true, m.plaintext.data(), out.data(),
                                   false, nullptr),
                        "a data unit of " + std::to_string(unit) + " bytes");
    require_refused(warpseal_xts_encrypt(key.encrypting(), m.iv.data(), bytes, m.plaintext.data(),
                                         out.data(), 15),
                    "a message of 15 bytes");
}

void check_padded(Tested& tested, const Message& m, const RowKey& key) {
    Octets out(m.plaintext.size() + m.cipher.block_bytes);
    size_t wrote = 0;
    const auto encrypt_into = [&](const warpseal_key* with, size_t capacity) {
        return warpseal_encrypt_padded(with, m.iv.data(), m.iv.size(), m.plaintext.data(),
                                       m.plaintext.size(), out.data(), capacity, &wrote);
    };
    if (key.weak())
        require_status(encrypt_into(key.open(), out.size()), WARPSEAL_WEAK_KEY,
                       "a public encrypt under a weak key");
    for (const CallPath& path : host_call_paths()) {
        if (!m.valid) {
            check_bad_padding(tested, m, key, path);
            continue;
        }
        check_padded_call(tested, m, key, true, path);
        check_padded_call(tested, m, key, false, path);
    }
    if (m.valid)
        require_refused(encrypt_into(key.encrypting(), m.ciphertext.size() - 1),
                        "an output without room for the padding");
}

}  // namespace warpseal::cli
