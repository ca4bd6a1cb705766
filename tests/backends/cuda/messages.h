// A random batch of any mode in one image of memory, as a caller would lay it out, with its
// expected outputs.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

#include "backends/batch_message.h"
#include "gpu.h"
#include "reference/ccm.h"
#include "reference/cmac.h"
#include "reference/gcm.h"

namespace gpu {

// Addressing of the parts of a batch. Scattered IVs, AAD, tags and texts lie in reverse order, AAD
// has a length of its own for each message.
enum class Places : uint8_t { strides, offsets, pointers };

struct BatchSpec {
    warpseal_mode mode = WARPSEAL_GCM;
    uint64_t count = 1;
    size_t bytes = 0;      // length of each message, or the maximum
    bool lengths = false;  // each its own length and offset
    double expected = 0;   // with lengths: the mean that the caller gives, divided by the real one
    bool full_lengths = false;    // with lengths: every message has `bytes`
    size_t shift = 0;             // bytes from alignment to the outputs, where they are not inputs
    bool own_aad_lengths = true;  // of scattered messages
    bool own_keys = false;
    bool in_place = false;
    size_t iv_bytes = 12, aad_bytes = 0, tag_bytes = 16;
    bool shared_iv = false, shared_aad = false;
    size_t gap = 16;         // between messages; 16 keeps them aligned
    size_t apart = 0;        // bytes between neighbours' IVs, their AADs and their tags
    bool statuses = true;    // requested
    size_t spoil_every = 0;  // opening: corrupt one message in this many
    Places places = Places::strides;

    bool seals() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    bool tagged() const { return seals() || mode == WARPSEAL_CMAC; }
    bool scattered() const { return places != Places::strides; }
    size_t iv_stride() const { return shared_iv ? 0 : iv_bytes + apart; }
    size_t aad_stride() const { return shared_aad ? 0 : aad_bytes + apart; }
    size_t tag_stride() const { return tag_bytes + apart; }
};

// Returns the tag, and the ciphertext where there is one.
inline reference::Sealed sealed(const BatchSpec& spec, const CudaCipher& cipher, const Text& key,
                                const Text& iv, const Text& aad, const Text& text) {
    reference::Sealed s;
    if (spec.mode == WARPSEAL_GCM && std::strncmp(cipher.name, "aes", 3) == 0) {  // also long ones
        s.ciphertext =
            oracle::run(std::string(cipher.name) + "-gcm", true, key, iv, aad, text, &s.tag);
    } else {
        const auto reference_cipher = tests::make_reference_cipher(cipher.name, key);
        if (spec.mode == WARPSEAL_CMAC)
            s.tag = reference::cmac(*reference_cipher, text);
        else
            s = spec.mode == WARPSEAL_GCM
                    ? reference::gcm_seal(*reference_cipher, iv, aad, text)
                    : reference::ccm_seal(*reference_cipher, iv, aad, text, spec.tag_bytes);
    }
    s.tag.resize(spec.tag_bytes);
    return s;
}

// All of a batch's memory is one image: offsets into it allow it to be placed on a device or on the
// host.
class Messages {
public:
    Messages(const BatchSpec& spec, const Key& key, Direction direction, tests::Random& random)
        : spec_(spec), direction_(direction) {
        const size_t whole = spec.mode == WARPSEAL_CBC ? key.cipher.block_bytes : 1;
        ivs_ = add(random.text(spec.shared_iv ? spec.iv_bytes : spec.iv_stride() * spec.count));
        aad_ = add(random.text(spec.shared_aad ? spec.aad_bytes : spec.aad_stride() * spec.count));
        if (spec.own_keys) keys_ = add(random.text(key.cipher.key_bytes * spec.count));
        for (uint64_t i = 0; i < spec.count; ++i) {
            lengths_.push_back(spec.lengths && !spec.full_lengths && spec.bytes != 0
                                   ? random.length(spec.bytes) % (spec.bytes + 1) / whole * whole
                                   : spec.bytes);
            aad_lengths_.push_back(spec.scattered() && spec.own_aad_lengths
                                       ? random.below(spec.aad_bytes + 1)
                                       : spec.aad_bytes);
        }
        pitch_ = spec.bytes + spec.gap;
        tags_ = add(Text(spec.tag_stride() * spec.count, 0xa5));
        statuses_ = add(Text(4 * spec.count, 0xa5));
        in_ = add(random.text(pitch_ * spec.count));
        out_ = spec.in_place ? in_ : add(Text(pitch_ * spec.count + spec.shift, 0xa5)) + spec.shift;
        lengths_at_ = add(bytes_of(lengths_));
        aad_lengths_at_ = add(bytes_of(aad_lengths_));
        text_offsets_at_ = add_offsets(pitch_);
        iv_offsets_at_ = add_offsets(spec.iv_stride());
        aad_offsets_at_ = add_offsets(spec.aad_stride());
        tag_offsets_at_ = add_offsets(spec.tag_stride());
        pointers_at_ = add(Text(5 * 8 * spec.count));
        right_ = image;
        refused = 0;
        for (uint64_t i = 0; i < spec.count; ++i) settle(key, i, random);
    }

