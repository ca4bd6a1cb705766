// The classes of warpseal.aead. Their methods are those of pyca's cryptography.
#include <algorithm>
#include <array>
#include <cstring>

#include "bindings/aead_batch.h"
#include "bindings/bindings.h"
#include "bindings/buffer.h"
#include "bindings/calls.h"
#include "bindings/errors.h"
#include "bindings/key.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

// Messages from this size on take about 10 microseconds or more, and run without the GIL.
constexpr size_t gcm_release_bytes = 8192;
constexpr size_t ccm_release_bytes = 1024;

constexpr size_t gcm_least_nonce_bytes = 8, gcm_most_nonce_bytes = 128;
constexpr size_t ccm_least_nonce_bytes = 7, ccm_most_nonce_bytes = 13;

// The cipher of each key length: 16, 24 and 32 bytes; null where there is none.
struct Family {
    const char* class_name;
    warpseal_mode mode;
    std::array<const char*, 3> ciphers;
};

constexpr Family aes_gcm = {"AESGCM", WARPSEAL_GCM, {"aes-128", "aes-192", "aes-256"}};
constexpr Family aes_ccm = {"AESCCM", WARPSEAL_CCM, {"aes-128", "aes-192", "aes-256"}};
constexpr Family aria_gcm = {"ARIAGCM", WARPSEAL_GCM, {"aria-128", "aria-192", "aria-256"}};
constexpr Family camellia_gcm = {
    "CamelliaGCM", WARPSEAL_GCM, {"camellia-128", "camellia-192", "camellia-256"}};
constexpr Family sm4_gcm = {"SM4GCM", WARPSEAL_GCM, {"sm4-128", nullptr, nullptr}};

const char* cipher_of(const Family& family, size_t key_bytes) {
    const bool known = key_bytes == 16 || key_bytes == 24 || key_bytes == 32;
    const char* cipher = known ? family.ciphers[key_bytes / 8 - 2] : nullptr;
    if (cipher == nullptr)
        throw_value_error("key: %s key must be %s bits, this has %zu", family.class_name,
                          family.ciphers[1] == nullptr ? "128" : "128, 192, or 256", key_bytes * 8);
    return cipher;
}

nb::bytes generate_key(const Family& family, Py_ssize_t bits) {
    const bool known =
        bits == 128 || ((bits == 192 || bits == 256) && family.ciphers[1] != nullptr);
    if (!known)
        throw_value_error("bit_length must be %s",
                          family.ciphers[1] == nullptr ? "128" : "128, 192, or 256");
    return random_bytes(static_cast<size_t>(bits) / 8);
}

// The tag's length where the caller chooses it.
size_t ccm_tag_bytes(Py_ssize_t tag_length) {
    if (tag_length < 4 || tag_length > 16 || tag_length % 2 != 0)
        throw_value_error("tag_length must be 4, 6, 8, 10, 12, 14 or 16, not %zd", tag_length);
    return static_cast<size_t>(tag_length);
}

class AeadKey {
public:
    AeadKey(const Family& family, const InputBuffer& key, size_t tag_bytes, nb::handle engine)
        : mode_(family.mode),
          tag_bytes_(tag_bytes),
          key_(engine_of(engine), cipher_of(family, key.size()), key.data(), key.size()) {}

    nb::object encrypt(nb::handle nonce_argument, nb::handle data_argument,
                       nb::handle aad_argument) const {
        const InputBuffer nonce(nonce_argument, "nonce"), data(data_argument, "data");
        const OptionalBuffer aad(aad_argument, "associated_data");
        check_nonce(nonce);
        check_length(nonce, data.size());
        nb::object out = new_bytes(sealed_bytes(data));
        seal(nonce, data, aad, memory_of(out));
        return out;
    }

    size_t encrypt_into(nb::handle nonce_argument, nb::handle data_argument,
                        nb::handle aad_argument, nb::handle buf_argument) const {
        const InputBuffer nonce(nonce_argument, "nonce"), data(data_argument, "data");
        const OptionalBuffer aad(aad_argument, "associated_data");
        const OutputBuffer buf(buf_argument, "buf");
        check_nonce(nonce);
        check_length(nonce, data.size());
        buf.require_size(sealed_bytes(data));
        buf.require_apart(nonce, "nonce");
        buf.require_apart(aad, "associated_data");
        buf.require_same_or_apart(data, data.size(), buf.size(), "data");
        seal(nonce, data, aad, buf.data());
        return buf.size();
    }

