// Known answers of modes with a tag: GCM, CCM and CMAC, one message per call.
#include <algorithm>

#include "cli/vectors/message.h"

namespace warpseal::cli {
namespace {

// The public GCM calls require tags of at least 12 bytes. SP 800-38D 5.2.1.2 permits 4 and 8 for
// some uses, but our policy does not.
constexpr size_t shortest_public_gcm_tag = 12;

struct Seal {
    decltype(&warpseal_seal_unsafe_iv) seal;
    decltype(&warpseal_open) open;
};

constexpr Seal public_calls{warpseal_seal_unsafe_iv, warpseal_open};
constexpr Seal internal_calls{warpseal_internal_seal, warpseal_internal_open};

// Returns true if the mode permits these IV and tag lengths (SP 800-38D 5.2.1.1, SP 800-38C A.1).
bool has_such_message(const Message& m) {
    const size_t tag = m.tag.size(), iv = m.iv.size();
    if (m.mode == WARPSEAL_CCM) return tag >= 4 && tag <= 16 && tag % 2 == 0 && iv >= 7 && iv <= 13;
    return iv >= 1 && tag >= 1 && tag <= 16;
}

// Calls that must be refused never read their input, so the ciphertext serves as either text.
warpseal_status call_seal(const Seal& calls, const Message& m, const warpseal_key* key,
                          const uint8_t* in, uint8_t* out, uint8_t* tag) {
    return calls.seal(key, m.mode, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), in, out,
                      m.ciphertext.size(), tag, m.tag.size());
}

warpseal_status call_open(const Seal& calls, const Message& m, const warpseal_key* key,
                          const uint8_t* in, uint8_t* out) {
    return calls.open(key, m.mode, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), in, out,
                      m.ciphertext.size(), m.tag.data(), m.tag.size());
}

void check_seal(Tested& tested, const Message& m, const warpseal_key* key, const Seal& calls,
                const CallPath& path) {
    const std::string what = describe("seal", path);
    Arena arena;
    const size_t from = arena.add(m.plaintext, path.skew);
    const size_t to = path.in_place ? from : arena.add(m.plaintext.size(), path.skew);
    const size_t tag = arena.add(m.tag.size());
    const auto work = [&](uint8_t* base, void*) {
        return call_seal(calls, m, key, base + from, base + to, base + tag);
    };
    require_status(arena.run(tested, false, work), WARPSEAL_OK, what);
    require_equal(arena.at(to), m.ciphertext, what);
    require_equal(arena.at(tag), m.tag, what + ": the tag");
}

void check_open(Tested& tested, const Message& m, const warpseal_key* key, const Seal& calls,
                const CallPath& path, bool genuine) {
    const std::string what = describe("open", path) + (genuine ? "" : " of what is not authentic");
    const size_t bytes = m.ciphertext.size();
    Arena arena;
    const size_t from = arena.add(m.ciphertext, path.skew);
    const size_t to = path.in_place ? from : arena.add(bytes, path.skew);
    const auto work = [&](uint8_t* base, void*) {
        return call_open(calls, m, key, base + from, base + to);
    };
    require_status(arena.run(tested, false, work), genuine ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC,
                   what);
    if (genuine)
        require_equal(arena.at(to), m.plaintext, what);
    else
        require_wiped(arena.at(to), bytes, what);
}

void check_refused(const Message& m, const warpseal_key* key) {
    const size_t bytes = m.ciphertext.size();
    Octets out(bytes + 1), tag(m.tag.size() + 1);
    require_refused(call_open(public_calls, m, key, m.ciphertext.data(), out.data()),
                    "a public open with this tag or IV");
    require_wiped(out.data(), bytes, "a refused open");
    require_refused(call_seal(public_calls, m, key, m.ciphertext.data(), out.data(), tag.data()),
                    "a public seal with this tag or IV");
}

Message with_spoilt_tag(const Message& m, const CallPath& path) {
    Message spoilt = m;
    spoilt.tag[path.skew % m.tag.size()] ^= static_cast<uint8_t>(1 << path.skew % 8);
    return spoilt;
}