    Text image;        // before the call, but for pointers
    uint64_t refused;  // number of messages that must not verify
    const Text& right() const { return right_; }
    // The right image if message i is refused and nothing of it is written.
    Text right_but_refused(uint64_t i, int32_t status = WARPSEAL_INVALID_ARGUMENT) const {
        Text out = right_;
        refuse(out, i, status);
        return out;
    }
    void refuse(Text& out, uint64_t i, int32_t status) const {
        const size_t text = text_place(i) * pitch_;
        write(out, out_ + text, slice(image, out_ + text, lengths_[i]));
        const size_t tag = tags_ + place(i) * spec_.tag_stride();
        write(out, tag, slice(image, tag, spec_.tag_bytes));
        std::memcpy(out.data() + statuses_ + 4 * i, &status, 4);
    }
    // Changes a length of message i in device memory, but not the expected outputs.
    void claim_text_bytes(uint64_t i, uint64_t bytes) { claim(lengths_at_, i, bytes); }
    void claim_aad_bytes(uint64_t i, uint64_t bytes) { claim(aad_lengths_at_, i, bytes); }
    std::vector<Text> ivs_in(const Text& now) const {
        std::vector<Text> all;
        for (uint64_t i = 0; i < spec_.count; ++i)
            all.push_back(slice(now, ivs_ + place(i) * spec_.iv_stride(), spec_.iv_bytes));
        return all;
    }
    std::vector<Text> texts_in(const Text& now) const {
        std::vector<Text> all;
        for (uint64_t i = 0; i < spec_.count; ++i)
            all.push_back(slice(now, in_ + text_place(i) * pitch_, lengths_[i]));
        return all;
    }
    size_t text_at() const { return in_; }
    size_t output_at() const { return out_; }

    // Returns the image with its pointers, for memory at `base`.
    const Text& placed_at(const uint8_t* base) {
        const size_t parts[] = {in_, out_, ivs_, aad_, tags_};
        const size_t strides[] = {pitch_, pitch_, spec_.iv_stride(), spec_.aad_stride(),
                                  spec_.tag_stride()};
        for (size_t part = 0; part < 5; ++part)
            for (uint64_t i = 0; i < spec_.count; ++i) {
                const uint8_t* const at = base + parts[part] + place(i) * strides[part];
                for (Text* to : {&image, &right_})
                    std::memcpy(to->data() + pointers_at_ + 8 * (part * spec_.count + i), &at, 8);
            }
        return image;
    }

