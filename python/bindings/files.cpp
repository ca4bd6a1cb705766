// Sealed files: the library's file calls on descriptors, with progress and interruption.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <nanobind/stl/optional.h>

#include "bindings/bindings.h"
#include "bindings/calls.h"
#include "bindings/engine.h"
#include "bindings/file_options.h"
#include "bindings/slot_keys.h"
#include "warpseal/device_file.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

const char* slot_name(uint32_t type) {
    switch (type) {
        case WARPSEAL_SLOT_KEY: return "key";
        case WARPSEAL_SLOT_PASSPHRASE: return "passphrase";
        case WARPSEAL_SLOT_X25519: return "x25519";
        case WARPSEAL_SLOT_MLKEM768_X25519: return "mlkem768x25519";
        case WARPSEAL_SLOT_NTRU_X25519: return "ntruhps4096821x25519";
        case WARPSEAL_SLOT_SSH_ED25519: return "ssh-ed25519";
        case WARPSEAL_SLOT_SSH_RSA: return "ssh-rsa";
        case WARPSEAL_SLOT_STANZA: return "plugin";
        default: return "unknown";
    }
}

constexpr std::chrono::milliseconds progress_interval{100};

// A flag that another thread sets to end a file call.
class Cancellation {
public:
    void cancel() { requested_.store(true); }
    bool requested() const { return requested_.load(); }

private:
    std::atomic<bool> requested_{false};
};

// Runs a file call on a thread of its own. The caller's thread serves signals and the progress
// callback meanwhile, as only it may: the library reports from any thread.
class FileCall {
public:
    using Call =
        std::function<warpseal_status(const warpseal_file_options*, warpseal_file_result*)>;

    FileCall(warpseal_file_options& options, Cancellation& cancellation)
        : options_(options), cancellation_(cancellation) {
        result_.struct_bytes = sizeof result_;
        options_.progress = [](void* user, uint64_t done, uint64_t total) {
            auto* call = static_cast<FileCall*>(user);
            call->done_.store(done);
            call->total_.store(total);
            return call->cancellation_.requested() || closing.load() ? 1 : 0;
        };
        options_.progress_user = this;
    }

    warpseal_file_result run(const Call& call, nb::handle progress) {
        calls_in_flight.fetch_add(1);
        std::thread worker;
        try {
            worker = std::thread([this, &call] {
                const warpseal_status status = call(&options_, &result_);
                const std::lock_guard<std::mutex> lock(mutex_);
                status_ = status;
                finished_.notify_one();
            });
        } catch (const std::system_error&) {
            calls_in_flight.fetch_sub(1);
            throw_status(WARPSEAL_OUT_OF_MEMORY, "no thread could be started");
        }
        bool interrupted = false;
        while (!wait()) {
            if (!interrupted && !report(progress)) {
                interrupted = true;
                cancellation_.cancel();
            }
        }
        worker.join();
        calls_in_flight.fetch_sub(1);
        if (interrupted) throw nb::python_error();
        if (*status_ != WARPSEAL_OK) throw_status(*status_, result_.message, result_.system_error);
        if (!progress.is_none()) progress(result_.plaintext_bytes, result_.plaintext_bytes);
        return result_;
    }

private:
    // Waits for the end or the next report; true at the end.
    bool wait() {
        // The exception of a callback stays set while the call ends.
        PyThreadState* const state = PyEval_SaveThread();
        bool ended;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            ended =
                finished_.wait_for(lock, progress_interval, [this] { return status_.has_value(); });
        }
        PyEval_RestoreThread(state);
        return ended;
    }

    // False with a Python exception set if the call is to end.
    bool report(nb::handle progress) {
        if (PyErr_CheckSignals() != 0) return false;
        if (progress.is_none()) return true;
        const uint64_t total = total_.load();
        PyObject* const answer = PyObject_CallFunction(
            progress.ptr(), "NN", PyLong_FromUnsignedLongLong(done_.load()),
            total == UINT64_MAX ? nb::none().release().ptr() : PyLong_FromUnsignedLongLong(total));
        Py_XDECREF(answer);
        return answer != nullptr;
    }

    warpseal_file_options& options_;
    Cancellation& cancellation_;
    warpseal_file_result result_ = {};
    std::atomic<uint64_t> done_{0}, total_{UINT64_MAX};
    std::mutex mutex_;
    std::condition_variable finished_;
    std::optional<warpseal_status> status_;
};

