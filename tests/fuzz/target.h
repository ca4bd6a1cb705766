// A fuzz target: a function of bytes, and claims that abort. Its seeds are the files of
// corpus/NAME, and those that a function makes. Compiled with WARPSEAL_LIBFUZZER it is libFuzzer's
// entry; otherwise replay.cpp mutates the seeds itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

using Data = std::vector<uint8_t>;

struct Target {
    const char* name;
    void (*run)(const uint8_t* data, size_t bytes);
    std::vector<Data> (*seeds)() = nullptr;
};

inline std::vector<Target>& all_targets() {
    static std::vector<Target>& all = *new std::vector<Target>;
    return all;
}

struct Registration {
    explicit Registration(Target target) { all_targets().push_back(target); }
};

// Aborts where a target's claim does not hold, so that any driver sees it.
inline void claim(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "CLAIM FAILED: %s\n", what);
    std::abort();
}

// Consumes an input from its start. Past its end all values are 0.
class Input {
public:
    Input(const uint8_t* data, size_t bytes) : at_(data), left_(bytes) {}
    size_t left() const { return left_; }
    uint64_t number(size_t bytes) {
        uint64_t out = 0;
        for (size_t i = 0; i < bytes && left_ != 0; ++i, ++at_, --left_) out = out << 8 | *at_;
        return out;
    }
    size_t below(size_t bound) { return static_cast<size_t>(number(bound > 256 ? 3 : 1) % bound); }
    Data take(size_t bytes) {
        Data out(bytes);
        const size_t have = std::min(bytes, left_);
        std::copy_n(at_, have, out.begin());
        at_ += have;
        left_ -= have;
        return out;
    }
    Data rest() { return take(left_); }

private:
    const uint8_t* at_;
    size_t left_;
};

// Applies patches to data: an offset from its end or start, a length, and the bytes to put there.
// The last patch may cut or extend.
inline void patch(Data& data, Input& input) {
    while (input.left() > 3) {
        const uint64_t kind = input.number(1), offset = input.number(2);
        const size_t at = std::min<size_t>(offset, data.size()),
                     from = kind & 1 ? data.size() - at : at;
        if (kind >= 0xf8) {
            data.resize(kind & 2 ? from : std::min<size_t>(data.size() + offset % 40'000, 400'000));
            continue;
        }
        const Data bytes = input.take(1 + (kind >> 1) % 16);
        for (size_t i = 0; i < bytes.size() && from + i < data.size(); ++i)
            data[from + i] ^= bytes[i];
    }
}

}  // namespace fuzz

#ifdef WARPSEAL_LIBFUZZER
// AddressSanitizer keeps few frames of each allocation: with 30, its default, that takes most of
// the time of a target that allocates much.
#define FUZZ_TARGET(name, run, ...)                                                     \
    extern "C" const char* __asan_default_options() { return "malloc_context_size=4"; } \
    extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {          \
        run(data, bytes);                                                               \
        return 0;                                                                       \
    }                                                                                   \
    static_assert(true)
#else
#define FUZZ_TARGET(name, run, ...) \
    static const fuzz::Registration registration({name, run __VA_OPT__(, ) __VA_ARGS__})
#endif
