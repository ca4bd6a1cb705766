// Reads of sealed files at any offset, for warpseal.open.
#include "warpseal/device_file.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/calls.h"
#include "bindings/engine.h"
#include "bindings/file_options.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

// A Python function read_at(offset, memory) -> int as the library's callback.
//
// Calls of several threads share it, and a thread of the library reads for any of them. So each
// exception has a number, which takes the place of an errno. The library reports it to the call
// whose read failed. The GIL guards all members.
class Callback {
public:
    explicit Callback(nb::object function) : function_(std::move(function)) {}

    static int64_t read_at(void* self, uint64_t offset, void* out, size_t bytes) {
        return static_cast<Callback*>(self)->read(offset, out, bytes);
    }

    // A call in progress. Exceptions that no call reports are dropped after the last one.
    class InProgress {
    public:
        explicit InProgress(Callback* callback) : callback_(callback) {
            if (callback_ != nullptr) ++callback_->calls_;
        }
        ~InProgress() {
            if (callback_ == nullptr || --callback_->calls_ != 0) return;
            // Their destructors may run code of the program, which reads again.
            const std::map<int, nb::object> dropped = std::exchange(callback_->errors_, {});
        }
        InProgress(const InProgress&) = delete;
        InProgress& operator=(const InProgress&) = delete;

    private:
        Callback* const callback_;
    };

    // Throws the exception of that number, if there is one.
    void rethrow(int number) {
        const auto found = errors_.find(number);
        if (found == errors_.end()) return;
        const nb::object error = std::move(found->second);
        errors_.erase(found);
        PyErr_SetObject(error.type().ptr(), error.ptr());
        throw nb::python_error();
    }

private:
    // Past every errno of Linux, and within what the library accepts as one.
    static constexpr int first_number = 1024, last_number = 4095;

    int64_t read(uint64_t offset, void* out, size_t bytes) {
        // New calls into Python could not return once the interpreter has ended.
        if (closing.load()) return -EIO;
        const nb::gil_scoped_acquire acquired;
        const nb::object memory = nb::steal(PyMemoryView_FromMemory(
            static_cast<char*>(out), static_cast<Py_ssize_t>(bytes), PyBUF_WRITE));
        try {
            if (!memory.is_valid()) throw nb::python_error();
            const auto got = nb::cast<int64_t>(function_(offset, memory));
            memory.attr("release")();
            if (got < 0 || static_cast<uint64_t>(got) > bytes)
                throw nb::value_error("a read returned more than was asked for");
            return got;
        } catch (nb::python_error& error) {
            return -number_of(nb::borrow(error.value()));
        } catch (const std::exception& error) {
            return -number_of(nb::handle(PyExc_ValueError)(error.what()));
        }
    }

    // Keeps an exception. One that had the number before was of a read that no call reports.
    int number_of(nb::object error) {
        const int number = next_number_;
        next_number_ = number == last_number ? first_number : number + 1;
        const nb::object dropped = std::exchange(errors_[number], std::move(error));
        return number;
    }

    const nb::object function_;
    std::map<int, nb::object> errors_;
    int next_number_ = first_number;
    size_t calls_ = 0;
};

class Reader {
public:
    Reader(nb::handle source, uint64_t file_bytes, nb::handle secrets, nb::handle context,
           bool cobblestone, nb::handle engine)
        : engine_(engine_of(engine)) {
        FileOptions options(secrets, context, cobblestone);
        warpseal_file_result result = {};
        result.struct_bytes = sizeof result;
        warpseal_status status;
        if (!PyLong_Check(source.ptr())) callback_ = std::make_unique<Callback>(nb::borrow(source));
        const Callback::InProgress call(callback_.get());
        if (!callback_) {
            const int descriptor = nb::cast<int>(source);
            status = without_gil(true, [&] {
                return warpseal_reader_open(engine_.get(), descriptor, &*options, &reader_,
                                            &result);
            });
        } else {
            status = without_gil(true, [&] {
                return warpseal_reader_open_callback(engine_.get(), Callback::read_at,
                                                     callback_.get(), file_bytes, &*options,
                                                     &reader_, &result);
            });
        }
        finish(status, result);
    }
    ~Reader() { warpseal_reader_close(reader_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    uint64_t size() const { return warpseal_reader_size(reader_); }

    size_t read_into(uint64_t offset, nb::handle buf_argument) {
        const OutputBuffer buf(buf_argument, "buffer");
        return read_at(offset, buf.data(), buf.size());
    }

    nb::object read(uint64_t offset, uint64_t bytes) {
        const uint64_t left = offset < size() ? size() - offset : 0;
        nb::object out = new_bytes(std::min(bytes, left));
        read_at(offset, memory_of(out), static_cast<size_t>(PyBytes_Size(out.ptr())));
        return out;
    }

    // Into device memory, once the work on `stream` is done.
    size_t read_into_device(uint64_t offset, uint64_t address, uint64_t bytes, uint64_t stream) {
        return finished([&](size_t* got, warpseal_file_result* result) {
            return warpseal_reader_read_at_device(reader_, offset, reinterpret_cast<void*>(address),
                                                  bytes, reinterpret_cast<void*>(stream), got,
                                                  result);
        });
    }

private:
    size_t read_at(uint64_t offset, uint8_t* out, size_t bytes) {
        return finished([&](size_t* got, warpseal_file_result* result) {
            return warpseal_reader_read_at(reader_, offset, out, bytes, got, result);
        });
    }

    template <class Call>
    size_t finished(Call call) {
        warpseal_file_result result = {};
        result.struct_bytes = sizeof result;
        size_t got = 0;
        const Callback::InProgress in_progress(callback_.get());
        finish(without_gil(true, [&] { return call(&got, &result); }), result);
        return got;
    }

    void finish(warpseal_status status, const warpseal_file_result& result) {
        if (status == WARPSEAL_OK) return;
        if (callback_) callback_->rethrow(result.system_error);
        throw_status(status, result.message, result.system_error);
    }

    const EngineHandle engine_;
    std::unique_ptr<Callback> callback_;
    warpseal_reader* reader_ = nullptr;
};

}  // namespace

void bind_reader(nb::module_& module) {
    nb::class_<Reader>(module, "Reader")
        .def(nb::init<nb::handle, uint64_t, nb::handle, nb::handle, bool, nb::handle>(),
             nb::arg("source"), nb::arg("file_bytes"), nb::arg("secrets"),
             nb::arg("context").none(), nb::arg("cobblestone"), nb::arg("engine").none())
        .def("size", &Reader::size)
        .def("read", &Reader::read, nb::arg("offset"), nb::arg("count"))
        .def("read_into", &Reader::read_into, nb::arg("offset"), nb::arg("buffer"))
        .def("read_into_device", &Reader::read_into_device, nb::arg("offset"), nb::arg("address"),
             nb::arg("size"), nb::arg("stream"));
}

}  // namespace warpseal::python
