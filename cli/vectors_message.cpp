// Known answers: one row through every kind of call that takes it: apart, in place, misaligned, in a batch, under its own key, on the
// device.
#include <algorithm>

#include "vectors_arena.h"

namespace warpseal::cli {
namespace {

struct Message {
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    Octets key, iv, aad, plaintext, ciphertext, tag;
    bool valid = true;
};

// The public calls take tags from 12 bytes on (SP 800-38D 5.2.1.2 allows 4 and 8 for some uses: our policy does not).
constexpr size_t shortest_public_tag = 12;

struct Way {
    bool in_place;
    size_t skew;
    bool on_device;
};

std::vector<Way> ways(const Subject& subject) {
    std::vector<Way> all{{false, 0, false}, {true, 0, false}, {false, 3, false}, {true, 9, false}};
    if (subject.has_device_memory()) all.insert(all.end(), {{false, 0, true}, {true, 16, true}, {false, 5, true}});
    return all;
}

std::string describe(const char* operation, const Way& way) {
    return std::string(operation) + (way.in_place ? " in place" : "") + (way.skew ? " misaligned" : "") +
           (way.on_device ? " on the device" : "");
}

void require_refused(warpseal_status status, const std::string& what) {
    require(status == WARPSEAL_INVALID_ARGUMENT || status == WARPSEAL_LIMIT_EXCEEDED || status == WARPSEAL_UNSUPPORTED,
            what + " is not refused: " + warpseal_status_text(status));
}

// ---- modes without a tag

void check_sweep(Subject& subject, const Message& m, const warpseal_key* key, bool encrypt, const Way& way) {
    const Octets& in = encrypt ? m.plaintext : m.ciphertext;
    const Octets& expected = encrypt ? m.ciphertext : m.plaintext;
    const std::string what = describe(encrypt ? "encrypt" : "decrypt", way);
    Arena arena;
    const size_t from = arena.add(in, way.skew);
    const size_t to = way.in_place ? from : arena.add(in.size(), way.skew);
    const auto work = [&](uint8_t* base, void* stream) {
        if (way.on_device)
            return (encrypt ? warpseal_encrypt_device : warpseal_decrypt_device)(key, m.mode, m.iv.data(), m.iv.size(), base + from,
                                                                                 base + to, in.size(), stream);
        return (encrypt ? warpseal_encrypt : warpseal_decrypt)(key, m.mode, m.iv.data(), m.iv.size(), base + from, base + to, in.size());
    };
    require_status(arena.run(subject, way.on_device, work), WARPSEAL_OK, what);
    require_equal(arena.at(to), expected, what);
    if (!way.in_place) require_equal(arena.at(from), in, what + ": the input");
}

// ---- one AEAD message

struct Seal {
    decltype(&warpseal_seal_unsafe_iv) seal;
    decltype(&warpseal_open) open;
};

constexpr Seal public_calls{warpseal_seal_unsafe_iv, warpseal_open};
constexpr Seal inner_calls{warpseal_inner_seal, warpseal_inner_open};

void check_seal(Subject& subject, const Message& m, const warpseal_key* key, const Seal& calls, const Way& way) {
    const std::string what = describe("seal", way);
    const size_t bytes = m.plaintext.size();
    Arena arena;
    const size_t from = arena.add(m.plaintext, way.skew);
    const size_t to = way.in_place ? from : arena.add(bytes, way.skew);
    const size_t tag = arena.add(m.tag.size());
    const auto work = [&](uint8_t* base, void*) {
        return calls.seal(key, m.mode, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), base + from, base + to, bytes, base + tag,
                          m.tag.size());
    };
    require_status(arena.run(subject, false, work), WARPSEAL_OK, what);
    require_equal(arena.at(to), m.ciphertext, what);
    require_equal(arena.at(tag), m.tag, what + ": the tag");
}

void check_open(Subject& subject, const Message& m, const warpseal_key* key, const Seal& calls, const Way& way, bool genuine) {
    const std::string what = describe("open", way) + (genuine ? "" : " of what is not authentic");
    const size_t bytes = m.ciphertext.size();
    Arena arena;
    const size_t from = arena.add(m.ciphertext, way.skew);
    const size_t to = way.in_place ? from : arena.add(bytes, way.skew);
    const auto work = [&](uint8_t* base, void*) {
        return calls.open(key, m.mode, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), base + from, base + to, bytes, m.tag.data(),
                          m.tag.size());
    };
    require_status(arena.run(subject, false, work), genuine ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC, what);
    if (genuine)
        require_equal(arena.at(to), m.plaintext, what);
    else
        require_wiped(arena.at(to), bytes, what);
}