    nb::object decrypt(nb::handle nonce_argument, nb::handle data_argument,
                       nb::handle aad_argument) const {
        const InputBuffer nonce(nonce_argument, "nonce"), data(data_argument, "data");
        const OptionalBuffer aad(aad_argument, "associated_data");
        check_nonce(nonce);
        nb::object out = new_bytes(opened_bytes(data));
        open(nonce, data, aad, memory_of(out));
        return out;
    }

    size_t decrypt_into(nb::handle nonce_argument, nb::handle data_argument,
                        nb::handle aad_argument, nb::handle buf_argument) const {
        const InputBuffer nonce(nonce_argument, "nonce"), data(data_argument, "data");
        const OptionalBuffer aad(aad_argument, "associated_data");
        const OutputBuffer buf(buf_argument, "buf");
        check_nonce(nonce);
        check_length(nonce, opened_bytes(data));
        buf.require_size(opened_bytes(data));
        buf.require_apart(nonce, "nonce");
        buf.require_apart(aad, "associated_data");
        buf.require_same_or_apart(data, data.size(), buf.size(), "data");
        open(nonce, data, aad, buf.data());
        return buf.size();
    }

    AeadBatchKey batch_key() const { return {key_.get(), mode_, tag_bytes_}; }

private:
    void check_nonce(const InputBuffer& nonce) const {
        const bool gcm = mode_ == WARPSEAL_GCM;
        const size_t least = gcm ? gcm_least_nonce_bytes : ccm_least_nonce_bytes;
        const size_t most = gcm ? gcm_most_nonce_bytes : ccm_most_nonce_bytes;
        if (nonce.size() < least || nonce.size() > most)
            throw_value_error("nonce must be between %zu and %zu bytes, this has %zu", least, most,
                              nonce.size());
    }

    // CCM counts the text in the bytes that the nonce leaves.
    void check_length(const InputBuffer& nonce, size_t text_bytes) const {
        const size_t bits = 8 * (15 - std::min<size_t>(nonce.size(), 15));
        if (mode_ == WARPSEAL_CCM && bits < 64 && text_bytes >> bits != 0)
            throw_exception("LimitExceededError",
                            "Data too long for nonce: a shorter nonce leaves room for more");
    }

    size_t sealed_bytes(const InputBuffer& data) const {
        if (data.size() > static_cast<size_t>(PY_SSIZE_T_MAX) - tag_bytes_)
            throw_status(WARPSEAL_LIMIT_EXCEEDED);
        return data.size() + tag_bytes_;
    }

    size_t opened_bytes(const InputBuffer& data) const {
        if (data.size() < tag_bytes_) throw_status(WARPSEAL_NOT_AUTHENTIC);
        return data.size() - tag_bytes_;
    }

    bool is_long(const InputBuffer& data, const InputBuffer& aad) const {
        return data.size() + aad.size() >=
               (mode_ == WARPSEAL_GCM ? gcm_release_bytes : ccm_release_bytes);
    }

    void seal(const InputBuffer& nonce, const InputBuffer& data, const InputBuffer& aad,
              uint8_t* out) const {
        check(without_gil(is_long(data, aad), [&] {
            return warpseal_seal_unsafe_iv(key_.get(), mode_, nonce.data(), nonce.size(),
                                           aad.data(), aad.size(), data.data(), out, data.size(),
                                           out + data.size(), tag_bytes_);
        }));
    }

    void open(const InputBuffer& nonce, const InputBuffer& data, const InputBuffer& aad,
              uint8_t* out) const {
        const size_t bytes = data.size() - tag_bytes_;
        check(without_gil(is_long(data, aad), [&] {
            return warpseal_open(key_.get(), mode_, nonce.data(), nonce.size(), aad.data(),
                                 aad.size(), data.data(), out, bytes, data.data() + bytes,
                                 tag_bytes_);
        }));
    }

    const warpseal_mode mode_;
    const size_t tag_bytes_;
    const Key key_;
};

// A class of its own for each family.
template <const Family& family>
class Aead : public AeadKey {
public:
    Aead(nb::handle key, nb::handle engine)
        : AeadKey(family, InputBuffer(key, "key"), 16, engine) {}
    Aead(nb::handle key, Py_ssize_t tag_length, nb::handle engine)
        : AeadKey(family, InputBuffer(key, "key"), ccm_tag_bytes(tag_length), engine) {}
};

