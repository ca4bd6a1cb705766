#include "bindings/memory.h"

#include <cstring>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/calls.h"
#include "bindings/engine.h"
#include "bindings/errors.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

// The structs of DLPack 1.0 and, without a version, those before it.
struct DlDevice {
    int32_t type, id;
};
struct DlTensor {
    void* data;
    DlDevice device;
    int32_t dimensions;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } type;
    int64_t* shape;
    int64_t* strides;  // in elements; null: contiguous
    uint64_t byte_offset;
};
struct DlManaged {
    DlTensor tensor;
    void* context;
    void (*deleter)(DlManaged* self);
};
struct DlManagedVersioned {
    uint32_t major, minor;
    void* context;
    void (*deleter)(DlManagedVersioned* self);
    uint64_t flags;
    DlTensor tensor;
};
constexpr uint64_t read_only_flag = 1;
constexpr uint32_t supported_major = 1;
constexpr int cpu_device = 1, cuda_host_device = 3;

template <class Managed>
void free_tensor(void* tensor) {
    auto* const managed = static_cast<Managed*>(tensor);
    if (managed->deleter != nullptr) managed->deleter(managed);
}

[[noreturn]] void throw_buffer_error(const char* format, const char* name) {
    PyErr_Format(PyExc_BufferError, format, name);
    throw nb::python_error();
}

// Checks that the elements lie side by side, in the order of the indices. Returns their bytes.
uint64_t contiguous_bytes(const DlTensor& tensor, const char* name) {
    const uint64_t bits = uint64_t{tensor.type.bits} * tensor.type.lanes;
    if (bits % 8 != 0)
        throw_buffer_error("%s has elements of less than a byte: give a view of bytes", name);
    uint64_t count = 1;
    for (int32_t i = 0; i < tensor.dimensions; ++i) count *= static_cast<uint64_t>(tensor.shape[i]);
    uint64_t expected = 1;
    for (int32_t i = tensor.dimensions; count != 0 && tensor.strides != nullptr && i-- > 0;) {
        if (tensor.shape[i] != 1 && static_cast<uint64_t>(tensor.strides[i]) != expected)
            throw_buffer_error("%s is not contiguous: give a contiguous copy", name);
        expected *= static_cast<uint64_t>(tensor.shape[i]);
    }
    return count * (bits / 8);
}

}  // namespace

std::unique_ptr<Memory> Memory::from_dlpack(nb::handle capsule, const char* name, bool writable) {
    std::unique_ptr<Memory> made(new Memory);
    const bool versioned = PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0;
    if (!versioned && PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0)
        throw_buffer_error("%s: __dlpack__ returned no capsule of an array", name);
    void* const tensor =
        PyCapsule_GetPointer(capsule.ptr(), versioned ? "dltensor_versioned" : "dltensor");
    if (PyCapsule_SetName(capsule.ptr(), versioned ? "used_dltensor_versioned" : "used_dltensor") !=
        0)
        throw nb::python_error();
    made->tensor_ = tensor;
    made->free_ = versioned ? free_tensor<DlManagedVersioned> : free_tensor<DlManaged>;
    const auto* const with_version = static_cast<const DlManagedVersioned*>(tensor);
    if (versioned && with_version->major > supported_major)
        throw_buffer_error("%s: its DLPack version is newer than this package", name);
    const DlTensor& array =
        versioned ? with_version->tensor : static_cast<const DlManaged*>(tensor)->tensor;
    if (versioned && writable && (with_version->flags & read_only_flag) != 0) {
        PyErr_Format(PyExc_TypeError, "%s is read-only: give an array that can be written", name);
        throw nb::python_error();
    }
    made->bytes_ = contiguous_bytes(array, name);
    made->data_ = static_cast<uint8_t*>(array.data) + array.byte_offset;
    const bool gpu = array.device.type == cuda || array.device.type == cuda_managed;
    if (!gpu && array.device.type != cpu_device && array.device.type != cuda_host_device)
        throw_buffer_error("%s lies in the memory of a device that is no NVIDIA GPU", name);
    made->device_ = gpu ? array.device.id : -1;
    return made;
}

std::unique_ptr<Memory> Memory::from_pointer(uint64_t address, uint64_t bytes, int device,
                                             nb::object owner) {
    std::unique_ptr<Memory> made(new Memory);
    made->data_ = reinterpret_cast<uint8_t*>(address);
    made->bytes_ = bytes;
    made->device_ = device;
    made->owner_ = std::move(owner);
    return made;
}

