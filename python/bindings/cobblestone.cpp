// Cobblestone encryptors and decryptors of warpseal.aead. Their methods are those of pyca's
// cryptography.cobblestone.
#include "warpseal/cobblestone.h"

#include <mutex>

#include "bindings/bindings.h"
#include "bindings/buffer.h"
#include "bindings/calls.h"
#include "bindings/errors.h"
#include "bindings/key.h"
#include "warpseal/error.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

constexpr size_t cobblestone_release_bytes = 8192;  // about 10 microseconds

enum class Direction { seal, open };

class CobblestoneMessage {
public:
    CobblestoneMessage(Direction direction, size_t key_bytes, const InputBuffer& key,
                       const InputBuffer& context, nb::handle engine)
        : engine_(engine_of(engine)) {
        if (key.size() != key_bytes)
            throw_value_error("key must be %zu bytes, this has %zu", key_bytes, key.size());
        const auto create = direction == Direction::seal ? warpseal_cobblestone_create_seal
                                                         : warpseal_cobblestone_create_open;
        check(without_gil(true, [&] {
            return create(engine_.get(), key.data(), key.size(), context.data(), context.size(),
                          &message_);
        }));
    }
    ~CobblestoneMessage() { warpseal_cobblestone_destroy(message_); }
    CobblestoneMessage(const CobblestoneMessage&) = delete;
    CobblestoneMessage& operator=(const CobblestoneMessage&) = delete;

    nb::object update(nb::handle data_argument) {
        const InputBuffer data(data_argument, "data");
        const Use use(*this);
        nb::object out = new_bytes(warpseal_cobblestone_update_bytes(message_, data.size()));
        run_update(data, memory_of(out), static_cast<size_t>(PyBytes_Size(out.ptr())));
        return out;
    }

    size_t update_into(nb::handle data_argument, nb::handle buf_argument) {
        const InputBuffer data(data_argument, "data");
        const OutputBuffer buf(buf_argument, "buf");
        const Use use(*this);
        const size_t wanted = warpseal_cobblestone_update_bytes(message_, data.size());
        if (buf.size() < wanted)
            throw_value_error("buf: buffer must be at least %zu bytes, it has %zu", wanted,
                              buf.size());
        buf.require_apart(data, "data");
        return run_update(data, buf.data(), buf.size());
    }

    nb::object finalize() {
        const Use use(*this);
        nb::object out = new_bytes(warpseal_cobblestone_finish_bytes(message_));
        const auto capacity = static_cast<size_t>(PyBytes_Size(out.ptr()));
        size_t written = 0;
        uint8_t* const memory = memory_of(out);
        finish(without_gil(capacity >= cobblestone_release_bytes, [&] {
            return warpseal_cobblestone_finish(message_, memory, capacity, &written);
        }));
        finalized_ = true;
        return out;
    }

private:
    // One call at a time; the thread that calls may wait without the GIL.
    class Use {
    public:
        explicit Use(CobblestoneMessage& message) : lock_(message.mutex_, std::try_to_lock) {
            if (!lock_.owns_lock()) {
                PyErr_SetString(PyExc_RuntimeError,
                                "another thread is in a call of this object: use one per thread");
                throw nb::python_error();
            }
            if (message.finalized_) throw_exception("AlreadyFinalized", "Already finalized.");
        }

    private:
        const std::unique_lock<std::mutex> lock_;
    };

    size_t run_update(const InputBuffer& data, uint8_t* out, size_t capacity) {
        size_t written = 0;
        finish(without_gil(data.size() >= cobblestone_release_bytes, [&] {
            return warpseal_cobblestone_update(message_, data.data(), data.size(), out, capacity,
                                               &written);
        }));
        return written;
    }

    // A message that is cut or of another key is not authentic, as for pyca.
    void finish(warpseal_status status) {
        if (status == WARPSEAL_OK) return;
        if (status != WARPSEAL_INVALID_ARGUMENT) finalized_ = true;
        if (status == WARPSEAL_WRONG_KEY || status == WARPSEAL_TRUNCATED)
            status = WARPSEAL_NOT_AUTHENTIC;
        throw_status(status, warpseal_last_error_message());
    }

    const EngineHandle engine_;
    std::mutex mutex_;
    bool finalized_ = false;  // or failed
    warpseal_cobblestone* message_ = nullptr;
};

template <Direction direction, size_t key_bytes>
class Cobblestone : public CobblestoneMessage {
public:
    Cobblestone(nb::handle key, nb::handle context, nb::handle engine)
        : CobblestoneMessage(direction, key_bytes, InputBuffer(key, "key"),
                             InputBuffer(context, "context"), engine) {}
};

template <Direction direction, size_t key_bytes>
void bind_class(nb::module_& module, const char* name) {
    using Class = Cobblestone<direction, key_bytes>;
    nb::class_<Class> bound(module, name);
    bound.def(nb::init<nb::handle, nb::handle, nb::handle>(), nb::arg("key"), nb::arg("context"),
              nb::kw_only(), nb::arg("engine").none() = nb::none());
    bound.def(
        "update", [](Class& self, nb::handle data) { return self.update(data); }, nb::arg("data"),
        direction == Direction::seal
            ? "Returns the part of the sealed message that data completes."
            : "Returns the plaintext that data completes and that is verified.\n"
              "InvalidTag: the message is not authentic; nothing more comes of it.");
    bound.def(
        "update_into",
        [](Class& self, nb::handle data, nb::handle buf) { return self.update_into(data, buf); },
        nb::arg("data"), nb::arg("buf"),
        "Like update, into buf, which may be larger. Returns the number of bytes written.");
    bound.def(
        "finalize", [](Class& self) { return self.finalize(); },
        direction == Direction::seal
            ? "Ends the message and returns its last part."
            : "Returns the last of the plaintext. InvalidTag: the message is cut or changed.");
    if constexpr (direction == Direction::seal)
        bound.def_static("generate_key", [] { return random_bytes(key_bytes); });
}

}  // namespace

void bind_cobblestone(nb::module_& module) {
    bind_class<Direction::seal, 16>(module, "Cobblestone128Encryptor");
    bind_class<Direction::open, 16>(module, "Cobblestone128Decryptor");
    bind_class<Direction::seal, 32>(module, "Cobblestone256Encryptor");
    bind_class<Direction::open, 32>(module, "Cobblestone256Decryptor");
}

}  // namespace warpseal::python
