// Random changes of sealed files: bits, bytes, lengths, header copies, chunks, and parts of another
// file under the same key.
#pragma once

#include <algorithm>

#include "files.h"

namespace tests {

struct Tampered {
    Data data;
    const char* how;
};

// One random change of `data`, which may leave it as it is. Returns its name. `other` has the same
// length. Header copies lie between the fixed part, which ends at byte 4096, and the payload.
class Tampering {
public:
    // first_chunk: its offset in the file; chunks_at unless there is no header.
    Tampering(Data& data, const Data& other, size_t first_chunk, Random& random)
        : data_(data), other_(other), first_chunk_(first_chunk), random_(random) {
        at_ = position();
        bytes_ = 1 + random.length(random.one_in(4) ? 40000 : 40);
    }
    const char* apply() {
        switch (random_.below(10)) {
            case 0: return both_copies();
            case 1: return overwritten();
            case 2: return data_.resize(at_), "cut";
            case 3: return extended();
            case 4: return data_.erase(after(at_), after(at_ + bytes_)), "bytes removed";
            case 5: return inserted();
            case 6: return spliced(at_, at_ + bytes_);
            case 7: return a_part_of_another();
            case 8: return chunks();
            default: return flipped();
        }
    }

private:
    static constexpr size_t copy_at = 4096, copy_bytes = 28672;

    Data::iterator after(size_t offset) {
        return data_.begin() + static_cast<ptrdiff_t>(std::min(offset, data_.size()));
    }
    bool has_header() const { return first_chunk_ == chunks_at; }

    // Half of them are in the fields that the parsers read, and the first chunk's start.
    size_t position() {
        if (data_.empty()) return 0;
        const size_t anywhere = random_.below(data_.size());
        if (random_.one_in(2)) return anywhere;
        const size_t starts[] = {
            0,         copy_at, copy_at + copy_bytes - 80, copy_at + copy_bytes, payload_at - 80,
            payload_at};
        const size_t start = has_header() ? starts[random_.below(std::size(starts))] : 0;
        return std::min(start + random_.below(200), data_.size() - 1);
    }
    const char* flipped() {
        data_[at_] ^= static_cast<uint8_t>(1 << random_.below(8));
        return "a flipped bit";
    }
    const char* overwritten() {
        for (size_t i = at_; i < std::min(data_.size(), at_ + bytes_); ++i)
            data_[i] = static_cast<uint8_t>(random_.next());
        return "bytes overwritten";
    }
    const char* both_copies() {
        if (!has_header()) return flipped();
        const size_t offset = random_.below(random_.one_in(2) ? 300 : copy_bytes);
        const auto mask = static_cast<uint8_t>(1 + random_.below(255));
        data_[copy_at + offset] ^= mask;
        data_[copy_at + copy_bytes + offset] ^= mask;
        return "both header copies changed";
    }
    const char* extended() {
        const Data more = random_.one_in(2) ? random_.text(bytes_) : Data(after(0), after(bytes_));
        data_.insert(data_.end(), more.begin(), more.end());
        return "extended";
    }
    const char* inserted() {
        const Data more = random_.text(bytes_);
        data_.insert(after(at_), more.begin(), more.end());
        return "bytes inserted";
    }
    const char* spliced(size_t begin, size_t end) {
        for (size_t i = begin; i < std::min(data_.size(), end); ++i) data_[i] = other_[i];
        return "bytes of another file";
    }
    const char* a_part_of_another() {
        if (!has_header()) return spliced(0, first_chunk_);
        const size_t parts[][2] = {{0, copy_at},
                                   {copy_at, payload_at},
                                   {0, payload_at},
                                   {payload_at, chunks_at},
                                   {payload_at, data_.size()}};
        const auto& part = parts[random_.below(std::size(parts))];
        return spliced(part[0], part[1]);
    }
    size_t chunk_begin(size_t number) const { return first_chunk_ + number * sealed_chunk; }
    // Whole chunks in another place or number.
    const char* chunks() {
        const size_t whole = (data_.size() - first_chunk_) / sealed_chunk;
        if (whole == 0) return flipped();
        const size_t one = chunk_begin(random_.below(whole)),
                     two = chunk_begin(random_.below(whole));
        const Data copy(after(one), after(one + sealed_chunk));
        switch (random_.below(4)) {
            case 0:
                std::swap_ranges(after(one), after(one + sealed_chunk), after(two));
                return "chunks swapped";
            case 1: data_.insert(after(two), copy.begin(), copy.end()); return "a chunk repeated";
            case 2: data_.erase(after(one), after(one + sealed_chunk)); return "a chunk removed";
            default: return spliced(one, one + sealed_chunk);
        }
    }

    Data& data_;
    const Data& other_;
    const size_t first_chunk_;
    Random& random_;
    size_t at_ = 0, bytes_ = 0;
};

// Returns `file` with changes: one, or two or three of them in a quarter of the cases. It is
// neither `file` nor `other`.
inline Tampered tampered(const Data& file, const Data& other, size_t first_chunk, Random& random) {
    for (;;) {
        Tampered out = {file, ""};
        size_t changes = random.one_in(4) ? 2 + random.below(2) : 1;
        // A change of the length is the last one.
        for (; changes != 0 && out.data.size() == file.size(); --changes)
            out.how = Tampering(out.data, other, first_chunk, random).apply();
        if (out.data != file && out.data != other) return out;
    }
}

}  // namespace tests
