// The classes of warpseal.hazmat: modes without a tag, and CMAC.
#include <cstring>
#include <optional>

#include <nanobind/stl/optional.h>

#include "bindings/bindings.h"
#include "bindings/buffer.h"
#include "bindings/calls.h"
#include "bindings/errors.h"
#include "bindings/key.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

constexpr size_t mode_release_bytes = 1024;  // about 10 microseconds of the slowest cipher

warpseal_cipher_info cipher_named(const char* name) {
    warpseal_cipher_info info;
    for (size_t i = 0; warpseal_cipher_at(i, &info) == WARPSEAL_OK; ++i)
        if (std::strcmp(info.name, name) == 0) return info;
    throw_status(WARPSEAL_UNSUPPORTED,
                 "cipher: there is no such cipher; warpseal.hazmat.ciphers() lists the names");
}

void check_key(const warpseal_cipher_info& cipher, const InputBuffer& key, size_t bytes) {
    if (key.size() != bytes)
        throw_value_error("key: %s needs %zu bytes, this has %zu", cipher.name, bytes, key.size());
}

warpseal_mode mode_named(const char* name) {
    for (int i = 0; i < WARPSEAL_MODE_COUNT; ++i) {
        const auto mode = static_cast<warpseal_mode>(i);
        const bool plain = mode == WARPSEAL_ECB || mode == WARPSEAL_CTR || mode == WARPSEAL_CBC ||
                           mode == WARPSEAL_CFB || mode == WARPSEAL_OFB;
        if (plain && std::strcmp(warpseal_mode_name(mode), name) == 0) return mode;
    }
    throw_value_error("mode: '%s' is not 'ecb', 'ctr', 'cbc', 'cfb' or 'ofb'", name);
}

using PlainCall = decltype(&warpseal_encrypt);
using PaddedCall = decltype(&warpseal_encrypt_padded);
using XtsCall = decltype(&warpseal_xts_encrypt);

class BlockCipher {
public:
    BlockCipher(const char* cipher, const InputBuffer& key, nb::handle engine)
        : info_(cipher_named(cipher)), key_(checked(engine, key)) {}

    template <PlainCall call>
    nb::object plain(const char* mode, nb::handle iv, nb::handle data_argument) const {
        const InputBuffer data(data_argument, "data");
        nb::object out = new_bytes(data.size());
        run<call>(mode, iv, data, memory_of(out));
        return out;
    }

    template <PlainCall call>
    size_t plain_into(const char* mode, nb::handle iv, nb::handle data_argument,
                      nb::handle buf_argument) const {
        const InputBuffer data(data_argument, "data");
        const OutputBuffer buf(buf_argument, "buf");
        buf.require_size(data.size());
        buf.require_same_or_apart(data, data.size(), buf.size(), "data");
        run<call>(mode, iv, data, buf.data());
        return buf.size();
    }

    template <PaddedCall call>
    nb::object padded(nb::handle iv_argument, nb::handle data_argument) const {
        const OptionalBuffer iv(iv_argument, "iv");
        const InputBuffer data(data_argument, "data");
        check_iv(WARPSEAL_CBC, iv);
        constexpr bool sealing = call == warpseal_encrypt_padded;
        if (!sealing && (data.size() == 0 || data.size() % info_.block_bytes != 0))
            throw_value_error("data: padded ciphertext is whole blocks of %u bytes, at least one",
                              info_.block_bytes);
        const size_t room =
            sealing ? (data.size() / info_.block_bytes + 1) * info_.block_bytes : data.size();
        nb::object out = new_bytes(room);
        size_t written = 0;
        check(without_gil(room >= mode_release_bytes, [&] {
            return call(key_.get(), iv.data(), iv.size(), data.data(), data.size(), memory_of(out),
                        room, &written);
        }));
        if (written == room) return out;
        nb::object text = nb::steal(PyBytes_FromStringAndSize(PyBytes_AsString(out.ptr()),
                                                              static_cast<Py_ssize_t>(written)));
        if (!text.is_valid()) throw nb::python_error();
        return text;
    }

    nb::object mac(nb::handle data_argument, std::optional<Py_ssize_t> wanted_length) const {
        const InputBuffer data(data_argument, "data");
        const Py_ssize_t wanted = wanted_length.value_or(info_.block_bytes);
        if (wanted < 1 || wanted > Py_ssize_t{info_.block_bytes})
            throw_value_error("tag_length must be 1 to %u, not %zd", info_.block_bytes, wanted);
        const auto tag_length = static_cast<size_t>(wanted);
        nb::object tag = new_bytes(tag_length);
        check(without_gil(data.size() >= mode_release_bytes, [&] {
            return warpseal_mac(key_.get(), WARPSEAL_CMAC, data.data(), data.size(), memory_of(tag),
                                tag_length);
        }));
        return tag;
    }

    void verify_mac(nb::handle data_argument, nb::handle tag_argument) const {
        const InputBuffer data(data_argument, "data"), tag(tag_argument, "tag");
        if (tag.size() == 0 || tag.size() > info_.block_bytes)
            throw_value_error("tag must be 1 to %u bytes, this has %zu", info_.block_bytes,
                              tag.size());
        check(without_gil(data.size() >= mode_release_bytes, [&] {
            return warpseal_mac_verify(key_.get(), WARPSEAL_CMAC, data.data(), data.size(),
                                       tag.data(), tag.size());
        }));
    }

private:
    Key checked(nb::handle engine, const InputBuffer& key) const {
        check_key(info_, key, info_.key_bytes);
        return {engine_of(engine), info_.name, key.data(), key.size()};
    }

