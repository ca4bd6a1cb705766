// Key encapsulation in batches, for warpseal.kem.
#include "warpseal/kem.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/buffer.h"
#include "bindings/calls.h"
#include "bindings/engine.h"
#include "bindings/errors.h"
#include "warpseal/error.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

warpseal_kem_info set_named(const char* name) {
    warpseal_kem_info info;
    for (size_t i = 0; warpseal_kem_at(i, &info) == WARPSEAL_OK; ++i)
        if (std::strcmp(info.name, name) == 0) return info;
    throw_status(WARPSEAL_UNSUPPORTED,
                 "parameter_set: there is no such set; "
                 "warpseal.kem.parameter_sets() lists the names");
}

// Memory for results, which Python owns.
class NewArray {
public:
    NewArray(uint64_t count, uint32_t item_bytes)
        : object_(
              nb::steal(PyByteArray_FromStringAndSize(nullptr, Py_ssize_t(count * item_bytes)))) {
        if (!object_.is_valid()) throw nb::python_error();
    }
    uint8_t* data() const {
        return reinterpret_cast<uint8_t*>(PyByteArray_AsString(object_.ptr()));
    }
    const nb::object& object() const { return object_; }

private:
    nb::object object_;
};

// The number of items in an array; throws ValueError if it is not a whole number above 0.
uint64_t items(const InputBuffer& array, uint32_t item_bytes, const char* name) {
    if (array.size() == 0 || array.size() % item_bytes != 0)
        throw_value_error("%s must be items of %u bytes each, this has %zu bytes", name, item_bytes,
                          array.size());
    return array.size() / item_bytes;
}

warpseal_kem_batch batch_of(const warpseal_kem_info& info, uint64_t count) {
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = count;
    batch.public_key_stride = info.public_key_bytes;
    batch.secret_key_stride = info.secret_key_bytes;
    batch.ciphertext_stride = info.ciphertext_bytes;
    batch.shared_secret_stride = info.shared_secret_bytes;
    return batch;
}

// Runs a batch without the GIL. call(batch) returns its status. Throws ValueError for the first
// item that is refused.
template <class Call>
void run_batch(warpseal_kem_batch& batch, const char* item, const Call& call) {
    std::vector<int32_t> statuses(batch.count, WARPSEAL_OK);
    batch.statuses = statuses.data();
    const warpseal_status status = without_gil(true, [&] { return call(&batch); });
    if (status == WARPSEAL_OK) return;
    for (size_t i = 0; i < statuses.size(); ++i)
        if (statuses[i] == WARPSEAL_INVALID_ARGUMENT)
            throw_value_error("%s %zu is not valid", item, i);
    throw_status(status);
}

void check_count(uint64_t count) {
    if (count == 0 || count > UINT32_MAX) throw_value_error("count must be 1 to 4294967295");
}

// A prepared key, which keeps its engine.
class KemKey {
public:
    using Create = decltype(&warpseal_kem_public_key_create);

    KemKey(const warpseal_kem_info& info, EngineHandle engine, nb::handle argument,
           const char* name, uint32_t key_bytes, Create create)
        : info_(info), engine_(std::move(engine)) {
        const InputBuffer bytes(argument, name);
        if (bytes.size() != key_bytes)
            throw_value_error("%s must be %u bytes, this has %zu bytes", name, key_bytes,
                              bytes.size());
        warpseal_kem_key* made = nullptr;
        const warpseal_status status = without_gil(true, [&] {
            return create(engine_.get(), info_.name, bytes.data(), bytes.size(), &made);
        });
        if (status == WARPSEAL_INVALID_ARGUMENT) throw_value_error("%s is not valid", name);
        check(status);
        key_.reset(made);
    }

    nb::tuple encapsulate(uint64_t count) const {
        check_count(count);
        const NewArray ciphertexts(count, info_.ciphertext_bytes);
        const NewArray secrets(count, info_.shared_secret_bytes);
        warpseal_kem_batch batch = batch_of(info_, count);
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets = secrets.data();
        run_batch(batch, "item", [&](const warpseal_kem_batch* all) {
            return warpseal_kem_key_encapsulate(key_.get(), all);
        });
        return nb::make_tuple(secrets.object(), ciphertexts.object());
    }

