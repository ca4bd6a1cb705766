// Memory of Python objects, by the buffer protocol or DLPack: host memory that is contiguous.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace warpseal::python {

class Array;  // of DLPack

// Memory of an argument that is only read. The memory stays valid and in place while this lives.
class InputBuffer {
public:
    // name: the argument, for error texts. Throws TypeError if the object is neither a buffer nor
    // an array, BufferError if it is not contiguous or lies in device memory.
    InputBuffer(nanobind::handle object, const char* name);
    ~InputBuffer();
    InputBuffer(const InputBuffer&) = delete;
    InputBuffer& operator=(const InputBuffer&) = delete;

    // Never null, also where size() is 0.
    const uint8_t* data() const { return data_; }
    size_t size() const { return size_; }

protected:
    // For optional arguments: None is an empty buffer.
    InputBuffer();
    void open(nanobind::handle object, const char* name);

private:
    static constexpr uint8_t nothing = 0;
    const uint8_t* data_ = &nothing;
    size_t size_ = 0;
    Py_buffer view_;
    std::unique_ptr<Array> array_;
};

class OptionalBuffer : public InputBuffer {
public:
    OptionalBuffer(nanobind::handle object, const char* name) {
        if (!object.is_none()) open(object, name);
    }
};

// Memory of an argument that is written.
class OutputBuffer {
public:
    // Throws as InputBuffer, and TypeError if the object is read-only.
    OutputBuffer(nanobind::handle object, const char* name);
    ~OutputBuffer();
    OutputBuffer(const OutputBuffer&) = delete;
    OutputBuffer& operator=(const OutputBuffer&) = delete;

    uint8_t* data() const { return data_; }
    size_t size() const { return size_; }
    // Throws ValueError unless the buffer has exactly this size.
    void require_size(size_t bytes) const;
    // Throws ValueError if it shares a byte with an input.
    void require_apart(const InputBuffer& input, const char* input_name) const;
    // Like require_apart for the first `input_bytes` of an input and `bytes` of this, which may
    // also begin at the same address.
    void require_same_or_apart(const InputBuffer& input, size_t input_bytes, size_t bytes,
                               const char* input_name) const;

private:
    const char* name_;
    uint8_t* data_ = nullptr;
    size_t size_ = 0;
    Py_buffer view_;
    std::unique_ptr<Array> array_;
};

// Makes a bytes object of that size, whose memory is written before anybody else sees it.
nanobind::object new_bytes(size_t bytes);
uint8_t* memory_of(const nanobind::object& bytes);

}  // namespace warpseal::python
