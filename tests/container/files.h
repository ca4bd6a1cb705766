// In-memory files, pipes with a thread at each far end, and container calls, for the container's
// tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "container/file.h"
#include "support/random.h"

namespace tests {

using Data = std::vector<uint8_t>;
constexpr size_t chunk = 16384;
constexpr size_t sealed_chunk = 16400;
constexpr size_t payload_at = 61440;  // with header copies of the default size
constexpr size_t chunks_at = payload_at + 56;

// A regular file without a name.
class MemoryFile {
public:
    explicit MemoryFile(const Data& data = {})
        : descriptor_(memfd_create("container test", MFD_CLOEXEC)) {
        put(data);
        rewind();
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    int get() const { return descriptor_; }
    void rewind() const { lseek(descriptor_, 0, SEEK_SET); }
    void put(const Data& data, off_t at = 0) const {
        EXPECT_EQ(pwrite(descriptor_, data.data(), data.size(), at),
                  static_cast<ssize_t>(data.size()));
    }
    void put(uint8_t byte, size_t at) const {
        EXPECT_EQ(pwrite(descriptor_, &byte, 1, static_cast<off_t>(at)), 1);
    }
    void cut(size_t bytes) const {
        EXPECT_EQ(ftruncate(descriptor_, static_cast<off_t>(bytes)), 0);
    }
    size_t size() const {
        struct stat about;
        return fstat(descriptor_, &about) == 0 ? static_cast<size_t>(about.st_size) : 0;
    }
    Data data() const {
        Data out(size());
        EXPECT_EQ(pread(descriptor_, out.data(), out.size(), 0), static_cast<ssize_t>(out.size()));
        return out;
    }

private:
    int descriptor_;
};

// The reading end of a pipe that a thread fills.
class PipeSource {
public:
    explicit PipeSource(Data data, size_t step = 1 << 20) : data_(std::move(data)) {
        std::signal(SIGPIPE, SIG_IGN);  // its reader may give up
        EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
        thread_ = std::thread([this, step] {
            for (size_t at = 0; at < data_.size();) {
                const ssize_t moved =
                    write(ends_[1], data_.data() + at, std::min(step, data_.size() - at));
                if (moved <= 0) break;
                at += static_cast<size_t>(moved);
            }
            close(ends_[1]);
        });
    }
    ~PipeSource() {
        close(ends_[0]);
        thread_.join();
    }
    int get() const { return ends_[0]; }

private:
    const Data data_;
    int ends_[2] = {-1, -1};
    std::thread thread_;
};

// The writing end of a pipe that a thread empties.
class PipeSink {
public:
    PipeSink() {
        EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
        thread_ = std::thread([this] {
            uint8_t buffer[65536];
            for (ssize_t got; (got = read(ends_[0], buffer, sizeof buffer)) > 0;)
                data_.insert(data_.end(), buffer, buffer + got);
        });
    }
    ~PipeSink() {
        if (thread_.joinable()) finish();
        close(ends_[0]);
    }
    int get() const { return ends_[1]; }
    const Data& finish() {
        close(ends_[1]);
        thread_.join();
        return data_;
    }

private:
    int ends_[2] = {-1, -1};
    std::thread thread_;
    Data data_;
};

// Returns an engine that lives as long as the program.
inline warpseal::Engine& engine(unsigned threads = 1) {
    const auto make = [](unsigned count) {
        warpseal::EngineOptions options;
        options.device = "cpu";
        options.threads = count;
        std::unique_ptr<warpseal::Engine> made;
        if (warpseal::Engine::create(options, made) != WARPSEAL_OK)
            throw std::runtime_error("no engine");
        return made;
    };
    static const std::unique_ptr<warpseal::Engine> one = make(1), four = make(4);
    return threads == 1 ? *one : *four;
}

struct Options : warpseal_file_options {
    std::vector<warpseal_secret> list;
    std::vector<Data> held;

    Options() : warpseal_file_options{} {
        struct_bytes = sizeof(warpseal_file_options);
        argon2_passes = 1;  // for fast sealing; no test depends on the default cost
        argon2_memory_kib = 64;
    }
    Options(const Options&) = delete;
    Options& add(warpseal_secret_type type, Data bytes) {
        held.push_back(std::move(bytes));
        list.push_back({type, nullptr, 0});
        for (size_t i = 0; i < held.size(); ++i)
            list[i].bytes = held[i].data(), list[i].byte_count = held[i].size();
        secrets = list.data();
        secret_count = list.size();
        return *this;
    }
    Options& key(uint8_t which = 1) { return add(WARPSEAL_SECRET_KEY, Data(32, which)); }
    Options& passphrase(std::string_view text) {
        return add(WARPSEAL_SECRET_PASSPHRASE, Data(text.begin(), text.end()));
    }
    Options& bare(size_t key_bytes) {
        format = WARPSEAL_FORMAT_COBBLESTONE;
        return add(WARPSEAL_SECRET_KEY, Data(key_bytes, 7));
    }
};

struct Outcome {
    warpseal_status status = WARPSEAL_OK;
    warpseal_file_result result = {};
    Data out;
};

enum class Operation { seal, open };

inline warpseal_status call(Operation operation, int in, int out,
                            const warpseal_file_options& options, warpseal_file_result& result,
                            unsigned threads = 1) {
    result = {};
    return operation == Operation::seal
               ? warpseal::container::seal(engine(threads), in, out, options, result)
               : warpseal::container::open(engine(threads), in, out, options, result);
}

inline Outcome run(Operation operation, const Data& in, const warpseal_file_options& options,
                   unsigned threads = 1, bool pipe_in = false, bool pipe_out = false) {
    Outcome outcome;
    const auto with_output = [&](int source) {
        if (pipe_out) {
            PipeSink sink;
            outcome.status = call(operation, source, sink.get(), options, outcome.result, threads);
            outcome.out = sink.finish();
        } else {
            const MemoryFile sink;
            outcome.status = call(operation, source, sink.get(), options, outcome.result, threads);
            outcome.out = sink.data();
        }
    };
    if (pipe_in) {
        const PipeSource source(in, 1 + in.size() / 3);
        with_output(source.get());
    } else {
        const MemoryFile source(in);
        with_output(source.get());
    }
    EXPECT_EQ(outcome.status == WARPSEAL_OK, outcome.result.message[0] == 0)
        << outcome.result.message;
    return outcome;
}

inline Data sealed(const Data& text, const warpseal_file_options& options) {
    Outcome outcome = run(Operation::seal, text, options);
    EXPECT_EQ(outcome.status, WARPSEAL_OK) << outcome.result.message;
    return outcome.out;
}

inline bool is_prefix(const Data& part, const Data& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// Returns true if the files differ in one of the header copies alone. The other one then opens it.
inline bool differ_in_one_copy(const Data& changed, const Data& file) {
    if (changed.size() != file.size()) return false;
    const auto first = std::mismatch(changed.begin(), changed.end(), file.begin()).first;
    const auto last = std::mismatch(changed.rbegin(), changed.rend(), file.rbegin()).first;
    const size_t begin = static_cast<size_t>(first - changed.begin()),
                 end = static_cast<size_t>(changed.rend() - last);
    constexpr size_t middle = (4096 + payload_at) / 2;
    return (begin >= 4096 && end <= middle) || (begin >= middle && end <= payload_at);
}

}  // namespace tests
