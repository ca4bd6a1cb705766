// Unfinished outputs in memory, and an audit of all that was ever visible of them.
#pragma once

#include <map>
#include <string>

#include "container/calls.h"
#include "container/resume/resume.h"

namespace tests {

// From now on fstat(2) reports these times for all files: a change of the input is not seen by
// them.
class FrozenTimes {
public:
    FrozenTimes();
    ~FrozenTimes();
    FrozenTimes(const FrozenTimes&) = delete;
};

// 2048 chunks of 16 KiB are one window.
constexpr size_t window_text = size_t{2048} * chunk;
constexpr size_t window_sealed = size_t{2048} * sealed_chunk;

struct Resumed {
    warpseal_status status = WARPSEAL_OK;
    warpseal_file_result result = {};
    bool continued = false, other_file = false;
    uint64_t kept_bytes = 0, output_bytes = 0;
    std::string not_continued;
};

inline Resumed resume(warpseal::Direction direction, const MemoryFile& in, const MemoryFile& out,
                      const warpseal_file_options& options, unsigned threads = 4) {
    Resumed resumed;
    warpseal_file_options positional = options;
    positional.any_order = 1;
    in.rewind();
    out.rewind();
    warpseal::container::Resumption facts{in.get(), out.get()};
    resumed.status = warpseal::container::resume(engine(threads), direction, positional, facts,
                                                 resumed.result, nullptr);
    resumed.continued = facts.continued;
    resumed.other_file = facts.other_file;
    resumed.kept_bytes = facts.kept_bytes;
    resumed.output_bytes = facts.output_bytes;
    resumed.not_continued = facts.not_continued.message;
    EXPECT_EQ(resumed.status == WARPSEAL_OK, resumed.result.message[0] == 0);
    return resumed;
}
inline Resumed seal(const MemoryFile& in, const MemoryFile& out,
                    const warpseal_file_options& options, unsigned threads = 4) {
    return resume(warpseal::Direction::encrypt, in, out, options, threads);
}
inline Resumed open(const MemoryFile& in, const MemoryFile& out,
                    const warpseal_file_options& options, unsigned threads = 4) {
    return resume(warpseal::Direction::decrypt, in, out, options, threads);
}

// Remembers each byte of a chunk that was ever in an unfinished output, by the salt of its payload.
// Two different bytes at one place are two texts under one nonce. A zero is no byte of a chunk, or
// one that is not remembered.
class NonceAudit {
public:
    // size: of the sealed file. Returns false after a violation.
    bool see(const Data& unfinished, size_t size) {
        if (unfinished.size() < size) return true;
        const auto at = [&](size_t offset) {
            return unfinished.begin() + static_cast<std::ptrdiff_t>(offset);
        };
        const std::string salt(at(payload_at), at(payload_at + 24));
        Data& seen = seen_[salt];
        seen.resize(std::max(seen.size(), size - chunks_at));
        size_t second = 0;
        for (size_t i = 0; i < size - chunks_at; ++i) {
            const uint8_t now = unfinished[chunks_at + i];
            second += now != 0 && seen[i] != 0 && now != seen[i] ? 1 : 0;
            if (now != 0) seen[i] = now;
        }
        return second == 0;
    }
    size_t payloads() const { return seen_.size(); }

private:
    std::map<std::string, Data> seen_;
};

inline size_t sealed_size(size_t text_bytes) {
    return chunks_at + text_bytes + (text_bytes / chunk + 1) * 16;
}

inline Data cut_to(const MemoryFile& file, uint64_t bytes) {
    Data all = file.data();
    EXPECT_GE(all.size(), bytes);
    all.resize(static_cast<size_t>(bytes));
    return all;
}

}  // namespace tests