template <class Class>
void bind_batches(nb::class_<Class>& bound) {
    const auto aad = nb::arg("associated_data").none();
    bound
        .def(
            "seal_batch",
            [](const Class& self, nb::handle d, nb::handle a) {
                return seal_batch(self.batch_key(), d, a);
            },
            nb::arg("data"), aad = nb::none(),
            "Returns for each item of data a random nonce of 12 bytes, the ciphertext and the "
            "tag.\n"
            "associated_data: one buffer for all, or a sequence of one for each.\n"
            "LimitExceededError: the object drew 2^32 nonces.")
        .def(
            "open_batch",
            [](const Class& self, nb::handle s, nb::handle a) {
                return open_batch(self.batch_key(), s, a);
            },
            nb::arg("sealed"), aad = nb::none(),
            "Returns the plaintext of each item, which seal_batch made; None for one that does\n"
            "not verify.")
        .def(
            "seal_records",
            [](const Class& self, nb::handle b, nb::handle n, nb::handle d, nb::handle l,
               nb::handle t, nb::handle a) {
                seal_records(self.batch_key(), {b, n, d, l, t, a});
            },
            nb::arg("buf"), nb::kw_only(), nb::arg("nonces"), nb::arg("data"), nb::arg("lengths"),
            nb::arg("tags"), aad = nb::none(),
            "Seals records of buf in place: `lengths` bytes at the offsets `data`. Writes random\n"
            "nonces of 12 bytes at the offsets `nonces`, and tags at the offsets `tags`.")
        .def(
            "open_records",
            [](const Class& self, nb::handle b, nb::handle n, nb::handle d, nb::handle l,
               nb::handle t, nb::handle a) {
                return open_records(self.batch_key(), {b, n, d, l, t, a});
            },
            nb::arg("buf"), nb::kw_only(), nb::arg("nonces"), nb::arg("data"), nb::arg("lengths"),
            nb::arg("tags"), aad = nb::none(),
            "Opens records of buf in place. Returns the numbers of those that do not verify, "
            "whose\n"
            "text is zeros then: an empty list if all are authentic.");
}

template <const Family& family>
nb::class_<Aead<family>> bind_family(nb::module_& module) {
    using Class = Aead<family>;
    const auto nonce = nb::arg("nonce"), data = nb::arg("data");
    const auto aad = nb::arg("associated_data").none();
    nb::class_<Class> bound(module, family.class_name);
    bound
        .def(
            "encrypt",
            [](const Class& self, nb::handle n, nb::handle d, nb::handle a) {
                return self.encrypt(n, d, a);
            },
            nonce, data, aad, "Returns the ciphertext followed by the tag.")
        .def(
            "decrypt",
            [](const Class& self, nb::handle n, nb::handle d, nb::handle a) {
                return self.decrypt(n, d, a);
            },
            nonce, data, aad,
            "Returns the plaintext. data: the ciphertext followed by the tag.\n"
            "InvalidTag: it does not verify.")
        .def(
            "encrypt_into",
            [](const Class& self, nb::handle n, nb::handle d, nb::handle a, nb::handle b) {
                return self.encrypt_into(n, d, a, b);
            },
            nonce, data, aad, nb::arg("buf"),
            "Writes the ciphertext and the tag to buf, of exactly their size, and returns it.\n"
            "buf may begin where data does.")
        .def(
            "decrypt_into",
            [](const Class& self, nb::handle n, nb::handle d, nb::handle a, nb::handle b) {
                return self.decrypt_into(n, d, a, b);
            },
            nonce, data, aad, nb::arg("buf"),
            "Writes the plaintext to buf, of exactly its size, and returns it.\n"
            "buf may begin where data does. InvalidTag: buf is all zero bytes.");
    bind_batches(bound);
    return bound;
}

template <const Family& family>
void bind_gcm(nb::module_& module) {
    auto bound = bind_family<family>(module);
    bound.def(nb::init<nb::handle, nb::handle>(), nb::arg("key"), nb::kw_only(),
              nb::arg("engine").none() = nb::none());
    if constexpr (family.ciphers[1] == nullptr)
        bound.def_static("generate_key", [] { return generate_key(family, 128); });
    else
        bound.def_static(
            "generate_key", [](Py_ssize_t bits) { return generate_key(family, bits); },
            nb::arg("bit_length"));
}

}  // namespace

void bind_aead(nb::module_& module) {
    bind_gcm<aes_gcm>(module);
    bind_gcm<aria_gcm>(module);
    bind_gcm<camellia_gcm>(module);
    bind_gcm<sm4_gcm>(module);
    bind_family<aes_ccm>(module)
        .def(nb::init<nb::handle, Py_ssize_t, nb::handle>(), nb::arg("key"),
             nb::arg("tag_length") = 16, nb::kw_only(), nb::arg("engine").none() = nb::none())
        .def_static(
            "generate_key", [](Py_ssize_t bits) { return generate_key(aes_ccm, bits); },
            nb::arg("bit_length"));
}

}  // namespace warpseal::python
