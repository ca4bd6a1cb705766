// Known answers in batches of three messages at odd distances. For opening and verifying, the
// middle one has a wrong tag.
#include <algorithm>

#include "cli/vectors/message.h"

namespace warpseal::cli {
namespace {

using BatchCall = decltype(&warpseal_encrypt_batch);
using DeviceCall = decltype(&warpseal_encrypt_batch_device);

struct Calls {
    BatchCall host;
    DeviceCall device;
};

Calls calls_for(const Message& m, bool encrypt) {
    if (m.aead())
        return encrypt ? Calls{warpseal_seal_batch_unsafe_iv, warpseal_seal_batch_device_unsafe_iv}
                       : Calls{warpseal_open_batch, warpseal_open_batch_device};
    if (m.mode == WARPSEAL_CMAC)
        return encrypt ? Calls{warpseal_mac_batch, warpseal_mac_batch_device}
                       : Calls{warpseal_mac_verify_batch, warpseal_mac_verify_batch_device};
    return encrypt ? Calls{warpseal_encrypt_batch, warpseal_encrypt_batch_device}
                   : Calls{warpseal_decrypt_batch, warpseal_decrypt_batch_device};
}

class BatchOfThree {
public:
    BatchOfThree(const Message& message, bool encrypt, bool own_keys);
    warpseal_status run(Tested& tested, const warpseal_key* key, bool on_device);
    void check(const std::string& what);
    bool verifies() const { return m_.tagged() && !encrypt_; }

private:
    warpseal_batch batch_at(uint8_t* base) const;
    void check_output(size_t i, bool spoilt, const std::string& which);

    static constexpr size_t count = 3;
    const Message& m_;
    const bool encrypt_, own_keys_, mac_;
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
      mac_(message.mode == WARPSEAL_CMAC),
      in_(encrypt || mac_ ? message.plaintext : message.ciphertext),
      in_stride_(in_.size() + 5),
      out_stride_(mac_ ? 0 : in_.size() + 11) {
    from_ = arena_.add(count * in_stride_, 1);
    to_ = arena_.add(count * out_stride_, 7);
    for (size_t i = 0; i < count; ++i)
        std::copy(in_.begin(), in_.end(), arena_.at(from_ + i * in_stride_));
    Octets tags = three_times(m_.tag);
    if (verifies() && m_.valid) tags[m_.tag.size()] ^= 0x10;
    if (!verifies()) std::fill(tags.begin(), tags.end(), Arena::poison);
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
    if (own_keys_) {  // Lengths and offsets are then given for each message.
        batch.keys = base + keys_;
        batch.lengths = reinterpret_cast<const uint64_t*>(base + lengths_);
        batch.in_offsets = reinterpret_cast<const uint64_t*>(base + in_offsets_);
        batch.out_offsets = mac_ ? nullptr : reinterpret_cast<const uint64_t*>(base + out_offsets_);
    }
    batch.ivs = m_.iv.empty() ? nullptr : base + ivs_;
    batch.iv_stride = m_.iv.size();
    batch.aad = m_.aad.empty() ? nullptr : base + aad_;
    batch.aad_bytes = m_.aad.size();
    batch.in = base + from_;
    batch.in_stride = in_stride_;
    batch.out = mac_ ? nullptr : base + to_;
    batch.out_stride = out_stride_;
    batch.tags = m_.tagged() ? base + tags_ : nullptr;
    batch.tag_stride = m_.tag.size();
    batch.statuses = reinterpret_cast<int32_t*>(base + statuses_);
    return batch;
}

warpseal_status BatchOfThree::run(Tested& tested, const warpseal_key* key, bool on_device) {
    const Calls calls = calls_for(m_, encrypt_);
    return arena_.run(tested, on_device, [&](uint8_t* base, void* stream) {
        const warpseal_batch batch = batch_at(base);
        return on_device ? calls.device(key, m_.mode, &batch, stream)
                         : calls.host(key, m_.mode, &batch);
    });
}

void BatchOfThree::check_output(size_t i, bool spoilt, const std::string& which) {
    const uint8_t* out = arena_.at(to_ + i * out_stride_);
    if (spoilt)
        require_wiped(out, in_.size(), which);
    else
        require_equal(out, encrypt_ ? m_.ciphertext : m_.plaintext, which);
    require(std::all_of(out + in_.size(), out + out_stride_,
                        [](uint8_t byte) { return byte == Arena::poison; }),
            which + ": a byte behind it was written");
}

void BatchOfThree::check(const std::string& what) {
    for (size_t i = 0; i < count; ++i) {
        const bool spoilt = verifies() && (i == 1 || !m_.valid);
        const std::string which = what + ", message " + std::to_string(i);
        int32_t status = -1;
        std::copy_n(arena_.at(statuses_ + i * sizeof status), sizeof status,
                    reinterpret_cast<uint8_t*>(&status));
        require(status == (spoilt ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK),
                which + ": status " + std::to_string(status));
        if (!mac_) check_output(i, spoilt, which);
        if (m_.tagged() && encrypt_)
            require_equal(arena_.at(tags_ + i * m_.tag.size()), m_.tag, which + ": the tag");
    }
}

void check_batch(Tested& tested, const Message& m, const RowKey& key, bool encrypt, bool own_keys,
                 bool on_device) {
    const std::string what = std::string(encrypt ? "encrypt" : "decrypt") + " in a batch" +
                             (own_keys ? " with its own key" : "") +
                             (on_device ? " on the device" : "");
    BatchOfThree batch(m, encrypt, own_keys);
    // True if the cipher runs in its encrypting direction, where weak keys matter.
    const bool encrypts = encrypt || m.mode == WARPSEAL_CMAC;
    // A call on the device returns before the tags are checked, so only the statuses show the
    // result.
    require_status(batch.run(tested, key.for_direction(encrypts), on_device),
                   batch.verifies() && !on_device ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK, what);
    batch.check(what);
    if (key.weak() && encrypt && !on_device)
        require_status(BatchOfThree(m, true, own_keys).run(tested, key.open(), false),
                       WARPSEAL_WEAK_KEY, what + " under a weak key");
}

}  // namespace

void check_batches(Tested& tested, const Message& m, const RowKey& key, bool encrypt) {
    for (const bool own_keys : {false, true}) {
        check_batch(tested, m, key, encrypt, own_keys, false);
        if (tested.has_device_memory()) check_batch(tested, m, key, encrypt, own_keys, true);
    }
}

}  // namespace warpseal::cli
