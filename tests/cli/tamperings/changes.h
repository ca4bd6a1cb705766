// Random changes of a file of any format: bits, bytes, lengths, chunks, lines of a text header, and
// parts of another file for the same keys.
#pragma once

#include <algorithm>
#include <string>

#include "container/files.h"

namespace tests {

struct Layout {
    std::vector<size_t> starts;  // of fields that parsers read
    size_t first_chunk = 0, chunk_bytes = 0;
    bool has_lines = false;  // the header is text
};

// One random change of `data`, which may leave it as it is. Returns its name.
class Change {
public:
    Change(Data& data, const Data& other, const Layout& layout, Random& random)
        : data_(data), other_(other), layout_(layout), random_(random) {
        at_ = position();
        bytes_ = 1 + random.length(random.one_in(4) ? 20000 : 40);
    }
    const char* apply() {
        switch (random_.below(layout_.has_lines ? 12 : 9)) {
            case 0: return overwritten();
            case 1: return data_.resize(at_), "cut";
            case 2: return extended();
            case 3: return data_.erase(after(at_), after(at_ + bytes_)), "bytes removed";
            case 4: return inserted();
            case 5: return spliced(at_, at_ + bytes_), "bytes of another file";
            case 6: return spliced(0, layout_.first_chunk), "the header of another file";
            case 7: return chunks();
            case 9:
            case 10: return lines();
            case 11: return character();
            default: return flipped();
        }
    }

private:
    Data::iterator after(size_t offset) {
        return data_.begin() + static_cast<ptrdiff_t>(std::min(offset, data_.size()));
    }
    // Half of them are in the header, or at the start of the chunks.
    size_t position() {
        if (data_.empty()) return 0;
        const size_t anywhere = random_.below(data_.size());
        if (random_.one_in(2)) return anywhere;
        const size_t start = layout_.starts[random_.below(layout_.starts.size())];
        return std::min(start + random_.below(200), data_.size() - 1);
    }
    const char* flipped() {
        if (data_.empty()) return inserted();
        data_[at_] ^= static_cast<uint8_t>(1 << random_.below(8));
        return "a flipped bit";
    }
    const char* overwritten() {
        for (size_t i = at_; i < std::min(data_.size(), at_ + bytes_); ++i)
            data_[i] = static_cast<uint8_t>(random_.next());
        return "bytes overwritten";
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
    void spliced(size_t begin, size_t end) {
        for (size_t i = begin; i < std::min({data_.size(), other_.size(), end}); ++i)
            data_[i] = other_[i];
    }
    // Whole chunks in another place.
    const char* chunks() {
        const size_t whole =
            (data_.size() - std::min(data_.size(), layout_.first_chunk)) / layout_.chunk_bytes;
        if (whole == 0) return flipped();
        const auto begin = [&] {
            return layout_.first_chunk + random_.below(whole) * layout_.chunk_bytes;
        };
        const size_t one = begin(), two = begin();
        const Data copy(after(one), after(one + layout_.chunk_bytes));
        switch (random_.below(4)) {
            case 0:
                std::swap_ranges(after(one), after(one + layout_.chunk_bytes), after(two));
                return "chunks swapped";
            case 1: data_.insert(after(two), copy.begin(), copy.end()); return "a chunk repeated";
            case 2:
                data_.erase(after(one), after(one + layout_.chunk_bytes));
                return "a chunk removed";
            default: spliced(one, one + layout_.chunk_bytes); return "a chunk of another file";
        }
    }
    // The begins of the header's lines.
    std::vector<size_t> line_begins() const {
        std::vector<size_t> begins{0};
        for (size_t i = 0; i + 1 < std::min(layout_.first_chunk, data_.size()); ++i)
            if (data_[i] == '\n') begins.push_back(i + 1);
        begins.push_back(std::min(layout_.first_chunk, data_.size()));
        return begins;
    }
    const char* lines() {
        const std::vector<size_t> begins = line_begins();
        const size_t line = random_.below(begins.size() - 1),
                     last = std::min(line + 1 + random_.below(3), begins.size() - 1);
        const Data copy(after(begins[line]), after(begins[last]));
        const size_t to = begins[random_.below(begins.size())];
        switch (random_.below(3)) {
            case 0: data_.insert(after(to), copy.begin(), copy.end()); return "lines repeated";
            case 1: data_.erase(after(begins[line]), after(begins[last])); return "lines removed";
            default:
                std::rotate(after(begins[line]), after(begins[last]),
                            after(begins[random_.one_in(2) ? last : begins.size() - 1]));
                return "lines moved";
        }
    }
    // A character that such headers have, in place of another.
    const char* character() {
        static const std::string all =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/ \n->=\r\t";
        if (data_.empty()) return inserted();
        const size_t at = random_.below(std::min(data_.size(), layout_.first_chunk));
        data_[at] = static_cast<uint8_t>(all[random_.below(all.size())]);
        return "another character";
    }

    Data& data_;
    const Data& other_;
    const Layout& layout_;
    Random& random_;
    size_t at_ = 0, bytes_ = 0;
};

struct Changed {
    Data data;
    const char* how;
};

// Returns `file` with one change, or in a quarter of the cases two or three. It is neither `file`
// nor `other`.
inline Changed changed(const Data& file, const Data& other, const Layout& layout, Random& random) {
    for (;;) {
        Changed out = {file, ""};
        size_t changes = random.one_in(4) ? 2 + random.below(2) : 1;
        for (; changes != 0; --changes) out.how = Change(out.data, other, layout, random).apply();
        if (out.data != file && out.data != other) return out;
    }
}

}  // namespace tests
