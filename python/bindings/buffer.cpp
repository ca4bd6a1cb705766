#include "bindings/buffer.h"

#include <nanobind/ndarray.h>

#include "bindings/errors.h"

namespace nb = nanobind;

namespace warpseal::python {

// Keeps an array of DLPack in place.
class Array {
public:
    Array(nb::ndarray<> array, size_t bytes, uint8_t* data)
        : array_(std::move(array)), bytes_(bytes), data_(data) {}
    size_t bytes() const { return bytes_; }
    uint8_t* data() const { return data_; }

private:
    const nb::ndarray<> array_;
    const size_t bytes_;
    uint8_t* const data_;
};

namespace {

// Device types of DLPack whose memory the cores read.
constexpr int dlpack_cpu = 1, dlpack_cuda_host = 3;

bool overlap(const uint8_t* a, size_t a_bytes, const uint8_t* b, size_t b_bytes) {
    const auto a_at = reinterpret_cast<uintptr_t>(a), b_at = reinterpret_cast<uintptr_t>(b);
    return a_bytes != 0 && b_bytes != 0 && a_at < b_at + b_bytes && b_at < a_at + a_bytes;
}

[[noreturn]] void throw_buffer_error(const char* format, const char* name) {
    PyErr_Format(PyExc_BufferError, format, name);
    throw nb::python_error();
}

// readinto of io's classes raises the same.
[[noreturn]] void throw_read_only(const char* name) {
    PyErr_Format(PyExc_TypeError, "%s is read-only: give a bytearray or another writable buffer",
                 name);
    throw nb::python_error();
}

// Imports an array that only DLPack describes, a tensor of PyTorch for example. Null: it is none.
std::unique_ptr<Array> import_array(nb::handle object, const char* name, bool writable) {
    if (PyObject_CheckBuffer(object.ptr()) != 0 || !nb::hasattr(object, "__dlpack_device__"))
        return nullptr;
    const int device = nb::cast<int>(object.attr("__dlpack_device__")()[0]);
    if (device != dlpack_cpu && device != dlpack_cuda_host)
        throw_buffer_error("%s lies in device memory: copy it to host memory", name);
    nb::ndarray<> array;
    nb::ndarray<nb::ro> readable;
    nb::ndarray<nb::ro, nb::c_contig> contiguous;
    if (!nb::try_cast(object, readable, false)) {
        object.attr("__dlpack__")();  // raises its own exception
        throw_buffer_error("%s: its DLPack array cannot be read", name);
    }
    if (!nb::try_cast(object, contiguous, false))
        throw_buffer_error("%s is not contiguous: give a contiguous copy", name);
    if (writable && !nb::try_cast(object, array, false)) throw_read_only(name);
    auto* const data = const_cast<void*>(contiguous.data());
    return std::make_unique<Array>(writable ? array : nb::ndarray<>(contiguous),
                                   contiguous.nbytes(), static_cast<uint8_t*>(data));
}

// Replaces the exception of PyObject_GetBuffer by one that names the argument, and throws.
[[noreturn]] void throw_refused(nb::handle object, const char* name, bool writable) {
    // NumPy raises ValueError.
    const bool refused = PyErr_ExceptionMatches(PyExc_BufferError) ||
                         PyErr_ExceptionMatches(PyExc_TypeError) ||
                         PyErr_ExceptionMatches(PyExc_ValueError);
    if (!refused) throw nb::python_error();
    PyErr_Clear();
    if (PyObject_CheckBuffer(object.ptr()) == 0) {
        const nb::str type = nb::str(nb::type_name(object.type()));
        PyErr_Format(PyExc_TypeError, "%s: a bytes-like object is needed, not %U", name,
                     type.ptr());
        throw nb::python_error();
    }
    Py_buffer view;
    const bool readable =
        writable && PyObject_GetBuffer(object.ptr(), &view, PyBUF_C_CONTIGUOUS) == 0;
    if (readable) PyBuffer_Release(&view);
    PyErr_Clear();
    if (readable) throw_read_only(name);
    throw_buffer_error("%s is not contiguous: give a contiguous copy", name);
}

}  // namespace

InputBuffer::InputBuffer() { view_.obj = nullptr; }

InputBuffer::InputBuffer(nb::handle object, const char* name) : InputBuffer() {
    open(object, name);
}

InputBuffer::~InputBuffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

void InputBuffer::open(nb::handle object, const char* name) {
    if (PyBytes_Check(object.ptr())) {
        char* data = nullptr;
        Py_ssize_t size = 0;
        if (PyBytes_AsStringAndSize(object.ptr(), &data, &size) != 0) throw nb::python_error();
        data_ = reinterpret_cast<const uint8_t*>(data);
        size_ = static_cast<size_t>(size);
        return;
    }
    array_ = import_array(object, name, false);
    if (array_) {
        size_ = array_->bytes();
        if (size_ != 0) data_ = array_->data();
        return;
    }
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) {
        view_.obj = nullptr;
        throw_refused(object, name, false);
    }
    size_ = static_cast<size_t>(view_.len);
    if (view_.buf != nullptr) data_ = static_cast<const uint8_t*>(view_.buf);
}

OutputBuffer::OutputBuffer(nb::handle object, const char* name) : name_(name) {
    view_.obj = nullptr;
    array_ = import_array(object, name, true);
    if (array_) {
        data_ = array_->data();
        size_ = array_->bytes();
        return;
    }
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0)
        throw_refused(object, name, true);
    data_ = static_cast<uint8_t*>(view_.buf);
    size_ = static_cast<size_t>(view_.len);
}

OutputBuffer::~OutputBuffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

void OutputBuffer::require_size(size_t bytes) const {
    if (size() != bytes)
        throw_value_error("%s: buffer must be %zu bytes, it has %zu", name_, bytes, size());
}

void OutputBuffer::require_apart(const InputBuffer& input, const char* input_name) const {
    if (overlap(data(), size(), input.data(), input.size()))
        throw_value_error("%s and %s overlap: use separate memory", name_, input_name);
}

void OutputBuffer::require_same_or_apart(const InputBuffer& input, size_t input_bytes, size_t bytes,
                                         const char* input_name) const {
    if (data() != input.data() && overlap(data(), bytes, input.data(), input_bytes))
        throw_value_error(
            "%s and %s overlap: begin both at the same address, or use separate "
            "memory",
            name_, input_name);
}

nb::object new_bytes(size_t bytes) {
    if (bytes > static_cast<size_t>(PY_SSIZE_T_MAX)) throw_status(WARPSEAL_LIMIT_EXCEEDED);
    nb::object made = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

uint8_t* memory_of(const nb::object& bytes) {
    return reinterpret_cast<uint8_t*>(PyBytes_AsString(bytes.ptr()));
}

}  // namespace warpseal::python
