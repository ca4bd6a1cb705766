// Batches over memory by address, for warpseal.arrays, which checks sizes and overlaps.
#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

#include "bindings/bindings.h"
#include "bindings/buffer.h"
#include "bindings/calls.h"
#include "bindings/errors.h"
#include "bindings/key.h"
#include "warpseal/batch.h"
#include "warpseal/error.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

constexpr uint32_t array_nonce_bytes = 12;

// Fields of a batch from a dict of addresses and numbers. Every name must be one.
class Fields {
public:
    Fields(nb::dict given, size_t tag_bytes) : given_(std::move(given)) {
        warpseal_batch& b = batch_.batch;
        b.struct_bytes = sizeof batch_;
        b.iv_bytes = array_nonce_bytes;
        b.tag_bytes = static_cast<uint32_t>(tag_bytes);
        number("message_count", b.message_count);
        number("message_bytes", b.message_bytes);
        pointer("lengths", b.lengths);
        number("iv_stride", b.iv_stride);
        pointer("aad", b.aad);
        number("aad_bytes", b.aad_bytes);
        number("aad_stride", b.aad_stride);
        pointer("in", b.in);
        number("in_stride", b.in_stride);
        pointer("out", b.out);
        number("out_stride", b.out_stride);
        pointer("tags", b.tags);
        number("tag_stride", b.tag_stride);
        pointer("statuses", b.statuses);
        pointer("in_pointers", batch_.in_pointers);
        pointer("out_pointers", batch_.out_pointers);
        pointer("aad_pointers", batch_.aad_pointers);
        pointer("aad_lengths", batch_.aad_lengths);
        pointer("workspace", batch_.workspace);
        number("workspace_bytes", batch_.workspace_bytes);
        pointer("ivs", ivs_);
        if (used_ != given_.size()) throw_value_error("a field of the batch has an unknown name");
    }
    // In a call that draws IVs they are a parameter, otherwise part of the batch.
    const warpseal_batch* drawing() const { return &batch_.batch; }
    const warpseal_batch* with_ivs() {
        batch_.batch.ivs = ivs_;
        return &batch_.batch;
    }
    uint8_t* ivs() const { return ivs_; }

private:
    void number(const char* name, uint64_t& out) {
        if (!given_.contains(name)) return;
        out = nb::cast<uint64_t>(given_[name]);
        ++used_;
    }
    template <class T>
    void pointer(const char* name, T*& out) {
        uint64_t address = 0;
        number(name, address);
        out = reinterpret_cast<T*>(address);
    }

    const nb::dict given_;
    size_t used_ = 0;
    uint8_t* ivs_ = nullptr;
    warpseal_scattered_batch batch_ = {};
};

warpseal_mode mode_named(const std::string& name) {
    if (name == "gcm") return WARPSEAL_GCM;
    if (name == "ccm") return WARPSEAL_CCM;
    throw_value_error("mode must be 'gcm' or 'ccm', not '%.20s'", name.c_str());
}

class ArrayKey {
public:
    ArrayKey(const char* cipher, const std::string& mode, nb::handle key, size_t tag_bytes,
             nb::handle engine)
        : ArrayKey(cipher, mode_named(mode), InputBuffer(key, "key"), tag_bytes, engine) {}

    // operation: "seal", "seal_unsafe_iv" or "open". Returns false if messages in host memory do
    // not verify.
    bool run(const std::string& operation, nb::dict fields, bool device, uint64_t stream) const {
        Fields batch(std::move(fields), tag_bytes_);
        void* const on = reinterpret_cast<void*>(stream);
        const warpseal_key* const key = key_.get();
        const warpseal_status status = without_gil(true, [&] {
            if (operation == "seal")
                return device ? warpseal_seal_batch_device(key, mode_, batch.drawing(), batch.ivs(),
                                                           on)
                              : warpseal_seal_batch(key, mode_, batch.drawing(), batch.ivs());
            if (operation == "open")
                return device ? warpseal_open_batch_device(key, mode_, batch.with_ivs(), on)
                              : warpseal_open_batch(key, mode_, batch.with_ivs());
            return device ? warpseal_seal_batch_device_unsafe_iv(key, mode_, batch.with_ivs(), on)
                          : warpseal_seal_batch_unsafe_iv(key, mode_, batch.with_ivs());
        });
        if (status != WARPSEAL_OK && status != WARPSEAL_NOT_AUTHENTIC)
            throw_status(status, warpseal_last_error_message());
        return status == WARPSEAL_OK;
    }

    uint64_t workspace(nb::dict fields) const {
        Fields batch(std::move(fields), tag_bytes_);
        uint64_t bytes = 0;
        const warpseal_status status = without_gil(true, [&] {
            return warpseal_batch_device_workspace(key_.get(), mode_, batch.drawing(), &bytes);
        });
        if (status != WARPSEAL_OK) throw_status(status, warpseal_last_error_message());
        return bytes;
    }

private:
    ArrayKey(const char* cipher, warpseal_mode mode, const InputBuffer& key, size_t tag_bytes,
             nb::handle engine)
        : mode_(mode),
          tag_bytes_(tag_bytes),
          key_(engine_of(engine), cipher, key.data(), key.size()) {}

    const warpseal_mode mode_;
    const size_t tag_bytes_;
    const Key key_;
};

}  // namespace

void bind_arrays(nb::module_& module) {
    nb::class_<ArrayKey>(module, "ArrayKey")
        .def(nb::init<const char*, const std::string&, nb::handle, size_t, nb::handle>(),
             nb::arg("cipher"), nb::arg("mode"), nb::arg("key"), nb::arg("tag_length"),
             nb::arg("engine").none())
        .def("run", &ArrayKey::run, nb::arg("operation"), nb::arg("fields"), nb::arg("device"),
             nb::arg("stream"))
        .def("workspace", &ArrayKey::workspace, nb::arg("fields"));
}

}  // namespace warpseal::python