    void check_iv(warpseal_mode mode, const InputBuffer& iv) const {
        const size_t bytes = mode == WARPSEAL_ECB ? 0 : info_.block_bytes;
        if (iv.size() != bytes)
            throw_value_error("iv: %s in %s mode needs %zu bytes, this has %zu", info_.name,
                              warpseal_mode_name(mode), bytes, iv.size());
    }

    template <PlainCall call>
    void run(const char* mode_name, nb::handle iv_argument, const InputBuffer& data,
             uint8_t* out) const {
        const warpseal_mode mode = mode_named(mode_name);
        const OptionalBuffer iv(iv_argument, "iv");
        check_iv(mode, iv);
        const bool whole_blocks = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC;
        if (whole_blocks && data.size() % info_.block_bytes != 0)
            throw_value_error("data: %s needs whole blocks of %u bytes, this has %zu bytes",
                              mode_name, info_.block_bytes, data.size());
        check(without_gil(data.size() >= mode_release_bytes, [&] {
            return call(key_.get(), mode, iv.data(), iv.size(), data.data(), out, data.size());
        }));
    }

    const warpseal_cipher_info info_;
    const Key key_;
};

class Xts {
public:
    Xts(const char* cipher, const InputBuffer& key, nb::handle engine)
        : key_(checked(cipher_named(cipher), engine, key)) {}

    template <XtsCall call>
    nb::object run(nb::handle first_unit_argument, nb::handle data_argument,
                   uint64_t data_unit_length) const {
        const InputBuffer first_unit(first_unit_argument, "first_unit");
        const InputBuffer data(data_argument, "data");
        if (first_unit.size() != 16)
            throw_value_error(
                "first_unit must be 16 bytes, the number of the first data unit, "
                "least significant byte first; this has %zu",
                first_unit.size());
        if (data.size() < 16) throw_value_error("data: XTS needs at least 16 bytes");
        const uint64_t unit = data_unit_length == 0 ? data.size() : data_unit_length;
        nb::object out = new_bytes(data.size());
        check(without_gil(data.size() >= mode_release_bytes, [&] {
            return call(key_.get(), first_unit.data(), unit, data.data(), memory_of(out),
                        data.size());
        }));
        return out;
    }

private:
    static Key checked(const warpseal_cipher_info& info, nb::handle engine,
                       const InputBuffer& key) {
        check_key(info, key, size_t{2} * info.key_bytes);
        return {engine_of(engine), info.name, key.data(), key.size(), true};
    }

    const Key key_;
};

nb::list ciphers() {
    nb::list all;
    warpseal_cipher_info info;
    for (size_t i = 0; warpseal_cipher_at(i, &info) == WARPSEAL_OK; ++i) {
        nb::list modes;
        for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
            if ((info.modes >> mode & 1) != 0)
                modes.append(warpseal_mode_name(static_cast<warpseal_mode>(mode)));
        all.append(nb::make_tuple(info.name, info.key_bytes, info.block_bytes, nb::tuple(modes),
                                  info.legacy != 0));
    }
    return all;
}

}  // namespace

void bind_hazmat(nb::module_& module) {
    module.def("ciphers", ciphers);
    const auto mode = nb::arg("mode"), data = nb::arg("data");
    const auto iv = nb::arg("iv").none();
    nb::class_<BlockCipher>(module, "BlockCipher")
        .def(
            "__init__",
            [](BlockCipher* self, const char* cipher, nb::handle key, nb::handle engine) {
                new (self) BlockCipher(cipher, InputBuffer(key, "key"), engine);
            },
            nb::arg("cipher"), nb::arg("key"), nb::kw_only(), nb::arg("engine").none() = nb::none())
        .def("encrypt", &BlockCipher::plain<warpseal_encrypt>, mode, iv, data)
        .def("decrypt", &BlockCipher::plain<warpseal_decrypt>, mode, iv, data)
        .def("encrypt_into", &BlockCipher::plain_into<warpseal_encrypt>, mode, iv, data,
             nb::arg("buf"))
        .def("decrypt_into", &BlockCipher::plain_into<warpseal_decrypt>, mode, iv, data,
             nb::arg("buf"))
        .def("encrypt_padded", &BlockCipher::padded<warpseal_encrypt_padded>, nb::arg("iv"), data)
        .def("decrypt_padded", &BlockCipher::padded<warpseal_decrypt_padded>, nb::arg("iv"), data)
        .def("mac", &BlockCipher::mac, data, nb::arg("tag_length").none() = nb::none())
        .def("verify_mac", &BlockCipher::verify_mac, data, nb::arg("tag"));
    nb::class_<Xts>(module, "XTS")
        .def(
            "__init__",
            [](Xts* self, const char* cipher, nb::handle key, nb::handle engine) {
                new (self) Xts(cipher, InputBuffer(key, "key"), engine);
            },
            nb::arg("cipher"), nb::arg("key"), nb::kw_only(), nb::arg("engine").none() = nb::none())
        .def("encrypt", &Xts::run<warpseal_xts_encrypt>, nb::arg("first_unit"), data,
             nb::arg("data_unit_length") = 0)
        .def("decrypt", &Xts::run<warpseal_xts_decrypt>, nb::arg("first_unit"), data,
             nb::arg("data_unit_length") = 0);
}

}  // namespace warpseal::python