void check_refused_by_policy(const Message& m, const warpseal_key* key) {
    const size_t bytes = m.ciphertext.size();
    Octets out(bytes + 1), tag(m.tag);
    require_refused(warpseal_open(key, m.mode, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), m.ciphertext.data(), out.data(), bytes,
                                  m.tag.data(), m.tag.size()),
                    "a public open with this tag or IV");
    require_wiped(out.data(), bytes, "a refused open");
    require_refused(warpseal_seal_unsafe_iv(key, m.mode, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), m.ciphertext.data(),
                                            out.data(), bytes, tag.data(), tag.size()),
                    "a public seal with this tag or IV");
}

// ---- batches: the message three times, at odd distances; when opening, the middle one under a spoilt tag

class BatchOfThree {
public:
    BatchOfThree(const Message& message, bool encrypt, bool own_keys);
    warpseal_status run(Subject& subject, const warpseal_key* key, bool on_device);
    void check(const std::string& what);
    bool opens() const { return aead_ && !encrypt_; }

private:
    warpseal_batch batch_at(uint8_t* base) const;

    static constexpr size_t count = 3;
    const Message& m_;
    const bool encrypt_, own_keys_, aead_;
    const Octets& in_;
    const size_t in_stride_, out_stride_;
    Arena arena_;
    size_t from_, to_, keys_, ivs_, tags_, aad_, statuses_, lengths_, in_offsets_, out_offsets_;
};

Octets three_times(const Octets& once) {
    Octets all;
    for (int i = 0; i < 3; ++i) all.insert(all.end(), once.begin(), once.end());
    return all;
}

BatchOfThree::BatchOfThree(const Message& message, bool encrypt, bool own_keys)
    : m_(message),
      encrypt_(encrypt),
      own_keys_(own_keys),
      aead_(message.mode == WARPSEAL_GCM),
      in_(encrypt ? message.plaintext : message.ciphertext),
      in_stride_(in_.size() + 5),
      out_stride_(in_.size() + 11) {
    from_ = arena_.add(count * in_stride_, 1);
    to_ = arena_.add(count * out_stride_, 7);
    for (size_t i = 0; i < count; ++i) std::copy(in_.begin(), in_.end(), arena_.at(from_ + i * in_stride_));
    Octets tags = three_times(m_.tag);
    if (opens() && m_.valid) tags[m_.tag.size()] ^= 0x10;
    if (!opens()) std::fill(tags.begin(), tags.end(), Arena::poison);
    keys_ = arena_.add(three_times(m_.key));
    ivs_ = arena_.add(three_times(m_.iv));
    tags_ = arena_.add(tags);
    aad_ = arena_.add(m_.aad);
    statuses_ = arena_.add_words(std::vector<int32_t>(count, -1));
    lengths_ = arena_.add_words(std::vector<uint64_t>(count, in_.size()));
    in_offsets_ = arena_.add_words(std::vector<uint64_t>{0, in_stride_, 2 * in_stride_});
    out_offsets_ = arena_.add_words(std::vector<uint64_t>{0, out_stride_, 2 * out_stride_});
}