    nb::object decapsulate(nb::handle ciphertexts_argument) const {
        const InputBuffer ciphertexts(ciphertexts_argument, "ciphertexts");
        const uint64_t count = items(ciphertexts, info_.ciphertext_bytes, "ciphertexts");
        const NewArray secrets(count, info_.shared_secret_bytes);
        warpseal_kem_batch batch = batch_of(info_, count);
        batch.ciphertexts = const_cast<uint8_t*>(ciphertexts.data());  // is only read
        batch.shared_secrets = secrets.data();
        run_batch(batch, "ciphertext", [&](const warpseal_kem_batch* all) {
            return warpseal_kem_key_decapsulate(key_.get(), all);
        });
        return secrets.object();
    }

private:
    struct Destroy {
        void operator()(warpseal_kem_key* key) const { warpseal_kem_key_destroy(key); }
    };
    const warpseal_kem_info info_;
    const EngineHandle engine_;
    std::unique_ptr<warpseal_kem_key, Destroy> key_;
};

class Kem {
public:
    Kem(const char* set, nb::handle engine) : info_(set_named(set)), engine_(engine_of(engine)) {}

    nb::tuple generate(uint64_t count) const {
        check_count(count);
        const NewArray public_keys(count, info_.public_key_bytes);
        const NewArray secret_keys(count, info_.secret_key_bytes);
        warpseal_kem_batch batch = batch_of(info_, count);
        batch.public_keys = public_keys.data();
        batch.secret_keys = secret_keys.data();
        run(warpseal_kem_keypair, batch, "key pair");
        return nb::make_tuple(secret_keys.object(), public_keys.object());
    }

    nb::tuple encapsulate(nb::handle public_keys_argument) const {
        const InputBuffer public_keys(public_keys_argument, "public_keys");
        const uint64_t count = items(public_keys, info_.public_key_bytes, "public_keys");
        const NewArray ciphertexts(count, info_.ciphertext_bytes);
        const NewArray secrets(count, info_.shared_secret_bytes);
        warpseal_kem_batch batch = batch_of(info_, count);
        batch.public_keys = const_cast<uint8_t*>(public_keys.data());  // is only read
        batch.ciphertexts = ciphertexts.data();
        batch.shared_secrets = secrets.data();
        run(warpseal_kem_encapsulate, batch, "public key");
        return nb::make_tuple(secrets.object(), ciphertexts.object());
    }

    nb::object decapsulate(nb::handle secret_keys_argument, nb::handle ciphertexts_argument) const {
        const InputBuffer secret_keys(secret_keys_argument, "secret_keys");
        const InputBuffer ciphertexts(ciphertexts_argument, "ciphertexts");
        const uint64_t keys = items(secret_keys, info_.secret_key_bytes, "secret_keys");
        const uint64_t count = items(ciphertexts, info_.ciphertext_bytes, "ciphertexts");
        if (keys != 1 && keys != count)
            throw_value_error("secret_keys must be one, or one for each ciphertext");
        const NewArray secrets(count, info_.shared_secret_bytes);
        warpseal_kem_batch batch = batch_of(info_, count);
        batch.secret_keys = const_cast<uint8_t*>(secret_keys.data());  // is only read
        batch.ciphertexts = const_cast<uint8_t*>(ciphertexts.data());  // is only read
        batch.shared_secrets = secrets.data();
        if (keys == 1) batch.secret_key_stride = 0;
        run(warpseal_kem_decapsulate, batch, "ciphertext");
        return secrets.object();
    }