    warpseal_scattered_batch at(uint8_t* base) const {
        warpseal_scattered_batch s{};
        warpseal_batch& b = s.batch;
        b.struct_bytes = sizeof s;
        b.iv_bytes = static_cast<uint32_t>(spec_.iv_bytes);
        b.tag_bytes = static_cast<uint32_t>(spec_.tag_bytes);
        b.message_count = spec_.count;
        b.message_bytes = spec_.lengths ? expected_bytes() : spec_.bytes;
        if (spec_.lengths) b.lengths = numbers(base + lengths_at_);
        b.keys = spec_.own_keys ? base + keys_ : nullptr;
        b.statuses = spec_.statuses ? reinterpret_cast<int32_t*>(base + statuses_) : nullptr;
        b.aad_bytes = spec_.aad_bytes;
        if (spec_.scattered() && spec_.own_aad_lengths)
            s.aad_lengths = numbers(base + aad_lengths_at_);
        if (spec_.places == Places::pointers) {
            auto* const all = reinterpret_cast<uint8_t**>(base + pointers_at_);
            s.in_pointers = all;
            if (spec_.mode != WARPSEAL_CMAC) s.out_pointers = all + spec_.count;
            s.iv_pointers = all + 2 * spec_.count;
            s.aad_pointers = all + 3 * spec_.count;
            s.tag_pointers = all + 4 * spec_.count;
            return s;
        }
        if (spec_.scattered()) {
            s.iv_offsets = numbers(base + iv_offsets_at_);
            s.aad_offsets = numbers(base + aad_offsets_at_);
            s.tag_offsets = numbers(base + tag_offsets_at_);
        }
        if (spec_.lengths || spec_.scattered())
            b.in_offsets = b.out_offsets = numbers(base + text_offsets_at_);
        b.ivs = base + ivs_;
        b.iv_stride = spec_.iv_stride();
        b.aad = base + aad_;
        b.aad_stride = spec_.aad_stride();
        b.in = base + in_;
        b.out = spec_.mode == WARPSEAL_CMAC ? nullptr : base + out_;
        b.in_stride = b.out_stride = pitch_;
        b.tags = base + tags_;
        b.tag_stride = spec_.tag_stride();
        return s;
    }

private:
    static const uint64_t* numbers(const uint8_t* at) {
        return reinterpret_cast<const uint64_t*>(at);
    }
    uint64_t expected_bytes() const {
        const auto total = std::accumulate(lengths_.begin(), lengths_.end(), uint64_t{0});
        return static_cast<uint64_t>(spec_.expected * static_cast<double>(total) /
                                     static_cast<double>(spec_.count));
    }
    // The place of message i among those of a part.
    uint64_t place(uint64_t i) const { return spec_.scattered() ? spec_.count - 1 - i : i; }
    uint64_t text_place(uint64_t i) const {
        return spec_.lengths || spec_.scattered() ? spec_.count - 1 - i : i;
    }
    size_t add(const Text& text) {
        const size_t here = (image.size() + 15) / 16 * 16;
        image.resize(here, 0xa5);
        image.insert(image.end(), text.begin(), text.end());
        return here;
    }
    void claim(size_t array, uint64_t i, uint64_t bytes) {
        for (Text* to : {&image, &right_}) std::memcpy(to->data() + array + 8 * i, &bytes, 8);
    }
    // Adds the offsets of a part in reverse.
    size_t add_offsets(size_t stride) {
        std::vector<uint64_t> offsets;
        for (uint64_t i = 0; i < spec_.count; ++i)
            offsets.push_back((spec_.count - 1 - i) * stride);
        return add(bytes_of(offsets));
    }
    static Text bytes_of(const std::vector<uint64_t>& numbers) {
        Text text(8 * numbers.size());
        if (!text.empty()) std::memcpy(text.data(), numbers.data(), text.size());
        return text;
    }
    // Computes the expected output of message i and, when opening, its input.
    void settle(const Key& key, uint64_t i, tests::Random& random) {
        const bool opening = spec_.tagged() && direction_ == Direction::decrypt;
        const size_t n = lengths_[i], offset = text_place(i) * pitch_,
                     tag_at = tags_ + place(i) * spec_.tag_stride();
        const Text secret =
            spec_.own_keys ? slice(image, keys_ + i * key.cipher.key_bytes, key.cipher.key_bytes)
                           : key.bytes;
        const Text iv = slice(image, ivs_ + place(i) * spec_.iv_stride(), spec_.iv_bytes);
        const Text aad = slice(image, aad_ + place(i) * spec_.aad_stride(), aad_lengths_[i]);
        const Text text = slice(image, in_ + offset, n);
        int32_t status = WARPSEAL_OK;
        Text out;
        if (!spec_.tagged()) {
            out = expected(key.cipher, spec_.mode, direction_, secret, iv, 0, text);
        } else {
            const reference::Sealed s = sealed(spec_, key.cipher, secret, iv, aad, text);
            out = s.ciphertext;
            Text tag = s.tag;
            if (!opening) {
                write(right_, tag_at, tag);
            } else {
                Text input = spec_.seals() ? s.ciphertext : text;
                out = spec_.seals() ? text : Text{};
                if (spec_.spoil_every != 0 && random.one_in(spec_.spoil_every)) {
                    Text& spoilt = n == 0 || random.one_in(2) ? tag : input;
                    spoilt[random.below(spoilt.size())] ^=
                        static_cast<uint8_t>(1u << random.below(8));
                    status = WARPSEAL_NOT_AUTHENTIC;
                    ++refused;
                    out.assign(out.size(), 0);
                }
                for (Text* to : {&image, &right_}) {
                    write(*to, in_ + offset, input);
                    write(*to, tag_at, tag);
                }
            }
        }
        write(right_, out_ + offset, out);
        if (spec_.statuses) std::memcpy(right_.data() + statuses_ + 4 * i, &status, 4);
    }

