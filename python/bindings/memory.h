// Memory of arrays by address: host memory, or that of a GPU, by DLPack or the CUDA array
// interface. The modules around the extension choose the protocol and the stream.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "bindings/buffer.h"

namespace warpseal::python {

// Contiguous memory that stays valid and in place while this lives.
class Memory {
public:
    static constexpr int cuda = 2, cuda_managed = 13;  // device types of DLPack

    // Takes a capsule of DLPack over. name: the argument, for error texts. Throws BufferError if
    // the array is not contiguous, TypeError if it is written and read-only.
    static std::unique_ptr<Memory> from_dlpack(nanobind::handle capsule, const char* name,
                                               bool writable);
    // Memory of the GPU `device` that `owner` keeps alive.
    static std::unique_ptr<Memory> from_pointer(uint64_t address, uint64_t bytes, int device,
                                                nanobind::object owner);
    // Host memory by the buffer protocol, or DLPack.
    static std::unique_ptr<Memory> from_host(nanobind::handle object, const char* name,
                                             bool writable);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }
    uint64_t bytes() const { return bytes_; }
    // Number of the GPU; -1 for host memory.
    int device() const { return device_; }
    // A memoryview of host memory, valid as long as this.
    nanobind::object view() const;

private:
    Memory() = default;

    uint8_t* data_ = nullptr;
    uint64_t bytes_ = 0;
    int device_ = -1;
    nanobind::object owner_;
    std::unique_ptr<InputBuffer> input_;
    std::unique_ptr<OutputBuffer> output_;
    // The tensor of DLPack and what frees it; null if there is none.
    void* tensor_ = nullptr;
    void (*free_)(void* tensor) = nullptr;
};

}  // namespace warpseal::python