    // A batch in device memory, by address; 0 for what the operation does not have.
    // one_key: one secret key for all items.
    void run_device(const char* operation, uint64_t count, uint64_t public_keys,
                    uint64_t secret_keys, uint64_t ciphertexts, uint64_t shared_secrets,
                    uint64_t statuses, bool one_key, uint64_t stream) const {
        const auto at = [](uint64_t address) { return reinterpret_cast<uint8_t*>(address); };
        warpseal_kem_batch batch = batch_of(info_, count);
        batch.public_keys = at(public_keys);
        batch.secret_keys = at(secret_keys);
        batch.ciphertexts = at(ciphertexts);
        batch.shared_secrets = at(shared_secrets);
        batch.statuses = reinterpret_cast<int32_t*>(statuses);
        if (one_key) batch.secret_key_stride = 0;
        const auto call = *operation == 'k'   ? warpseal_kem_keypair_device
                          : *operation == 'e' ? warpseal_kem_encapsulate_device
                                              : warpseal_kem_decapsulate_device;
        const warpseal_status status = without_gil(true, [&] {
            return call(engine_.get(), info_.name, &batch, reinterpret_cast<void*>(stream));
        });
        if (status != WARPSEAL_OK) throw_status(status, warpseal_last_error_message());
    }

    KemKey prepare_public_key(nb::handle public_key) const {
        return {info_,
                engine_,
                public_key,
                "public_key",
                info_.public_key_bytes,
                warpseal_kem_public_key_create};
    }
    KemKey prepare_secret_key(nb::handle secret_key) const {
        return {info_,
                engine_,
                secret_key,
                "secret_key",
                info_.secret_key_bytes,
                warpseal_kem_secret_key_create};
    }

    const warpseal_kem_info& info() const { return info_; }

private:
    void run(decltype(&warpseal_kem_keypair) call, warpseal_kem_batch& batch,
             const char* item) const {
        run_batch(batch, item, [&](const warpseal_kem_batch* all) {
            return call(engine_.get(), info_.name, all);
        });
    }

    const warpseal_kem_info info_;
    const EngineHandle engine_;
};

nb::list parameter_sets() {
    nb::list all;
    warpseal_kem_info info;
    for (size_t i = 0; warpseal_kem_at(i, &info) == WARPSEAL_OK; ++i) all.append(info.name);
    return all;
}

}  // namespace

void bind_kem(nb::module_& module) {
    module.def("kem_parameter_sets", parameter_sets);
    nb::class_<Kem>(module, "Kem")
        .def(
            "__init__",
            [](Kem* self, const char* set, nb::handle engine) { new (self) Kem(set, engine); },
            nb::arg("parameter_set"), nb::kw_only(), nb::arg("engine").none() = nb::none())
        .def_prop_ro("public_key_bytes",
                     [](const Kem& self) { return self.info().public_key_bytes; })
        .def_prop_ro("secret_key_bytes",
                     [](const Kem& self) { return self.info().secret_key_bytes; })
        .def_prop_ro("ciphertext_bytes",
                     [](const Kem& self) { return self.info().ciphertext_bytes; })
        .def_prop_ro("shared_secret_bytes",
                     [](const Kem& self) { return self.info().shared_secret_bytes; })
        .def("generate", &Kem::generate, nb::arg("count"))
        .def("encapsulate", &Kem::encapsulate, nb::arg("public_keys"))
        .def("decapsulate", &Kem::decapsulate, nb::arg("secret_keys"), nb::arg("ciphertexts"))
        .def("run_device", &Kem::run_device, nb::arg("operation"), nb::arg("count"),
             nb::arg("public_keys"), nb::arg("secret_keys"), nb::arg("ciphertexts"),
             nb::arg("shared_secrets"), nb::arg("statuses"), nb::arg("one_key"), nb::arg("stream"))
        .def("prepare_public_key", &Kem::prepare_public_key, nb::arg("public_key"))
        .def("prepare_secret_key", &Kem::prepare_secret_key, nb::arg("secret_key"));
    nb::class_<KemKey>(module, "KemKey")
        .def("encapsulate", &KemKey::encapsulate, nb::arg("count"))
        .def("decapsulate", &KemKey::decapsulate, nb::arg("ciphertexts"));
}

}  // namespace warpseal::python
