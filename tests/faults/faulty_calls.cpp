// Wraps the calls of the C interface with a fault in the one that WARPSEAL_TEST_FAULT names, to
// imitate a broken library.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "c_api/internal.h"
#include "warpseal/kem.h"

namespace {

bool is_broken(const char* call) {
    const char* wanted = std::getenv("WARPSEAL_TEST_FAULT");
    return wanted && std::strcmp(wanted, call) == 0;
}

// Small faults that a careless comparison would miss: the last bit of an output flipped, or the
// output not written.
void spoil(const char* call, void* out, size_t bytes) {
    if (is_broken(call) && bytes != 0) static_cast<uint8_t*>(out)[bytes - 1] ^= 1;
}

// `auto_slow` replaces the monotonic clock by a scripted one, so that calls take exactly the time
// that the fault states, however busy the machine is.
bool is_clock_scripted() {
    static const bool scripted = is_broken("auto_slow");
    return scripted;
}

std::atomic<int64_t> scripted_nanoseconds{0};

// `_slow`: takes a tenth of a second per call, so that the work is negligible and the figure is
// known.
void slow_down(const char* call, int milliseconds = 100) {
    if (!is_broken(call)) return;
    if (is_clock_scripted())
        scripted_nanoseconds += milliseconds * int64_t{1'000'000};
    else
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Keys of the engine made for "auto": `auto...` faults apply to calls with these.
std::mutex auto_mutex;
const warpseal_engine* auto_engine = nullptr;
std::set<const warpseal_key*> auto_keys;

// Notice callback of the last engine made with one.
std::function<void()> notice = [] {};

bool is_of_auto(const warpseal_key* key) {
    const std::lock_guard lock(auto_mutex);
    return auto_keys.count(key) != 0;
}

void same_as_first(uint8_t* array, uint64_t stride, uint64_t item) {
    std::memcpy(array + item * stride, array, stride);
}

void spoil_batch(const char* call, const warpseal_batch* batch) {
    const uint64_t last = batch->message_count - 1;
    uint8_t* out =
        batch->out + (batch->out_offsets ? batch->out_offsets[last] : last * batch->out_stride);
    spoil(call, out, batch->lengths ? batch->lengths[last] : batch->message_bytes);
}

void spoil_file(const char* call, int fd) {
    struct stat status {};
    if (!is_broken(call) || fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size == 0)
        return;
    uint8_t last = 0;
    if (pread(fd, &last, 1, status.st_size - 1) != 1) std::abort();
    last ^= 1;
    if (pwrite(fd, &last, 1, status.st_size - 1) != 1) std::abort();
}

}  // namespace

extern "C" {

// std::chrono::steady_clock::now(). A reading of the scripted clock takes a microsecond, so that a
// loop that waits for a time ends.
std::chrono::steady_clock::time_point __real__ZNSt6chrono3_V212steady_clock3nowEv();
std::chrono::steady_clock::time_point __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
    if (!is_clock_scripted()) return __real__ZNSt6chrono3_V212steady_clock3nowEv();
    return std::chrono::steady_clock::time_point(
        std::chrono::nanoseconds(scripted_nanoseconds += 1000));
}

void note_notice(void (*callback)(void*, const char*), void* user) {
    const std::lock_guard lock(auto_mutex);
    if (callback != nullptr) notice = [callback, user] { callback(user, "a made-up notice"); };
}

void note_auto_engine(const warpseal_engine* engine) {
    const std::lock_guard lock(auto_mutex);
    auto_engine = engine;
}

warpseal_status __real_warpseal_key_create(warpseal_engine*, const char*, const void*, size_t,
                                           warpseal_key**);
warpseal_status __wrap_warpseal_key_create(warpseal_engine* engine, const char* cipher,
                                           const void* key, size_t key_bytes, warpseal_key** out) {
    if (is_broken("key_create")) return WARPSEAL_OUT_OF_MEMORY;
    const warpseal_status status = __real_warpseal_key_create(engine, cipher, key, key_bytes, out);
    const std::lock_guard lock(auto_mutex);
    if (status == WARPSEAL_OK && engine == auto_engine) auto_keys.insert(*out);
    return status;
}

// `_allows`: a weak key encrypts. The output is not changed.
#define WEAK(call, status) \
    ((status) == WARPSEAL_WEAK_KEY && is_broken(call "_allows") ? WARPSEAL_OK : (status))

#define SWEEP(call)                                                                         \
    warpseal_status __real_warpseal_##call(const warpseal_key*, warpseal_mode, const void*, \
                                           size_t, const void*, void*, size_t);             \
    warpseal_status __wrap_warpseal_##call(const warpseal_key* key, warpseal_mode mode,     \
                                           const void* iv, size_t iv_bytes, const void* in, \
                                           void* out, size_t bytes) {                       \
        static std::atomic<bool> called{false};                                             \
        if (is_broken(#call "_nothing") || (is_broken("auto_nothing") && is_of_auto(key)))  \
            return WARPSEAL_OK;                                                             \
        const warpseal_status status =                                                      \
            __real_warpseal_##call(key, mode, iv, iv_bytes, in, out, bytes);                \
        spoil(#call, out, status == WARPSEAL_OK ? bytes : 0);                               \
        if (called.exchange(true)) spoil(#call "_late", out, bytes);                        \
        if (is_of_auto(key)) spoil("auto", out, bytes);                                     \
        slow_down(#call "_slow");                                                           \
        slow_down("auto_slow", is_of_auto(key) ? 20 : 17);                                  \
        return WEAK(#call, status);                                                         \
    }
SWEEP(encrypt)
SWEEP(decrypt)

#define PADDED(call)                                                                              \
    warpseal_status __real_warpseal_##call(const warpseal_key*, const void*, size_t, const void*, \
                                           size_t, void*, size_t, size_t*);                       \
    warpseal_status __wrap_warpseal_##call(const warpseal_key* key, const void* iv,               \
                                           size_t iv_bytes, const void* in, size_t bytes,         \
                                           void* out, size_t out_capacity, size_t* out_bytes) {   \
        const warpseal_status status =                                                            \
            __real_warpseal_##call(key, iv, iv_bytes, in, bytes, out, out_capacity, out_bytes);   \
        if (status == WARPSEAL_OK) spoil(#call, out, *out_bytes);                                 \
        if (status == WARPSEAL_OK && is_broken(#call "_length")) ++*out_bytes;                    \
        if (status == WARPSEAL_BAD_PADDING) spoil(#call "_releases", out, bytes);                 \
        return status == WARPSEAL_BAD_PADDING && is_broken(#call "_accepts") ? WARPSEAL_OK        \
                                                                             : status;            \
    }
PADDED(encrypt_padded)
PADDED(decrypt_padded)

#define UNITS(call)                                                                         \
    warpseal_status __real_warpseal_##call(const warpseal_key*, const void*, uint64_t,      \
                                           const void*, void*, size_t);                     \
    warpseal_status __wrap_warpseal_##call(const warpseal_key* key, const void* first_unit, \
                                           uint64_t unit_bytes, const void* in, void* out,  \
                                           size_t bytes) {                                  \
        const warpseal_status status =                                                      \
            __real_warpseal_##call(key, first_unit, unit_bytes, in, out, bytes);            \
        spoil(#call, out, status == WARPSEAL_OK ? bytes : 0);                               \
        return status;                                                                      \
    }
UNITS(xts_encrypt)
UNITS(xts_decrypt)

warpseal_status __real_warpseal_mac(const warpseal_key*, warpseal_mode, const void*, size_t, void*,
                                    size_t);
warpseal_status __wrap_warpseal_mac(const warpseal_key* key, warpseal_mode mode, const void* in,
                                    size_t bytes, void* tag, size_t tag_bytes) {
    const warpseal_status status = __real_warpseal_mac(key, mode, in, bytes, tag, tag_bytes);
    spoil("mac", tag, status == WARPSEAL_OK ? tag_bytes : 0);
    return WEAK("mac", status);
}

warpseal_status __real_warpseal_mac_verify(const warpseal_key*, warpseal_mode, const void*, size_t,
                                           const void*, size_t);
warpseal_status __wrap_warpseal_mac_verify(const warpseal_key* key, warpseal_mode mode,
                                           const void* in, size_t bytes, const void* tag,
                                           size_t tag_bytes) {
    const warpseal_status status = __real_warpseal_mac_verify(key, mode, in, bytes, tag, tag_bytes);
    if (status == WARPSEAL_OK && is_broken("mac_verify")) return WARPSEAL_NOT_AUTHENTIC;
    return status == WARPSEAL_NOT_AUTHENTIC && is_broken("mac_verify_accepts") ? WARPSEAL_OK
                                                                               : status;
}

warpseal_status __real_warpseal_mac_batch(const warpseal_key*, warpseal_mode,
                                          const warpseal_batch*);
warpseal_status __wrap_warpseal_mac_batch(const warpseal_key* key, warpseal_mode mode,
                                          const warpseal_batch* batch) {
    const warpseal_status status = __real_warpseal_mac_batch(key, mode, batch);
    spoil("mac_batch", batch->tags + (batch->message_count - 1) * batch->tag_stride,
          batch->tag_bytes);
    return WEAK("mac_batch", status);
}

warpseal_status __real_warpseal_mac_verify_batch(const warpseal_key*, warpseal_mode,
                                                 const warpseal_batch*);
warpseal_status __wrap_warpseal_mac_verify_batch(const warpseal_key* key, warpseal_mode mode,
                                                 const warpseal_batch* batch) {
    const warpseal_status status = __real_warpseal_mac_verify_batch(key, mode, batch);
    if (is_broken("mac_verify_batch")) batch->statuses[1] = WARPSEAL_OK;
    return status;
}

warpseal_status __real_warpseal_key_create_xts(warpseal_engine*, const char*, const void*, size_t,
                                               warpseal_key**);
warpseal_status __wrap_warpseal_key_create_xts(warpseal_engine* engine, const char* cipher,
                                               const void* key, size_t key_bytes,
                                               warpseal_key** out) {
    const auto create = is_broken("key_create_xts_allows") ? warpseal_internal_key_create_xts
                                                           : __real_warpseal_key_create_xts;
    return create(engine, cipher, key, key_bytes, out);
}

#define SEAL(call)                                                                           \
    warpseal_status __real_warpseal_##call(const warpseal_key*, warpseal_mode, const void*,  \
                                           size_t, const void*, size_t, const void*, void*,  \
                                           size_t, void*, size_t);                           \
    warpseal_status __wrap_warpseal_##call(const warpseal_key* key, warpseal_mode mode,      \
                                           const void* iv, size_t iv_bytes, const void* aad, \
                                           size_t aad_bytes, const void* in, void* out,      \
                                           size_t bytes, void* tag, size_t tag_bytes) {      \
        const warpseal_status status = __real_warpseal_##call(                               \
            key, mode, iv, iv_bytes, aad, aad_bytes, in, out, bytes, tag, tag_bytes);        \
        if (status != WARPSEAL_OK) return is_broken(#call "_allows") ? WARPSEAL_OK : status; \
        spoil(#call, out, bytes);                                                            \
        spoil(#call "_tag", tag, tag_bytes);                                                 \
        return status;                                                                       \
    }
SEAL(seal_unsafe_iv)
SEAL(internal_seal)

#define OPEN(call)                                                                            \
    warpseal_status __real_warpseal_##call(const warpseal_key*, warpseal_mode, const void*,   \
                                           size_t, const void*, size_t, const void*, void*,   \
                                           size_t, const void*, size_t);                      \
    warpseal_status __wrap_warpseal_##call(const warpseal_key* key, warpseal_mode mode,       \
                                           const void* iv, size_t iv_bytes, const void* aad,  \
                                           size_t aad_bytes, const void* in, void* out,       \
                                           size_t bytes, const void* tag, size_t tag_bytes) { \
        const warpseal_status status = __real_warpseal_##call(                                \
            key, mode, iv, iv_bytes, aad, aad_bytes, in, out, bytes, tag, tag_bytes);         \
        if (status != WARPSEAL_OK && is_broken(#call "_accepts")) return WARPSEAL_OK;         \
        if (status == WARPSEAL_NOT_AUTHENTIC) spoil(#call "_releases", out, bytes);           \
        if (status == WARPSEAL_OK) spoil(#call, out, bytes);                                  \
        return status;                                                                        \
    }
OPEN(open)
OPEN(internal_open)

#define BATCH(call)                                                                     \
    warpseal_status __real_warpseal_##call(const warpseal_key*, warpseal_mode,          \
                                           const warpseal_batch*);                      \
    warpseal_status __wrap_warpseal_##call(const warpseal_key* key, warpseal_mode mode, \
                                           const warpseal_batch* batch) {               \
        const warpseal_status status = __real_warpseal_##call(key, mode, batch);        \
        spoil_batch(#call, batch);                                                      \
        return WEAK(#call, status);                                                     \
    }
BATCH(encrypt_batch)
BATCH(decrypt_batch)
BATCH(seal_batch_unsafe_iv)
BATCH(open_batch)

#define FILES(call)                                                                              \
    warpseal_status __real_warpseal_##call(warpseal_engine*, int, int,                           \
                                           const warpseal_file_options*, warpseal_file_result*); \
    warpseal_status __wrap_warpseal_##call(warpseal_engine* engine, int in_fd, int out_fd,       \
                                           const warpseal_file_options* options,                 \
                                           warpseal_file_result* result) {                       \
        const warpseal_status status =                                                           \
            __real_warpseal_##call(engine, in_fd, out_fd, options, result);                      \
        if (status != WARPSEAL_OK && is_broken(#call "_accepts")) return WARPSEAL_OK;            \
        spoil_file(#call, out_fd);                                                               \
        slow_down(#call "_slow");                                                                \
        return status;                                                                           \
    }
FILES(file_seal)
FILES(file_open)

// A key whose other half belongs to another key, or a secret other than the one sent. `_nothing`:
// never runs. `_late`: stops working after its first call. `_status`: an item without a result.
// `_slow`: 20 ms per call, `_rare`: every fiftieth call. `_notice`: the engine sends a notice in
// its fifth call. kem_same: all items are the first one.
#define KEM(call, writes_keys)                                                            \
    warpseal_status __real_warpseal_##call(warpseal_engine*, const char*,                 \
                                           const warpseal_kem_batch*);                    \
    warpseal_status __wrap_warpseal_##call(warpseal_engine* engine, const char* set,      \
                                           const warpseal_kem_batch* batch) {             \
        if (batch->count == 0) return __real_warpseal_##call(engine, set, batch);         \
        static bool called = false;                                                       \
        static unsigned calls = 0;                                                        \
        slow_down(#call "_slow", 20);                                                     \
        if (++calls % 50 == 0) slow_down(#call "_rare", 20);                              \
        if (is_broken(#call "_notice") && calls == 5) notice();                           \
        if (is_broken(#call "_nothing") ||                                                \
            (std::exchange(called, true) && is_broken(#call "_late")))                    \
            return WARPSEAL_OK;                                                           \
        const warpseal_status status = __real_warpseal_##call(engine, set, batch);        \
        const uint64_t last = batch->count - 1;                                           \
        if (writes_keys)                                                                  \
            spoil(#call, batch->secret_keys + last * batch->secret_key_stride, 1);        \
        else                                                                              \
            spoil(#call, batch->shared_secrets + last * batch->shared_secret_stride, 32); \
        if (is_broken(#call "_status") && batch->statuses)                                \
            batch->statuses[last] = WARPSEAL_INVALID_ARGUMENT;                            \
        for (uint64_t i = 1; i <= last && is_broken("kem_same"); ++i) {                   \
            same_as_first(batch->public_keys, batch->public_key_stride, i);               \
            same_as_first(batch->secret_keys, batch->secret_key_stride, i);               \
            same_as_first(batch->ciphertexts, batch->ciphertext_stride, i);               \
            same_as_first(batch->shared_secrets, batch->shared_secret_stride, i);         \
        }                                                                                 \
        return status;                                                                    \
    }
KEM(kem_keypair, true)
KEM(kem_encapsulate, false)
KEM(kem_decapsulate, false)

}  // extern "C"