std::unique_ptr<Memory> Memory::from_host(nb::handle object, const char* name, bool writable) {
    std::unique_ptr<Memory> made(new Memory);
    made->owner_ = nb::borrow(object);
    if (writable) {
        made->output_ = std::make_unique<OutputBuffer>(object, name);
        made->data_ = made->output_->data();
        made->bytes_ = made->output_->size();
    } else {
        made->input_ = std::make_unique<InputBuffer>(object, name);
        made->data_ = const_cast<uint8_t*>(made->input_->data());  // is only read
        made->bytes_ = made->input_->size();
    }
    return made;
}

Memory::~Memory() {
    if (tensor_ != nullptr) free_(tensor_);
}

nb::object Memory::view() const {
    static uint8_t nothing;
    if (device_ >= 0) throw_value_error("memory of a GPU has no view in host memory");
    const int access = output_ != nullptr ? PyBUF_WRITE : PyBUF_READ;
    nb::object made =
        nb::steal(PyMemoryView_FromMemory(reinterpret_cast<char*>(bytes_ != 0 ? data_ : &nothing),
                                          static_cast<Py_ssize_t>(bytes_), access));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

namespace {

// Memory of the engine's first GPU, for arrays whose library gives none.
class DeviceBuffer {
public:
    DeviceBuffer(nb::handle engine, uint64_t bytes) : engine_(engine_of(engine)) {
        check(without_gil(true,
                          [&] { return warpseal_device_alloc(engine_.get(), bytes, &memory_); }));
    }
    ~DeviceBuffer() { warpseal_device_free(engine_.get(), memory_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    uint64_t address() const { return reinterpret_cast<uint64_t>(memory_); }

private:
    const EngineHandle engine_;
    void* memory_ = nullptr;
};

// Copies a buffer to device memory, and waits.
void upload(nb::handle engine_argument, uint64_t address, nb::handle data_argument) {
    const EngineHandle engine = engine_of(engine_argument);
    const InputBuffer data(data_argument, "data");
    check(without_gil(true, [&] {
        return warpseal_device_upload(engine.get(), reinterpret_cast<void*>(address), data.data(),
                                      data.size());
    }));
}

nb::bytes download(nb::handle engine_argument, uint64_t address, uint64_t bytes) {
    const EngineHandle engine = engine_of(engine_argument);
    nb::object out = new_bytes(bytes);
    check(without_gil(true, [&] {
        return warpseal_device_download(engine.get(), memory_of(out),
                                        reinterpret_cast<const void*>(address), bytes);
    }));
    return nb::borrow<nb::bytes>(out);
}

void synchronize(nb::handle engine_argument, uint64_t stream) {
    const EngineHandle engine = engine_of(engine_argument);
    check(without_gil(true, [&] {
        return warpseal_device_synchronize(engine.get(), reinterpret_cast<void*>(stream));
    }));
}

}  // namespace

void bind_memory(nb::module_& module) {
    nb::class_<Memory>(module, "Memory")
        .def_static(
            "from_dlpack",
            [](nb::handle capsule, const char* name, bool writable) {
                return Memory::from_dlpack(capsule, name, writable).release();
            },
            nb::arg("capsule"), nb::arg("name"), nb::arg("writable"), nb::rv_policy::take_ownership)
        .def_static(
            "from_pointer",
            [](uint64_t address, uint64_t size, int device, nb::object owner) {
                return Memory::from_pointer(address, size, device, std::move(owner)).release();
            },
            nb::arg("address"), nb::arg("size"), nb::arg("device"), nb::arg("owner"),
            nb::rv_policy::take_ownership)
        .def_static(
            "from_host",
            [](nb::handle array, const char* name, bool writable) {
                return Memory::from_host(array, name, writable).release();
            },
            nb::arg("array"), nb::arg("name"), nb::arg("writable"), nb::rv_policy::take_ownership)
        .def_prop_ro("address", &Memory::address)
        .def_prop_ro("size", &Memory::bytes)
        .def_prop_ro("device", &Memory::device)
        .def("view", &Memory::view);
    nb::class_<DeviceBuffer>(module, "DeviceBuffer")
        .def(nb::init<nb::handle, uint64_t>(), nb::arg("engine").none(), nb::arg("size"))
        .def_prop_ro("address", &DeviceBuffer::address);
    module.def("upload", upload, nb::arg("engine").none(), nb::arg("address"), nb::arg("data"));
    module.def("download", download, nb::arg("engine").none(), nb::arg("address"), nb::arg("size"));
    module.def("synchronize", synchronize, nb::arg("engine").none(), nb::arg("stream"));
#ifdef WARPSEAL_WITH_CUDA
    module.attr("has_cuda") = true;
#else
    module.attr("has_cuda") = false;
#endif
}

}  // namespace warpseal::python
