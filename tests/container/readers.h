// Readers of sealed files in memory, for the tests of warpseal/reader.h.
#pragma once

#include <functional>
#include <memory>

#include "files.h"
#include "warpseal/error.h"
#include "warpseal/reader.h"

namespace tests {

// An engine of the C interface that lives as long as the program.
inline warpseal_engine* c_engine(unsigned threads = 1) {
    const auto make = [](unsigned count) {
        warpseal_engine_options options = {};
        options.struct_bytes = sizeof options;
        options.device = "cpu";
        options.threads = count;
        warpseal_engine* made = nullptr;
        EXPECT_EQ(warpseal_engine_create(&options, &made), WARPSEAL_OK);
        return made;
    };
    static const auto destroy = [](warpseal_engine* engine) { warpseal_engine_destroy(engine); };
    static const std::unique_ptr<warpseal_engine, decltype(destroy)> one(make(1), destroy),
        four(make(4), destroy);
    return threads == 1 ? one.get() : four.get();
}

// An input of a callback: reads `data`, or what `read` returns if that is set.
struct CallbackInput {
    using Read = std::function<int64_t(uint64_t offset, uint8_t* out, size_t bytes)>;
    Data data;
    Read read;

    int64_t copy(uint64_t offset, uint8_t* out, size_t bytes) const {
        if (offset >= data.size()) return 0;
        bytes = std::min<size_t>(bytes, data.size() - static_cast<size_t>(offset));
        memcpy(out, data.data() + offset, bytes);
        return static_cast<int64_t>(bytes);
    }
    static int64_t call(void* user, uint64_t offset, void* out, size_t bytes) {
        const auto& input = *static_cast<CallbackInput*>(user);
        auto* const to = static_cast<uint8_t*>(out);
        return input.read ? input.read(offset, to, bytes) : input.copy(offset, to, bytes);
    }
};

// A reader, or the status with which opening it failed.
class Reader {
public:
    Reader(int descriptor, const warpseal_file_options& options, unsigned threads = 1) {
        result.struct_bytes = sizeof result;
        status = warpseal_reader_open(c_engine(threads), descriptor, &options, &reader_, &result);
    }
    Reader(CallbackInput& input, uint64_t bytes, const warpseal_file_options& options,
           unsigned threads = 1) {
        result.struct_bytes = sizeof result;
        status = warpseal_reader_open_callback(c_engine(threads), CallbackInput::call, &input,
                                               bytes, &options, &reader_, &result);
    }
    ~Reader() { warpseal_reader_close(reader_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    warpseal_reader* get() const { return reader_; }
    uint64_t size() const { return warpseal_reader_size(reader_); }

    struct Got {
        warpseal_status status = WARPSEAL_OK;
        size_t bytes = 0;
        Data out;  // all that was asked for; 0xa5 where nothing was written
        warpseal_file_result result = {};
        Data text() const { return {out.begin(), out.begin() + static_cast<ptrdiff_t>(bytes)}; }
    };
    Got read(uint64_t offset, size_t bytes) const {
        Got got;
        got.out.assign(bytes, 0xa5);
        got.result.struct_bytes = sizeof got.result;
        got.status = warpseal_reader_read_at(reader_, offset, got.out.data(), bytes, &got.bytes,
                                             &got.result);
        return got;
    }

    warpseal_status status;
    warpseal_file_result result = {};

private:
    warpseal_reader* reader_ = nullptr;
};

// Returns the part of `text` that a read returns.
inline Data part(const Data& text, uint64_t offset, size_t bytes) {
    const size_t begin = static_cast<size_t>(std::min<uint64_t>(offset, text.size()));
    const size_t end = begin + std::min(bytes, text.size() - begin);
    return {text.begin() + static_cast<ptrdiff_t>(begin),
            text.begin() + static_cast<ptrdiff_t>(end)};
}

}  // namespace tests