    const BatchSpec spec_;
    const Direction direction_;
    Text right_;
    std::vector<uint64_t> lengths_, aad_lengths_;
    size_t ivs_ = 0, aad_ = 0, keys_ = 0, tags_ = 0, statuses_ = 0, in_ = 0, out_ = 0, pitch_ = 0;
    // Arrays in the image.
    size_t lengths_at_ = 0, aad_lengths_at_ = 0, text_offsets_at_ = 0, iv_offsets_at_ = 0,
           aad_offsets_at_ = 0, tag_offsets_at_ = 0, pointers_at_ = 0;
};

inline BatchSpec random_spec(tests::Random& random, const CudaCipher& cipher, size_t bound) {
    static constexpr warpseal_mode modes[] = {WARPSEAL_GCM, WARPSEAL_CTR, WARPSEAL_CBC,
                                              WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CCM,
                                              WARPSEAL_CMAC};
    BatchSpec s;
    do s.mode = modes[random.below(7)];
    while ((cipher.modes >> s.mode & 1) == 0);
    s.count = random.one_in(3) ? 1 : 1 + random.below(70);
    s.bytes = random.below(bound + 1);
    if (s.mode == WARPSEAL_CBC) s.bytes = s.bytes / cipher.block_bytes * cipher.block_bytes;
    s.lengths = random.one_in(2);
    s.own_keys = random.one_in(2);
    s.in_place = random.one_in(2);
    s.iv_bytes = s.mode == WARPSEAL_GCM    ? random.one_in(2) ? 12 : 1 + random.below(100)
                    : s.mode == WARPSEAL_CCM ? 7 + random.below(7)
                 : s.mode == WARPSEAL_CMAC ? 0
                                           : cipher.block_bytes;
    s.aad_bytes = !s.seals() || random.one_in(2)               ? 0
                  : s.mode == WARPSEAL_CCM && random.one_in(8) ? 65280
                                                               : random.below(100);
    s.tag_bytes = s.mode == WARPSEAL_CCM    ? 4 + 2 * random.below(7)
                  : s.mode == WARPSEAL_GCM  ? random.one_in(2) ? 16 : 1 + random.below(16)
                   : s.mode == WARPSEAL_CMAC ? 1 + random.below(cipher.block_bytes)
                                            : 0;
    s.places = static_cast<Places>(random.below(3));
    s.shared_iv = !s.scattered() && random.one_in(4);
    s.shared_aad = !s.scattered() && (s.aad_bytes > 100 || random.one_in(2));
    static constexpr double expected[] = {0, 0.01, 1, 20};
    s.expected = expected[random.below(4)];
    s.own_aad_lengths = random.one_in(2);
    s.gap = random.one_in(2) ? 16 : random.below(40);
    s.apart = random.one_in(2) ? 0 : random.below(20);
    s.spoil_every = s.tag_bytes < 4 ? 0 : 5;  // a short tag may match a corrupted text
    return s;
}

class OnGpuBatches : public OnGpu {
protected:
    static const CudaCipher& aes(int bits) {
        for (const CudaCipher* cipher : ciphers())
            if (cipher->name == "aes-" + std::to_string(bits)) return *cipher;
        throw std::runtime_error("no AES");
    }
    static warpseal_status run(Key& key, warpseal_mode mode, Direction direction,
                               const warpseal_scattered_batch& batch) {
        return backend().batch_device(device, key.cipher, key.state(), mode, direction, batch,
                                      nullptr);
    }
};

}  // namespace gpu
