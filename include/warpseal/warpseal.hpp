// warpseal.hpp: the C interface for C++20: handles that free themselves, spans, and a status as an
// exception. No other logic.
#ifndef WARPSEAL_WARPSEAL_HPP
#define WARPSEAL_WARPSEAL_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "warpseal/batch.h"
#include "warpseal/batcher.h"
#include "warpseal/cobblestone.h"
#include "warpseal/device_file.h"
#include "warpseal/drbg.h"
#include "warpseal/error.h"
#include "warpseal/kem.h"
#include "warpseal/reader.h"
#include "warpseal/slots.h"
#include "warpseal/warpseal.h"

// The inline namespace keeps these names apart from those inside a statically linked library.
namespace warpseal {
inline namespace bindings {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

// A status other than WARPSEAL_OK.
class Error : public std::exception {
public:
    explicit Error(warpseal_status status) : status_(status) {}
    warpseal_status status() const noexcept { return status_; }
    const char* what() const noexcept override { return warpseal_status_text(status_); }

private:
    warpseal_status status_;
};

inline void check(warpseal_status status) {
    if (status != WARPSEAL_OK) throw Error(status);
}

// Outputs must be as long as inputs: the C interface has one length for both.
inline std::size_t same_size(Bytes in, MutableBytes out) {
    if (in.size() != out.size()) throw Error(WARPSEAL_INVALID_ARGUMENT);
    return in.size();
}

class Engine {
public:
    explicit Engine(const char* device = nullptr, std::uint32_t threads = 0) {
        warpseal_engine_options options = {};
        options.struct_bytes = sizeof options;
        options.device = device;
        options.threads = threads;
        create(options);
    }
    explicit Engine(const warpseal_engine_options& options) { create(options); }
    warpseal_engine* get() const noexcept { return engine_.get(); }
    const char* pick(const char* cipher, warpseal_mode mode, std::uint64_t bytes) const {
        return warpseal_engine_pick(get(), cipher, mode, bytes);
    }

private:
    void create(const warpseal_engine_options& options) {
        warpseal_engine* made = nullptr;
        check(warpseal_engine_create(&options, &made));
        engine_.reset(made);
    }
    struct Destroy {
        void operator()(warpseal_engine* engine) const noexcept { warpseal_engine_destroy(engine); }
    };
    std::unique_ptr<warpseal_engine, Destroy> engine_;
};

// Keep the engine alive as long as its keys.
class Key {
public:
    Key(const Engine& engine, const char* cipher, Bytes key)
        : Key(engine, cipher, key, warpseal_key_create) {}
    // Data key, then tweak key: for XTS alone.
    static Key xts(const Engine& engine, const char* cipher, Bytes keys) {
        return Key(engine, cipher, keys, warpseal_key_create_xts);
    }
    const warpseal_key* get() const noexcept { return key_.get(); }

    // Modes without a tag; out may be in. Unauthenticated: whoever can change the output can change
    // the message.
    void encrypt(warpseal_mode mode, Bytes iv, Bytes in, MutableBytes out) const {
        check(warpseal_encrypt(get(), mode, iv.data(), iv.size(), in.data(), out.data(),
                               same_size(in, out)));
    }
    void decrypt(warpseal_mode mode, Bytes iv, Bytes in, MutableBytes out) const {
        check(warpseal_decrypt(get(), mode, iv.data(), iv.size(), in.data(), out.data(),
                               same_size(in, out)));
    }
    // CBC with PKCS#7 padding: up to a block longer. Returns what of `out` was written.
    std::size_t encrypt_padded(Bytes iv, Bytes in, MutableBytes out) const {
        std::size_t written = 0;
        check(warpseal_encrypt_padded(get(), iv.data(), iv.size(), in.data(), in.size(), out.data(),
                                      out.size(), &written));
        return written;
    }
    // False: no such padding, and out is wiped. Revealing this to an attacker reveals plaintext:
    // authenticate first.
    [[nodiscard]] bool decrypt_padded(Bytes iv, Bytes in, MutableBytes out,
                                      std::size_t& written) const {
        return holds(warpseal_decrypt_padded(get(), iv.data(), iv.size(), in.data(), in.size(),
                                             out.data(), out.size(), &written),
                     WARPSEAL_BAD_PADDING);
    }
    // Data units of data_unit_bytes, numbered from first_unit, least significant byte first.
    void xts_encrypt(std::span<const std::uint8_t, 16> first_unit, std::uint64_t data_unit_bytes,
                     Bytes in, MutableBytes out) const {
        check(warpseal_xts_encrypt(get(), first_unit.data(), data_unit_bytes, in.data(), out.data(),
                                   same_size(in, out)));
    }
    void xts_decrypt(std::span<const std::uint8_t, 16> first_unit, std::uint64_t data_unit_bytes,
                     Bytes in, MutableBytes out) const {
        check(warpseal_xts_decrypt(get(), first_unit.data(), data_unit_bytes, in.data(), out.data(),
                                   same_size(in, out)));
    }
    // GCM or CCM. Writes the IV that was drawn, the ciphertext and the tag.
    void seal(std::span<std::uint8_t, 12> iv, Bytes aad, Bytes in, MutableBytes out,
              MutableBytes tag, warpseal_mode mode = WARPSEAL_GCM) const {
        check(warpseal_seal(get(), mode, iv.data(), aad.data(), aad.size(), in.data(), out.data(),
                            same_size(in, out), tag.data(), tag.size()));
    }
    // False: not authentic, and out is wiped.
    [[nodiscard]] bool open(Bytes iv, Bytes aad, Bytes in, MutableBytes out, Bytes tag,
                            warpseal_mode mode = WARPSEAL_GCM) const {
        return holds(warpseal_open(get(), mode, iv.data(), iv.size(), aad.data(), aad.size(),
                                   in.data(), out.data(), same_size(in, out), tag.data(),
                                   tag.size()));
    }
    // CMAC.
    void mac(Bytes in, MutableBytes tag) const {
        check(warpseal_mac(get(), WARPSEAL_CMAC, in.data(), in.size(), tag.data(), tag.size()));
    }
    [[nodiscard]] bool mac_verify(Bytes in, Bytes tag) const {
        return holds(warpseal_mac_verify(get(), WARPSEAL_CMAC, in.data(), in.size(), tag.data(),
                                         tag.size()));
    }

    // Batches: see warpseal_batch. Opening and verifying return false if some message is not
    // authentic: its status says so, and its output is wiped.
    void encrypt(warpseal_mode mode, const warpseal_batch& batch) const {
        check(warpseal_encrypt_batch(get(), mode, &batch));
    }
    void decrypt(warpseal_mode mode, const warpseal_batch& batch) const {
        check(warpseal_decrypt_batch(get(), mode, &batch));
    }
    void seal_unsafe_iv(const warpseal_batch& batch, warpseal_mode mode = WARPSEAL_GCM) const {
        check(warpseal_seal_batch_unsafe_iv(get(), mode, &batch));
    }
    // Writes the IVs that were drawn, that of message i at ivs + i * iv_stride.
    void seal(const warpseal_batch& batch, MutableBytes ivs,
              warpseal_mode mode = WARPSEAL_GCM) const {
        warpseal_scattered_batch all = {};
        all.batch = batch;
        all.batch.struct_bytes = sizeof all;
        seal(all, ivs, mode);
    }
    [[nodiscard]] bool open(const warpseal_batch& batch, warpseal_mode mode = WARPSEAL_GCM) const {
        return holds(warpseal_open_batch(get(), mode, &batch));
    }
    void mac(const warpseal_batch& batch) const {
        check(warpseal_mac_batch(get(), WARPSEAL_CMAC, &batch));
    }
    [[nodiscard]] bool mac_verify(const warpseal_batch& batch) const {
        return holds(warpseal_mac_verify_batch(get(), WARPSEAL_CMAC, &batch));
    }

    // Batches whose messages lie anywhere: see warpseal_scattered_batch.
    void encrypt(warpseal_mode mode, const warpseal_scattered_batch& batch) const {
        encrypt(mode, whole(batch));
    }
    void decrypt(warpseal_mode mode, const warpseal_scattered_batch& batch) const {
        decrypt(mode, whole(batch));
    }
    void seal_unsafe_iv(const warpseal_scattered_batch& batch,
                        warpseal_mode mode = WARPSEAL_GCM) const {
        seal_unsafe_iv(whole(batch), mode);
    }
    // ivs: the base of the IVs that are drawn, and their extent. Empty with iv_pointers.
    void seal(const warpseal_scattered_batch& batch, MutableBytes ivs,
              warpseal_mode mode = WARPSEAL_GCM) const {
        warpseal_scattered_batch bounded = batch;
        bounded.iv_extent = ivs.size();
        check(warpseal_seal_batch(get(), mode, &whole(bounded), ivs.data()));
    }
    [[nodiscard]] bool open(const warpseal_scattered_batch& batch,
                            warpseal_mode mode = WARPSEAL_GCM) const {
        return open(whole(batch), mode);
    }
    void mac(const warpseal_scattered_batch& batch) const { mac(whole(batch)); }
    [[nodiscard]] bool mac_verify(const warpseal_scattered_batch& batch) const {
        return mac_verify(whole(batch));
    }

    // Device memory, asynchronously on the stream. iv and first_unit are in host memory. Every
    // pointer of a batch is a device pointer; statuses there give the outcome of each message.
    void encrypt_device(warpseal_mode mode, Bytes iv, const void* in, void* out, std::size_t bytes,
                        void* stream = nullptr) const {
        check(warpseal_encrypt_device(get(), mode, iv.data(), iv.size(), in, out, bytes, stream));
    }
    void decrypt_device(warpseal_mode mode, Bytes iv, const void* in, void* out, std::size_t bytes,
                        void* stream = nullptr) const {
        check(warpseal_decrypt_device(get(), mode, iv.data(), iv.size(), in, out, bytes, stream));
    }
    void xts_encrypt_device(std::span<const std::uint8_t, 16> first_unit,
                            std::uint64_t data_unit_bytes, const void* in, void* out,
                            std::size_t bytes, void* stream = nullptr) const {
        check(warpseal_xts_encrypt_device(get(), first_unit.data(), data_unit_bytes, in, out, bytes,
                                          stream));
    }
    void xts_decrypt_device(std::span<const std::uint8_t, 16> first_unit,
                            std::uint64_t data_unit_bytes, const void* in, void* out,
                            std::size_t bytes, void* stream = nullptr) const {
        check(warpseal_xts_decrypt_device(get(), first_unit.data(), data_unit_bytes, in, out, bytes,
                                          stream));
    }
    void encrypt_device(warpseal_mode mode, const warpseal_scattered_batch& batch,
                        void* stream = nullptr) const {
        check(warpseal_encrypt_batch_device(get(), mode, &whole(batch), stream));
    }
    void decrypt_device(warpseal_mode mode, const warpseal_scattered_batch& batch,
                        void* stream = nullptr) const {
        check(warpseal_decrypt_batch_device(get(), mode, &whole(batch), stream));
    }
    void seal_device_unsafe_iv(const warpseal_scattered_batch& batch, void* stream = nullptr,
                               warpseal_mode mode = WARPSEAL_GCM) const {
        check(warpseal_seal_batch_device_unsafe_iv(get(), mode, &whole(batch), stream));
    }
    // ivs: the base of the IVs that the GPU draws. Null with iv_pointers.
    void seal_device(const warpseal_scattered_batch& batch, void* ivs, void* stream = nullptr,
                     warpseal_mode mode = WARPSEAL_GCM) const {
        check(warpseal_seal_batch_device(get(), mode, &whole(batch), ivs, stream));
    }
    void open_device(const warpseal_scattered_batch& batch, void* stream = nullptr,
                     warpseal_mode mode = WARPSEAL_GCM) const {
        check(warpseal_open_batch_device(get(), mode, &whole(batch), stream));
    }
    void mac_device(const warpseal_scattered_batch& batch, void* stream = nullptr) const {
        check(warpseal_mac_batch_device(get(), WARPSEAL_CMAC, &whole(batch), stream));
    }
    void mac_verify_device(const warpseal_scattered_batch& batch, void* stream = nullptr) const {
        check(warpseal_mac_verify_batch_device(get(), WARPSEAL_CMAC, &whole(batch), stream));
    }
    // Bytes of scratch for these calls: see warpseal_batch_device_workspace.
    std::uint64_t device_workspace(const warpseal_scattered_batch& batch,
                                   warpseal_mode mode = WARPSEAL_GCM) const {
        std::uint64_t bytes = 0;
        check(warpseal_batch_device_workspace(get(), mode, &whole(batch), &bytes));
        return bytes;
    }

private:
    using Create = decltype(warpseal_key_create);
    Key(const Engine& engine, const char* cipher, Bytes key, Create* create) {
        warpseal_key* made = nullptr;
        check(create(engine.get(), cipher, key.data(), key.size(), &made));
        key_.reset(made);
    }
    // With a smaller struct_bytes the calls would not read the offsets and pointers.
    static const warpseal_batch& whole(const warpseal_scattered_batch& batch) {
        if (batch.batch.struct_bytes < sizeof batch) throw Error(WARPSEAL_INVALID_ARGUMENT);
        return batch.batch;
    }
    static bool holds(warpseal_status status, warpseal_status refusal = WARPSEAL_NOT_AUTHENTIC) {
        if (status != refusal) check(status);
        return status == WARPSEAL_OK;
    }
    struct Destroy {
        void operator()(warpseal_key* key) const noexcept { warpseal_key_destroy(key); }
    };
    std::unique_ptr<warpseal_key, Destroy> key_;
};

// Memory of the engine that wipes and frees itself: pinned where the engine has a GPU, or on the
// GPU. Can be moved; what is moved from has no bytes.
class HostMemory {
public:
    HostMemory(const Engine& engine, std::size_t bytes) : bytes_(bytes) {
        void* memory = nullptr;
        check(warpseal_host_alloc(engine.get(), bytes, &memory));
        memory_ = std::unique_ptr<void, Free>(memory, Free{engine.get()});
    }
    MutableBytes span() const noexcept {
        return {static_cast<std::uint8_t*>(memory_.get()), memory_ ? bytes_ : 0};
    }

private:
    struct Free {
        warpseal_engine* engine;
        void operator()(void* memory) const noexcept { warpseal_host_free(engine, memory); }
    };
    std::size_t bytes_;
    std::unique_ptr<void, Free> memory_;
};

class DeviceMemory {
public:
    DeviceMemory(const Engine& engine, std::size_t bytes) : bytes_(bytes) {
        void* memory = nullptr;
        check(warpseal_device_alloc(engine.get(), bytes, &memory));
        memory_ = std::unique_ptr<void, Free>(memory, Free{engine.get()});
    }
    void* get() const noexcept { return memory_.get(); }
    std::size_t size() const noexcept { return memory_ ? bytes_ : 0; }
    void upload(Bytes from) {
        if (from.size() > size()) throw Error(WARPSEAL_INVALID_ARGUMENT);
        check(
            warpseal_device_upload(memory_.get_deleter().engine, get(), from.data(), from.size()));
    }
    void download(MutableBytes to) const {
        if (to.size() > size()) throw Error(WARPSEAL_INVALID_ARGUMENT);
        check(warpseal_device_download(memory_.get_deleter().engine, to.data(), get(), to.size()));
    }

private:
    struct Free {
        warpseal_engine* engine;
        void operator()(void* memory) const noexcept { warpseal_device_free(engine, memory); }
    };
    std::size_t bytes_;
    std::unique_ptr<void, Free> memory_;
};

// Waits for all work on the stream; null: on the default stream of each open GPU.
inline void synchronize(const Engine& engine, void* stream = nullptr) {
    check(warpseal_device_synchronize(engine.get(), stream));
}

// A random generator: see drbg.h. Keep the engine alive as long.
class Drbg {
public:
    explicit Drbg(const Engine& engine, Bytes personalization = {},
                  bool prediction_resistance = false) {
        warpseal_drbg_options options = {};
        options.struct_bytes = sizeof options;
        options.prediction_resistance = prediction_resistance ? 1 : 0;
        options.personalization = personalization.data();
        options.personalization_bytes = personalization.size();
        warpseal_drbg* made = nullptr;
        check(warpseal_drbg_create(engine.get(), &options, &made));
        drbg_.reset(made);
    }
    warpseal_drbg* get() const noexcept { return drbg_.get(); }
    void reseed(Bytes additional = {}) {
        check(warpseal_drbg_reseed(get(), additional.data(), additional.size()));
    }
    void fill(MutableBytes out) { check(warpseal_drbg_fill(get(), out.data(), out.size())); }
    // Asynchronous on the stream.
    void fill(DeviceMemory& out, void* stream = nullptr) {
        check(warpseal_drbg_fill_device(get(), out.get(), out.size(), stream));
    }

private:
    struct Destroy {
        void operator()(warpseal_drbg* drbg) const noexcept { warpseal_drbg_destroy(drbg); }
    };
    std::unique_ptr<warpseal_drbg, Destroy> drbg_;
};

// Items of a batch of key encapsulation: side by side, or each `stride` bytes after the one before
// it; 0: one for all, where they are read.
template <class Byte>
class ItemsOf {
public:
    static constexpr std::size_t packed = SIZE_MAX;

    template <class Range,
              class = std::enable_if_t<std::is_convertible_v<Range&&, std::span<Byte>>>>
    ItemsOf(Range&& range, std::size_t stride = packed)
        : bytes_(std::forward<Range>(range)), stride_(stride) {}
    Byte* data() const noexcept { return bytes_.data(); }
    // The next two are for items of so many bytes, and throw where these do not fit.
    std::uint64_t count(std::size_t item_bytes) const {
        const std::size_t step = stride_ == packed ? item_bytes : stride_;
        if (bytes_.empty()) return 0;
        if (step < item_bytes || bytes_.size() < item_bytes ||
            (stride_ == packed && bytes_.size() % item_bytes != 0))
            throw Error(WARPSEAL_INVALID_ARGUMENT);
        return (bytes_.size() - item_bytes) / step + 1;
    }
    std::uint64_t stride(std::size_t item_bytes, std::uint64_t wanted) const {
        if (stride_ == 0 ? bytes_.size() != item_bytes : count(item_bytes) != wanted)
            throw Error(WARPSEAL_INVALID_ARGUMENT);
        return stride_ == packed ? item_bytes : stride_;
    }

private:
    std::span<Byte> bytes_;
    std::size_t stride_;
};
using Items = ItemsOf<const std::uint8_t>;
using MutableItems = ItemsOf<std::uint8_t>;

// A parameter set of key encapsulation on an engine, which it must not outlive. Spans hold any
// number of items, one for a single operation; all of a call as many.
class Kem {
public:
    Kem(const Engine& engine, const char* set) : engine_(engine.get()), info_(find(set)) {}
    const warpseal_kem_info& info() const noexcept { return info_; }

    void keypair(MutableItems public_keys, MutableItems secret_keys) const {
        warpseal_kem_batch batch = of(public_keys.count(info_.public_key_bytes));
        put(batch.public_keys, batch.public_key_stride, public_keys, info_.public_key_bytes,
            batch.count);
        put(batch.secret_keys, batch.secret_key_stride, secret_keys, info_.secret_key_bytes,
            batch.count);
        keypair(batch);
    }
    void encapsulate(Items public_keys, MutableItems ciphertexts,
                     MutableItems shared_secrets) const {
        warpseal_kem_batch batch = of(ciphertexts.count(info_.ciphertext_bytes));
        put(batch.public_keys, batch.public_key_stride, public_keys, info_.public_key_bytes,
            batch.count);
        put(batch.ciphertexts, batch.ciphertext_stride, ciphertexts, info_.ciphertext_bytes,
            batch.count);
        put(batch.shared_secrets, batch.shared_secret_stride, shared_secrets,
            info_.shared_secret_bytes, batch.count);
        encapsulate(batch);
    }
    // A ciphertext of another key gives an unrelated secret (implicit rejection).
    void decapsulate(Items secret_keys, Items ciphertexts, MutableItems shared_secrets) const {
        warpseal_kem_batch batch = of(shared_secrets.count(info_.shared_secret_bytes));
        put(batch.secret_keys, batch.secret_key_stride, secret_keys, info_.secret_key_bytes,
            batch.count);
        put(batch.ciphertexts, batch.ciphertext_stride, ciphertexts, info_.ciphertext_bytes,
            batch.count);
        put(batch.shared_secrets, batch.shared_secret_stride, shared_secrets,
            info_.shared_secret_bytes, batch.count);
        decapsulate(batch);
    }

    // With coins or a status for each item: see warpseal_kem_batch.
    void keypair(const warpseal_kem_batch& batch) const {
        check(warpseal_kem_keypair(engine_, info_.name, &batch));
    }
    void encapsulate(const warpseal_kem_batch& batch) const {
        check(warpseal_kem_encapsulate(engine_, info_.name, &batch));
    }
    void decapsulate(const warpseal_kem_batch& batch) const {
        check(warpseal_kem_decapsulate(engine_, info_.name, &batch));
    }

    static warpseal_kem_info find(const char* set) {
        if (set == nullptr) throw Error(WARPSEAL_INVALID_ARGUMENT);
        warpseal_kem_info info = {};
        for (std::size_t i = 0; warpseal_kem_at(i, &info) == WARPSEAL_OK; ++i)
            if (std::string_view(info.name) == set) return info;
        throw Error(WARPSEAL_UNSUPPORTED);
    }

private:
    static warpseal_kem_batch of(std::uint64_t count) {
        warpseal_kem_batch batch = {};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        return batch;
    }
    template <class Byte>
    static void put(std::uint8_t*& at, std::uint64_t& stride, const ItemsOf<Byte>& items,
                    std::size_t item_bytes, std::uint64_t count) {
        at = const_cast<std::uint8_t*>(items.data());  // the C struct is one for arrays that are
                                                       // read and for those that are written
        stride = items.stride(item_bytes, count);
    }
    warpseal_engine* engine_;
    warpseal_kem_info info_;
};

// A key prepared for many operations: see warpseal_kem_key. Any number of threads may use one. Keep
// the engine alive as long.
class KemPreparedKey {
public:
    const warpseal_kem_info& info() const noexcept { return info_; }
    warpseal_kem_key* get() const noexcept { return key_.get(); }

protected:
    using Create = decltype(&warpseal_kem_public_key_create);
    KemPreparedKey(const Engine& engine, const char* set, std::span<const std::uint8_t> bytes,
                   Create create)
        : info_(Kem::find(set)) {
        warpseal_kem_key* made = nullptr;
        check(create(engine.get(), set, bytes.data(), bytes.size(), &made));
        key_.reset(made);
    }
    warpseal_kem_batch of(std::uint64_t count, const std::uint8_t* ciphertexts,
                          std::uint64_t stride, MutableItems shared_secrets) const {
        warpseal_kem_batch batch = {};
        batch.struct_bytes = sizeof batch;
        batch.count = count;
        batch.ciphertexts = const_cast<std::uint8_t*>(ciphertexts);  // as in Kem
        batch.ciphertext_stride = stride;
        batch.shared_secrets = shared_secrets.data();
        batch.shared_secret_stride = shared_secrets.stride(info_.shared_secret_bytes, count);
        return batch;
    }

private:
    struct Destroy {
        void operator()(warpseal_kem_key* key) const noexcept { warpseal_kem_key_destroy(key); }
    };
    warpseal_kem_info info_;
    std::unique_ptr<warpseal_kem_key, Destroy> key_;
};
class KemPublicKey : public KemPreparedKey {
public:
    KemPublicKey(const Engine& engine, const char* set, std::span<const std::uint8_t> bytes)
        : KemPreparedKey(engine, set, bytes, warpseal_kem_public_key_create) {}
    void encapsulate(MutableItems ciphertexts, MutableItems shared_secrets) const {
        const std::uint64_t count = ciphertexts.count(info().ciphertext_bytes);
        encapsulate(of(count, ciphertexts.data(),
                       ciphertexts.stride(info().ciphertext_bytes, count), shared_secrets));
    }
    // With coins or a status for each item.
    void encapsulate(const warpseal_kem_batch& batch) const {
        check(warpseal_kem_key_encapsulate(get(), &batch));
    }
};
class KemSecretKey : public KemPreparedKey {
public:
    KemSecretKey(const Engine& engine, const char* set, std::span<const std::uint8_t> bytes)
        : KemPreparedKey(engine, set, bytes, warpseal_kem_secret_key_create) {}
    void decapsulate(Items ciphertexts, MutableItems shared_secrets) const {
        const std::uint64_t count = shared_secrets.count(info().shared_secret_bytes);
        decapsulate(of(count, ciphertexts.data(),
                       ciphertexts.stride(info().ciphertext_bytes, count), shared_secrets));
    }
    void decapsulate(const warpseal_kem_batch& batch) const {
        check(warpseal_kem_key_decapsulate(get(), &batch));
    }
};

// Key pairs made ahead, each handed out once: see warpseal_kem_pool. Keep the engine alive as long.
class KemKeyPool {
public:
    KemKeyPool(const Engine& engine, const char* set, std::uint64_t pairs) : info_(Kem::find(set)) {
        warpseal_kem_pool* made = nullptr;
        check(warpseal_kem_pool_create(engine.get(), set, pairs, &made));
        pool_.reset(made);
    }
    const warpseal_kem_info& info() const noexcept { return info_; }
    warpseal_kem_pool* get() const noexcept { return pool_.get(); }

    void fill() { check(warpseal_kem_pool_fill(get())); }
    void acquire(MutableItems public_keys, std::span<std::uint64_t> handles) {
        const std::uint64_t stride = public_keys.stride(info_.public_key_bytes, handles.size());
        check(warpseal_kem_pool_acquire(get(), handles.size(), public_keys.data(), stride,
                                        handles.data()));
    }
    // Throws if a handle is invalid. `statuses`, if given, tell which; the other items have their
    // secrets.
    void decapsulate(std::span<const std::uint64_t> handles, Items ciphertexts,
                     MutableItems shared_secrets, std::span<std::int32_t> statuses = {}) {
        if (!statuses.empty() && statuses.size() != handles.size())
            throw Error(WARPSEAL_INVALID_ARGUMENT);
        check(warpseal_kem_pool_decapsulate(
            get(), handles.size(), handles.data(), ciphertexts.data(),
            ciphertexts.stride(info_.ciphertext_bytes, handles.size()), shared_secrets.data(),
            shared_secrets.stride(info_.shared_secret_bytes, handles.size()), statuses.data()));
    }
    void release(std::span<const std::uint64_t> handles) noexcept {
        warpseal_kem_pool_release(get(), handles.size(), handles.data());
    }

private:
    struct Destroy {
        void operator()(warpseal_kem_pool* pool) const noexcept { warpseal_kem_pool_destroy(pool); }
    };
    warpseal_kem_info info_;
    std::unique_ptr<warpseal_kem_pool, Destroy> pool_;
};

// Requests of many threads gathered into batches: see warpseal_kem_batcher. Keep the engine alive
// as long.
class KemBatcher {
public:
    explicit KemBatcher(const Engine& engine,
                        const warpseal_kem_batcher_options* options = nullptr) {
        warpseal_kem_batcher* made = nullptr;
        check(warpseal_kem_batcher_create(engine.get(), options, &made));
        batcher_.reset(made);
    }
    warpseal_kem_batcher* get() const noexcept { return batcher_.get(); }

    void run(const warpseal_kem_request& request) {
        check(warpseal_kem_batcher_run(get(), &request));
    }
    // False: the queue is at its bound, and nothing is queued.
    bool submit(const warpseal_kem_request& request) {
        const warpseal_status status = warpseal_kem_batcher_submit(get(), &request);
        if (status != WARPSEAL_LIMIT_EXCEEDED) check(status);
        return status == WARPSEAL_OK;
    }
    warpseal_kem_batcher_counts counts() const {
        warpseal_kem_batcher_counts out = {};
        out.struct_bytes = sizeof out;
        check(warpseal_kem_batcher_counts_read(get(), &out));
        return out;
    }

private:
    struct Destroy {
        void operator()(warpseal_kem_batcher* batcher) const noexcept {
            warpseal_kem_batcher_destroy(batcher);
        }
    };
    std::unique_ptr<warpseal_kem_batcher, Destroy> batcher_;
};

// A file that cannot be sealed or opened: `what` says what and why.
class FileError : public Error {
public:
    FileError(warpseal_status status, const warpseal_file_result& result)
        : Error(status), result_(result) {}
    const char* what() const noexcept override { return result_.message; }
    const warpseal_file_result& result() const noexcept { return result_; }

private:
    warpseal_file_result result_;
};

namespace detail {

template <class Call>
warpseal_file_result file(Call call) {
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    const warpseal_status status = call(result);
    if (status != WARPSEAL_OK) throw FileError(status, result);
    return result;
}

}  // namespace detail

// Secrets for warpseal_file_options and warpseal_slots_change. They refer to the text, which is
// "age1…" or "AGE-SECRET-KEY-1…".
inline warpseal_secret recipient(std::string_view text) noexcept {
    return {WARPSEAL_SECRET_RECIPIENT, text.data(), text.size()};
}
inline warpseal_secret identity(std::string_view text) noexcept {
    return {WARPSEAL_SECRET_IDENTITY, text.data(), text.size()};
}

inline warpseal_file_result seal_file(const Engine& engine, int in_fd, int out_fd,
                                      const warpseal_file_options& options) {
    return detail::file([&](auto& result) {
        return warpseal_file_seal(engine.get(), in_fd, out_fd, &options, &result);
    });
}

inline warpseal_file_result open_file(const Engine& engine, int in_fd, int out_fd,
                                      const warpseal_file_options& options) {
    return detail::file([&](auto& result) {
        return warpseal_file_open(engine.get(), in_fd, out_fd, &options, &result);
    });
}

// Files whose text lies in device memory: see device_file.h. `out_bytes` receives how many bytes
// were read.
inline warpseal_file_result open_file_device(const Engine& engine, int in_fd,
                                             const warpseal_file_options& options,
                                             std::uint64_t offset, void* out, std::size_t bytes,
                                             std::size_t& out_bytes, void* stream = nullptr) {
    return detail::file([&](auto& result) {
        return warpseal_file_open_device(engine.get(), in_fd, &options, offset, out, bytes, stream,
                                         &out_bytes, &result);
    });
}

inline warpseal_file_result seal_file_device(const Engine& engine, const void* in,
                                             std::size_t bytes, int out_fd,
                                             const warpseal_file_options& options,
                                             void* stream = nullptr) {
    return detail::file([&](auto& result) {
        return warpseal_file_seal_device(engine.get(), in, bytes, stream, out_fd, &options,
                                         &result);
    });
}

// The text of a sealed file at any offset: see reader.h. Keep the engine alive as long. Can be
// moved. Any number of threads may read at the same time.
class Reader {
public:
    // in_fd must stay open as long as the reader.
    Reader(const Engine& engine, int in_fd, const warpseal_file_options& options) {
        detail::file([&](auto& result) {
            return hold([&](warpseal_reader** made) {
                return warpseal_reader_open(engine.get(), in_fd, &options, made, &result);
            });
        });
    }
    // `user` must live as long as the reader.
    Reader(const Engine& engine, warpseal_read_callback read_at, void* user,
           std::uint64_t file_bytes, const warpseal_file_options& options) {
        detail::file([&](auto& result) {
            return hold([&](warpseal_reader** made) {
                return warpseal_reader_open_callback(engine.get(), read_at, user, file_bytes,
                                                     &options, made, &result);
            });
        });
    }
    warpseal_reader* get() const noexcept { return reader_.get(); }
    std::uint64_t size() const noexcept { return warpseal_reader_size(get()); }
    // Returns what of `out` was read: less than all of it only where the text ends.
    MutableBytes read_at(std::uint64_t offset, MutableBytes out) const {
        std::size_t read = 0;
        detail::file([&](auto& result) {
            return warpseal_reader_read_at(get(), offset, out.data(), out.size(), &read, &result);
        });
        return out.first(read);
    }
    // Into device memory, once the work on the stream is done. Returns the bytes that were read.
    std::size_t read_at_device(std::uint64_t offset, void* out, std::size_t bytes,
                               void* stream = nullptr) const {
        std::size_t read = 0;
        detail::file([&](auto& result) {
            return warpseal_reader_read_at_device(get(), offset, out, bytes, stream, &read,
                                                  &result);
        });
        return read;
    }

private:
    template <class Open>
    warpseal_status hold(Open open) {
        warpseal_reader* made = nullptr;
        const warpseal_status status = open(&made);
        reader_.reset(made);
        return status;
    }
    struct Close {
        void operator()(warpseal_reader* reader) const noexcept { warpseal_reader_close(reader); }
    };
    std::unique_ptr<warpseal_reader, Close> reader_;
};

// A Cobblestone message in updates of any size: see cobblestone.h. Keep the engine alive as long.
class Cobblestone {
public:
    static Cobblestone seal(const Engine& engine, Bytes key, Bytes context = {}) {
        return Cobblestone(engine, key, context, warpseal_cobblestone_create_seal);
    }
    static Cobblestone open(const Engine& engine, Bytes key, Bytes context = {}) {
        return Cobblestone(engine, key, context, warpseal_cobblestone_create_open);
    }
    warpseal_cobblestone* get() const noexcept { return message_.get(); }
    // Bytes that the next call will write.
    std::size_t update_bytes(std::size_t bytes) const noexcept {
        return warpseal_cobblestone_update_bytes(get(), bytes);
    }
    std::size_t finish_bytes() const noexcept { return warpseal_cobblestone_finish_bytes(get()); }
    // Return what of `out` was written.
    MutableBytes update(Bytes in, MutableBytes out) {
        std::size_t wrote = 0;
        check(warpseal_cobblestone_update(get(), in.data(), in.size(), out.data(), out.size(),
                                          &wrote));
        return out.first(wrote);
    }
    MutableBytes finish(MutableBytes out) {
        std::size_t wrote = 0;
        check(warpseal_cobblestone_finish(get(), out.data(), out.size(), &wrote));
        return out.first(wrote);
    }

private:
    using Create = decltype(warpseal_cobblestone_create_seal);
    Cobblestone(const Engine& engine, Bytes key, Bytes context, Create* create) {
        warpseal_cobblestone* made = nullptr;
        check(create(engine.get(), key.data(), key.size(), context.data(), context.size(), &made));
        message_.reset(made);
    }
    struct Destroy {
        void operator()(warpseal_cobblestone* message) const noexcept {
            warpseal_cobblestone_destroy(message);
        }
    };
    std::unique_ptr<warpseal_cobblestone, Destroy> message_;
};

struct Rescued {
    warpseal_file_result result;
    bool whole;  // false: holes, or no end
    std::uint64_t hole_bytes;
    bool end_found;
    std::uint64_t bytes_after_end;
};

// Calls hole(const warpseal_file_hole&) for each hole in the order of the offsets. An exception
// that it throws stops the call and is thrown again here. Throws FileError if nothing can be
// rescued.
template <class Hole>
Rescued rescue_file(const Engine& engine, int in_fd, int out_fd,
                    const warpseal_file_options& options, Hole&& hole) {
    struct Listener {
        Hole& hole;
        std::exception_ptr thrown;
    } listener{hole, nullptr};
    warpseal_rescue rescue = {};
    rescue.struct_bytes = sizeof rescue;
    rescue.hole_user = &listener;
    rescue.hole = [](void* user, const warpseal_file_hole* one) -> int {
        Listener& its = *static_cast<Listener*>(user);
        try {
            its.hole(*one);
            return 0;
        } catch (...) {
            its.thrown = std::current_exception();
            return 1;
        }
    };
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    const warpseal_status status =
        warpseal_file_rescue(engine.get(), in_fd, out_fd, &options, &rescue, &result);
    if (listener.thrown) std::rethrow_exception(listener.thrown);
    if (rescue.finished == 0) throw FileError(status, result);
    return {result, status == WARPSEAL_OK, rescue.hole_bytes, rescue.end_found != 0,
            rescue.bytes_after_end};
}

// Adds and removes key slots in place: see slots.h. Throws FileError; `change` then says if the new
// slots are in force.
inline warpseal_file_result change_slots(const Engine& engine, int fd,
                                         const warpseal_file_options& options,
                                         warpseal_slots_change& change) {
    return detail::file([&](auto& result) {
        return warpseal_file_slots_change(engine.get(), fd, &options, &change, &result);
    });
}

}  // namespace bindings
}  // namespace warpseal

#endif
