// Sealed files to change, and what may come of opening a changed one.
#pragma once

#include <memory>
#include <string>

#include "tamperings.h"

namespace tests {

struct Sample {
    Options sealing, opening;
    Data text, file, other;  // other: the same text, sealed once more
    size_t first_chunk = chunks_at;

    void seal(size_t text_bytes, Random& random) {
        text = random.text(text_bytes);
        file = sealed(text, sealing);
        other = sealed(text, sealing);
    }
};
using Samples = std::vector<std::unique_ptr<Sample>>;

// Four samples for each number of bytes: with a key, with a passphrase too, and bare payloads of
// both key lengths.
inline Samples samples(const std::vector<size_t>& sizes) {
    Samples all;
    Random random(700);
    for (const size_t bytes : sizes)
        for (int kind = 0; kind < 4; ++kind) {
            auto one = std::make_unique<Sample>();
            if (kind < 2) {
                one->sealing.key(), one->opening.key();
                if (kind == 1) one->sealing.passphrase("another way in");
            } else {
                const size_t key_bytes = kind == 2 ? 16 : 32;
                one->sealing.bare(key_bytes), one->opening.bare(key_bytes);
                one->first_chunk = chunks_at - payload_at;
            }
            one->seal(bytes, random);
            all.push_back(std::move(one));
        }
    return all;
}

// Returns true if the output of a failed call is authentic. In order it is a prefix of the text, in
// whole chunks. In any order each chunk is at its offset, and between them are zeros.
inline bool is_authentic(const Data& got, const Data& text, bool any_order) {
    if (got.size() > text.size()) return false;
    for (size_t at = 0; at < got.size(); at += chunk) {
        const auto begin = got.begin() + static_cast<ptrdiff_t>(at);
        const auto end = begin + static_cast<ptrdiff_t>(std::min(chunk, got.size() - at));
        const bool is_text =
            std::equal(begin, end, text.begin() + static_cast<ptrdiff_t>(at)) &&
            (end - begin == static_cast<ptrdiff_t>(chunk) || got.size() == text.size());
        const bool is_hole =
            any_order && std::all_of(begin, end, [](uint8_t byte) { return byte == 0; });
        if (!is_text && !is_hole) return false;
    }
    return true;
}

// Returns the error in the result of opening a changed file, or "".
inline std::string wrong_with(const Tampered& changed, const Sample& sample, warpseal_status status,
                              const char* message, const Data& got, bool any_order) {
    switch (status) {
        case WARPSEAL_OK: {
            // Several changes may have made it the other file.
            const bool opens =
                sample.first_chunk == chunks_at && (differ_in_one_copy(changed.data, sample.file) ||
                                                    differ_in_one_copy(changed.data, sample.other));
            if (!opens) return "accepted";
            return got == sample.text ? "" : "another text";
        }
        case WARPSEAL_NOT_AUTHENTIC:
        case WARPSEAL_TRUNCATED:
        case WARPSEAL_WRONG_KEY:
        case WARPSEAL_UNSUPPORTED:
        case WARPSEAL_LIMIT_EXCEEDED:
            if (!is_authentic(got, sample.text, any_order)) return "unauthenticated bytes are out";
            return message[0] != 0 ? "" : "a failure without a message";
        default: break;
    }
    return (is_authentic(got, sample.text, any_order) ? "status "
                                                      : "unauthenticated bytes are out, status ") +
           std::to_string(status) + ": " + message;
}

}  // namespace tests