nb::tuple run(const FileCall::Call& call, FileOptions& options, nb::handle progress,
              Cancellation& cancellation) {
    FileCall file_call(*options, cancellation);
    const warpseal_file_result result = file_call.run(call, progress);
    return nb::make_tuple(result.plaintext_bytes, result.file_bytes, result.target,
                          result.header_copies_differ != 0);
}

// keys: of a run over many files, or null.
nb::tuple run_file_call(bool sealing, int in, int out, nb::handle secrets,
                        std::optional<const char*> suite, nb::handle context, bool cobblestone,
                        bool any_order, nb::handle progress, Cancellation& cancellation,
                        const SlotKeys* keys, nb::handle engine_argument) {
    FileOptions options(secrets, context, cobblestone);
    const EngineHandle engine = engine_of(engine_argument);
    (*options).suite = suite.value_or(nullptr);
    (*options).any_order = any_order ? 1 : 0;
    const auto run_on = sealing ? warpseal_internal_file_seal : warpseal_internal_file_open;
    return run(
        [&](const warpseal_file_options* chosen, warpseal_file_result* result) {
            return run_on(engine.get(), in, out, chosen, keys == nullptr ? nullptr : keys->get(),
                          result);
        },
        options, progress, cancellation);
}

// Seals device memory.
nb::tuple seal_from_device(uint64_t address, uint64_t bytes, uint64_t stream, int out,
                           nb::handle secrets, std::optional<const char*> suite, nb::handle context,
                           bool cobblestone, nb::handle progress, Cancellation& cancellation,
                           nb::handle engine_argument) {
    FileOptions options(secrets, context, cobblestone);
    const EngineHandle engine = engine_of(engine_argument);
    (*options).suite = suite.value_or(nullptr);
    (*options).any_order = 1;
    return run(
        [&](const warpseal_file_options* chosen, warpseal_file_result* result) {
            return warpseal_file_seal_device(engine.get(), reinterpret_cast<const void*>(address),
                                             bytes, reinterpret_cast<void*>(stream), out, chosen,
                                             result);
        },
        options, progress, cancellation);
}

nb::dict file_info(int in) {
    warpseal_file_info info = {};
    info.struct_bytes = sizeof info;
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    const warpseal_status status =
        without_gil(true, [&] { return warpseal_file_info_read(in, &info, &result); });
    if (status != WARPSEAL_OK) throw_status(status, result.message, result.system_error);
    const auto known = [](uint64_t bytes) {
        return bytes == UINT64_MAX ? nb::none() : nb::object(nb::int_(bytes));
    };
    nb::list slots;
    for (uint32_t i = 0; i < info.slot_count; ++i)
        slots.append(nb::make_tuple(slot_name(info.slots[i].type), info.slots[i].argon2_passes,
                                    info.slots[i].argon2_memory_kib));
    nb::dict all;
    all["version"] = info.version;
    all["suite"] = info.suite;
    all["file_id"] = nb::bytes(info.file_id, sizeof info.file_id);
    all["header_bytes"] = info.header_bytes;
    all["generation"] = info.generation;
    all["file_bytes"] = known(info.file_bytes);
    all["plaintext_bytes"] = known(info.plaintext_bytes);
    all["slots"] = nb::tuple(slots);
    return all;
}

}  // namespace

void bind_files(nb::module_& module) {
    nb::class_<Cancellation>(module, "Cancellation")
        .def(nb::init<>())
        .def("cancel", &Cancellation::cancel)
        .def("requested", &Cancellation::requested);
    nb::class_<SlotKeys>(module, "SlotKeys").def(nb::init<>());
    module.def("run_file_call", run_file_call, nb::arg("sealing"), nb::arg("in_fd"),
               nb::arg("out_fd"), nb::arg("secrets"), nb::arg("suite").none(),
               nb::arg("context").none(), nb::arg("cobblestone"), nb::arg("any_order"),
               nb::arg("progress").none(), nb::arg("cancellation"), nb::arg("keys").none(),
               nb::arg("engine").none());
    module.def("seal_from_device", seal_from_device, nb::arg("address"), nb::arg("size"),
               nb::arg("stream"), nb::arg("out_fd"), nb::arg("secrets"), nb::arg("suite").none(),
               nb::arg("context").none(), nb::arg("cobblestone"), nb::arg("progress").none(),
               nb::arg("cancellation"), nb::arg("engine").none());
    module.def("file_info", file_info, nb::arg("in_fd"));
}

}  // namespace warpseal::python