// ---- CMAC

void check_mac_call(Tested& tested, const Message& m, const RowKey& key, const CallPath& path) {
    const std::string what = describe("mac", path);
    Arena arena;
    const size_t from = arena.add(m.plaintext, path.skew), tag = arena.add(m.tag.size(), path.skew);
    const auto work = [&](uint8_t* base, void*) {
        return warpseal_mac(key.encrypting(), m.mode, base + from, m.plaintext.size(), base + tag,
                            m.tag.size());
    };
    require_status(arena.run(tested, false, work), WARPSEAL_OK, what);
    require_equal(arena.at(from), m.plaintext, what + ": the message");
    if (m.valid) return require_equal(arena.at(tag), m.tag, what);
    require(!std::equal(m.tag.begin(), m.tag.end(), arena.at(tag)),
            what + ": the tag of a row that is not valid comes out");
}

void check_verify(Tested& tested, const Message& m, const RowKey& key, const CallPath& path,
                  bool genuine) {
    const std::string what =
        describe("verify", path) + (genuine ? "" : " of what is not authentic");
    Arena arena;
    const size_t from = arena.add(m.plaintext, path.skew), tag = arena.add(m.tag, path.skew);
    const auto work = [&](uint8_t* base, void*) {
        return warpseal_mac_verify(key.encrypting(), m.mode, base + from, m.plaintext.size(),
                                   base + tag, m.tag.size());
    };
    require_status(arena.run(tested, false, work), genuine ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC,
                   what);
}

}  // namespace

void check_aead(Tested& tested, const Message& m, const RowKey& key) {
    if (!has_such_message(m)) {  // No output exists; only refusal is checked.
        require(!m.valid, "a valid row without an IV or with an impossible tag");
        return check_refused(m, key.open());
    }
    const bool by_policy = m.mode == WARPSEAL_GCM && m.tag.size() < shortest_public_gcm_tag;
    const Seal& calls = by_policy ? internal_calls : public_calls;
    if (by_policy) check_refused(m, key.open());
    // Device memory has batches only; check_batches covers them.
    for (const CallPath& path : host_call_paths()) {
        check_open(tested, m, key.open(), calls, path, m.valid);
        if (!m.valid) continue;
        check_seal(tested, m, key.open(), calls, path);
        check_open(tested, with_spoilt_tag(m, path), key.open(), calls, path, false);
    }
    if (by_policy) return;
    check_batches(tested, m, key, false);
    if (m.valid) check_batches(tested, m, key, true);
}

void check_mac(Tested& tested, const Message& m, const RowKey& key) {
    Octets tag(m.cipher.block_bytes + 1);
    const auto make_tag = [&](const warpseal_key* with, size_t tag_bytes) {
        return warpseal_mac(with, m.mode, m.plaintext.data(), m.plaintext.size(), tag.data(),
                            tag_bytes);
    };
    if (m.tag.empty() || m.tag.size() > m.cipher.block_bytes) {
        require(!m.valid, "a valid row with an impossible tag");
        return require_refused(warpseal_mac_verify(key.encrypting(), m.mode, m.plaintext.data(),
                                                   m.plaintext.size(), m.tag.data(), m.tag.size()),
                               "verifying such a tag");
    }
    if (key.weak())
        require_status(make_tag(key.open(), m.tag.size()), WARPSEAL_WEAK_KEY,
                       "a public mac under a weak key");
    require_refused(make_tag(key.encrypting(), 0), "a tag of no bytes");
    require_refused(make_tag(key.encrypting(), tag.size()), "a tag longer than a block");
    for (const CallPath& path : host_call_paths()) {
        if (path.in_place) continue;  // A MAC has no output that could overlap the message.
        check_mac_call(tested, m, key, path);
        check_verify(tested, m, key, path, m.valid);
        if (m.valid) check_verify(tested, with_spoilt_tag(m, path), key, path, false);
    }
    check_batches(tested, m, key, false);
    if (m.valid) check_batches(tested, m, key, true);
}

}  // namespace warpseal::cli