warpseal_batch BatchOfThree::batch_at(uint8_t* base) const {
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = static_cast<uint32_t>(m_.iv.size());
    batch.tag_bytes = static_cast<uint32_t>(m_.tag.size());
    batch.message_count = count;
    batch.message_bytes = in_.size();
    if (own_keys_) {  // and the lengths and places one by one
        batch.keys = base + keys_;
        batch.lengths = reinterpret_cast<const uint64_t*>(base + lengths_);
        batch.in_offsets = reinterpret_cast<const uint64_t*>(base + in_offsets_);
        batch.out_offsets = reinterpret_cast<const uint64_t*>(base + out_offsets_);
    }
    batch.ivs = base + ivs_;
    batch.iv_stride = m_.iv.size();
    batch.aad = m_.aad.empty() ? nullptr : base + aad_;
    batch.aad_bytes = m_.aad.size();
    batch.in = base + from_;
    batch.in_stride = in_stride_;
    batch.out = base + to_;
    batch.out_stride = out_stride_;
    batch.tags = aead_ ? base + tags_ : nullptr;
    batch.tag_stride = m_.tag.size();
    batch.statuses = reinterpret_cast<int32_t*>(base + statuses_);
    return batch;
}

warpseal_status BatchOfThree::run(Subject& subject, const warpseal_key* key, bool on_device) {
    return arena_.run(subject, on_device, [&](uint8_t* base, void* stream) {
        const warpseal_batch batch = batch_at(base);
        if (on_device && aead_)
            return (encrypt_ ? warpseal_seal_batch_device_unsafe_iv : warpseal_open_batch_device)(key, m_.mode, &batch, stream);
        if (on_device) return (encrypt_ ? warpseal_encrypt_batch_device : warpseal_decrypt_batch_device)(key, m_.mode, &batch, stream);
        if (aead_) return (encrypt_ ? warpseal_seal_batch_unsafe_iv : warpseal_open_batch)(key, m_.mode, &batch);
        return (encrypt_ ? warpseal_encrypt_batch : warpseal_decrypt_batch)(key, m_.mode, &batch);
    });
}

void BatchOfThree::check(const std::string& what) {
    for (size_t i = 0; i < count; ++i) {
        const bool spoilt = opens() && (i == 1 || !m_.valid);
        const uint8_t* out = arena_.at(to_ + i * out_stride_);
        const std::string which = what + ", message " + std::to_string(i);
        int32_t status = -1;
        std::copy_n(arena_.at(statuses_ + i * sizeof status), sizeof status, reinterpret_cast<uint8_t*>(&status));
        require(status == (spoilt ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK), which + ": status " + std::to_string(status));
        if (spoilt)
            require_wiped(out, in_.size(), which);
        else
            require_equal(out, encrypt_ ? m_.ciphertext : m_.plaintext, which);
        if (aead_ && encrypt_) require_equal(arena_.at(tags_ + i * m_.tag.size()), m_.tag, which + ": the tag");
        require(std::all_of(out + in_.size(), out + out_stride_, [](uint8_t byte) { return byte == Arena::poison; }),
                which + ": a byte behind it was written");
    }
}

void check_batch(Subject& subject, const Message& m, const warpseal_key* key, bool encrypt, bool own_keys, bool on_device) {
    const std::string what = std::string(encrypt ? "encrypt" : "decrypt") + " in a batch" + (own_keys ? " with its own key" : "") +
                             (on_device ? " on the device" : "");
    BatchOfThree batch(m, encrypt, own_keys);
    // A call on the device returns before the tags are checked: the statuses alone tell.
    require_status(batch.run(subject, key, on_device), batch.opens() && !on_device ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK, what);
    batch.check(what);
}

void check_batches(Subject& subject, const Message& m, const warpseal_key* key, bool encrypt) {
    for (const bool own_keys : {false, true}) {
        check_batch(subject, m, key, encrypt, own_keys, false);
        if (subject.has_device_memory()) check_batch(subject, m, key, encrypt, own_keys, true);
    }
}

// ---- rows

