// An engine with the fake GPU, for tests of files whose text lies in device memory.
#pragma once

#include <memory>

#include "container/reader.h"
#include "files.h"
#include "support/fake_backend.h"

namespace tests {

using warpseal::container::Fault;
using warpseal::container::Reader;
using warpseal::container::ReaderInput;

inline constexpr uint8_t untouched = 0xa5;

inline const Data& text() {
    static const Data made = Random(600).text(2 * 256 * chunk + 5 * chunk + 777);
    return made;
}

// An engine with the fake GPU, and memory of it.
class Machine {
public:
    explicit Machine(const Script& plan = {}, unsigned threads = 3, const char* device = "cuda") {
        warpseal::EngineOptions options;
        options.device = device;
        options.threads = threads;
        options.cuda = fake_backend(plan);
        EXPECT_EQ(warpseal::Engine::create(options, engine), WARPSEAL_OK);
        (void)engine->cuda_device();
    }
    ~Machine() {
        reader.reset();
        if (memory_ != nullptr) engine->device_free(memory_);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    uint8_t* allocate(size_t bytes) {
        if (memory_ != nullptr) engine->device_free(memory_);
        EXPECT_EQ(engine->device_alloc(bytes + 1, &memory_), WARPSEAL_OK);
        std::memset(memory_, untouched, bytes + 1);
        return static_cast<uint8_t*>(memory_);
    }
    warpseal_status open(const MemoryFile& file, const Options& options) {
        ReaderInput input;
        fault = Fault{};
        if (warpseal::container::input_of_descriptor(file.get(), input, fault) == WARPSEAL_OK)
            Reader::open(*engine, std::move(input), options, reader, fault);
        return fault.status;
    }
    warpseal_status open(ReaderInput input, const Options& options) {
        fault = Fault{};
        return Reader::open(*engine, std::move(input), options, reader, fault);
    }
    warpseal_status read(uint64_t offset, uint8_t* out, size_t bytes) {
        const char* target = nullptr;
        fault = Fault{};
        return reader->read_at_device(offset, out, bytes, &stream, got, target, fault);
    }
    Outcome seal(const uint8_t* in, size_t bytes, const Options& options) {
        const MemoryFile out;
        Outcome outcome;
        outcome.status = warpseal::container::seal_device(*engine, in, bytes, &stream, out.get(),
                                                          options, outcome.result);
        outcome.out = out.data();
        EXPECT_EQ(outcome.status == WARPSEAL_OK, outcome.result.message[0] == 0);
        return outcome;
    }

    std::unique_ptr<warpseal::Engine> engine;
    std::unique_ptr<Reader> reader;
    Fault fault;
    size_t got = 0;
    int stream = 0;

private:
    void* memory_ = nullptr;
};

class DeviceText : public testing::Test {
protected:
    DeviceText() : file_(sealed(text(), options_.key())) {}
    Options options_;
    const Data file_;
};

}  // namespace tests