void check_without_tag(Subject& subject, const Message& m, const warpseal_key* key) {
    for (const bool encrypt : {true, false}) {
        for (const Way& way : ways(subject)) check_sweep(subject, m, key, encrypt, way);
        if (m.mode == WARPSEAL_CTR) check_batches(subject, m, key, encrypt);
    }
    // An IV that is a byte too long or, where there is one, too short.
    Octets iv(m.iv.size() + 1), out(m.plaintext.size() + m.cipher.block_bytes);
    require_refused(warpseal_encrypt(key, m.mode, iv.data(), iv.size(), m.plaintext.data(), out.data(), m.plaintext.size()), "a longer IV");
    if (!m.iv.empty())
        require_refused(warpseal_encrypt(key, m.mode, iv.data(), iv.size() - 2, m.plaintext.data(), out.data(), m.plaintext.size()),
                        "a shorter IV");
    if (m.mode == WARPSEAL_ECB && !m.plaintext.empty())
        require_refused(warpseal_decrypt(key, m.mode, nullptr, 0, m.ciphertext.data(), out.data(), m.ciphertext.size() - 1),
                        "a block that is not whole");
}

void check_with_tag(Subject& subject, const Message& m, const warpseal_key* key) {
    if (m.iv.empty() || m.tag.empty() || m.tag.size() > 16) {  // the mode has no such message: nothing to compute, only to refuse
        require(!m.valid, "a valid row without an IV or with an impossible tag");
        return check_refused_by_policy(m, key);
    }
    const bool by_policy = m.tag.size() < shortest_public_tag;
    const Seal& calls = by_policy ? inner_calls : public_calls;
    if (by_policy) check_refused_by_policy(m, key);
    for (const Way& way : ways(subject)) {
        if (way.on_device) continue;  // on the device a message is a batch of one
        check_open(subject, m, key, calls, way, m.valid);
        if (!m.valid) continue;
        check_seal(subject, m, key, calls, way);
        Message spoilt = m;
        spoilt.tag[way.skew % m.tag.size()] ^= static_cast<uint8_t>(1 << way.skew % 8);
        check_open(subject, spoilt, key, calls, way, false);
    }
    if (by_policy) return;
    check_batches(subject, m, key, false);
    if (m.valid) check_batches(subject, m, key, true);
}

}  // namespace

void check_message(Subject& subject, const nlohmann::json& row) {
    Message m;
    m.cipher = subject.cipher(text_field(row, "cipher"));
    m.mode = subject.mode(m.cipher, text_field(row, "mode"));
    const bool aead = m.mode == WARPSEAL_GCM;
    m.key = hex_field(row, "key");
    m.iv = m.mode == WARPSEAL_ECB ? Octets{} : hex_field(row, "iv");
    m.aad = hex_field_or_empty(row, "aad");
    m.ciphertext = hex_field(row, "ct");
    if (aead) m.tag = hex_field(row, "tag");
    m.valid = row.at("valid").get<bool>();
    if (m.valid) m.plaintext = hex_field(row, "pt");
    if (m.valid && m.plaintext.size() != m.ciphertext.size()) throw RowSkipped("malformed row: pt and ct differ in length");

    KeyHandle key;
    const warpseal_status made = subject.key(m.cipher.name, m.key, key);
    if (!m.valid && made == WARPSEAL_INVALID_ARGUMENT) return;  // rejected at the key
    require_status(made, WARPSEAL_OK, "making the key");
    KeyHandle shorter;
    require_refused(subject.key(m.cipher.name, Octets(m.cipher.key_bytes - 1), shorter), "a key that is a byte short");

    if (aead) return check_with_tag(subject, m, key.get());
    if (m.valid) return check_without_tag(subject, m, key.get());
    Octets out(m.ciphertext.size() + 1);
    require_refused(warpseal_decrypt(key.get(), m.mode, m.iv.data(), m.iv.size(), m.ciphertext.data(), out.data(), m.ciphertext.size()),
                    "this row");
}

}  // namespace warpseal::cli
