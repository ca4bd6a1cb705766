// Ciphers, batches, host memory and files.
#include "works.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "handles.h"
#include "warpseal/drbg.h"

namespace works {
namespace {

// Static, as the work's own buffers must not be refused.
uint8_t text[3000000], other[sizeof text];
const uint8_t secret[64] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 4, 4, 4, 4, 5, 5, 5, 5};

void fill() {
    for (size_t i = 0; i < sizeof text; ++i) text[i] = static_cast<uint8_t>(i * 7);
}
void must_be_filled() {
    for (size_t i = 0; i < sizeof text; ++i)
        if (text[i] != static_cast<uint8_t>(i * 7)) std::_Exit(wrong);
}

}  // namespace

warpseal_status ciphers() {
    Engine engine(3);
    Key key(engine, "aes-256", secret, 32), des(engine, "des-ede3", secret, 24);
    Key units(engine, "aria-256", secret, 64, warpseal_key_create_xts);
    uint8_t iv[16] = {}, tag[16] = {}, feedback[16] = {};
    fill();
    return Steps()
        .then([&] { return engine.status; })
        .then([&] { return key.status; })
        .then([&] { return units.status; })
        .then([&] { return des.status; })
        .then([&] {
            return warpseal_seal(key.get(), WARPSEAL_GCM, iv, "a", 1, text, other, sizeof text, tag,
                                 16);
        })
        .then([&] {
            return warpseal_open(key.get(), WARPSEAL_GCM, iv, 12, "a", 1, other, text, sizeof text,
                                 tag, 16);
        })
        .then([&] {
            return warpseal_encrypt(key.get(), WARPSEAL_CBC, feedback, 16, text, other,
                                    sizeof text);
        })
        .then([&] {
            return warpseal_decrypt(key.get(), WARPSEAL_CBC, feedback, 16, other, text,
                                    sizeof text);
        })
        .then(
            [&] { return warpseal_encrypt(des.get(), WARPSEAL_CTR, feedback, 8, text, text, 100); })
        .then(
            [&] { return warpseal_decrypt(des.get(), WARPSEAL_CTR, feedback, 8, text, text, 100); })
        .then(
            [&] { return warpseal_xts_encrypt(units.get(), feedback, 4096, text, other, 1 << 20); })
        .then(
            [&] { return warpseal_xts_decrypt(units.get(), feedback, 4096, other, text, 1 << 20); })
        .then([&] { return warpseal_mac(key.get(), WARPSEAL_CMAC, text, sizeof text, tag, 16); })
        .then([&] {
            return warpseal_mac_verify(key.get(), WARPSEAL_CMAC, text, sizeof text, tag, 16);
        })
        .and_if_all_did(must_be_filled);
}

warpseal_status batches() {
    constexpr size_t count = 64, bytes = sizeof text / count / 16 * 16;
    static uint8_t ivs[count * 12], tags[count * 16];
    static int32_t statuses[count];
    Engine engine(3);
    Key key(engine, "camellia-128", secret, 16);
    for (size_t i = 0; i < count; ++i) ivs[12 * i] = static_cast<uint8_t>(i);
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count, batch.message_bytes = bytes;
    batch.ivs = ivs, batch.iv_bytes = 12, batch.iv_stride = 12;
    batch.tags = tags, batch.tag_bytes = 16, batch.tag_stride = 16;
    batch.in = text, batch.in_stride = bytes, batch.out = other, batch.out_stride = bytes;
    warpseal_batch back = batch;
    back.in = other, back.out = text, back.statuses = statuses;
    fill();
    return Steps()
        .then([&] { return engine.status; })
        .then([&] { return key.status; })
        .then([&] { return warpseal_seal_batch_unsafe_iv(key.get(), WARPSEAL_GCM, &batch); })
        .then([&] { return warpseal_open_batch(key.get(), WARPSEAL_GCM, &back); })
        .and_if_all_did(must_be_filled);
}

// After a failure the output is all zero bytes.
warpseal_status drbg() {
    fill();
    Engine engine(3);
    warpseal_drbg* made = nullptr;
    const warpseal_status status =
        Steps()
            .then([&] { return engine.status; })
            .then([&] { return warpseal_drbg_create(engine.get(), nullptr, &made); })
            .then([&] { return warpseal_drbg_fill(made, text, sizeof text); })
            .then([&] { return warpseal_drbg_reseed(made, secret, 48); })
            .then([&] { return warpseal_drbg_fill(made, other, 100); });
    const auto zero = [](uint8_t byte) { return byte == 0; };
    const bool none = std::all_of(text, text + sizeof text, zero);
    // Filled by the first call, as before, or zero: never in part.
    const long zeros = std::count_if(text, text + sizeof text, zero);
    if (!none && zeros > static_cast<long>(sizeof text) / 100) std::_Exit(wrong);
    if (status == WARPSEAL_OK && none) std::_Exit(wrong);
    warpseal_drbg_destroy(made);
    return status;
}

warpseal_status host_memory() {
    Engine engine(1);
    void *small = nullptr, *large = nullptr;
    const warpseal_status status =
        Steps()
            .then([&] { return engine.status; })
            .then([&] { return warpseal_host_alloc(engine.get(), 100, &small); })
            .then([&] { return warpseal_host_alloc(engine.get(), 5 << 20, &large); });
    if (engine.get() == nullptr) return status;
    warpseal_host_free(engine.get(), small);
    warpseal_host_free(engine.get(), large);
    return status;
}

namespace {

// A file without a name.
class Memory {
public:
    Memory() : descriptor_(memfd_create("", 0)) {}
    ~Memory() { (void)close(descriptor_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    int get() const { return descriptor_; }
    int from_start() const {
        (void)lseek(descriptor_, 0, SEEK_SET);
        return descriptor_;
    }

private:
    const int descriptor_;
};

}  // namespace

warpseal_status files() {
    const Memory plain, sealed, opened, rescued;
    fill();
    if (write(plain.get(), text, sizeof text) != static_cast<ssize_t>(sizeof text))
        std::_Exit(wrong);
    Engine engine(3);
    const warpseal_secret key = {WARPSEAL_SECRET_KEY, secret, 32};
    const warpseal_secret both[] = {key, {WARPSEAL_SECRET_PASSPHRASE, "passphrase", 10}};
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.secrets = both, options.secret_count = 2;
    options.argon2_passes = 1, options.argon2_memory_kib = 64;
    warpseal_file_options opening = {};
    opening.struct_bytes = sizeof opening;
    opening.secrets = both + 1, opening.secret_count = 1;
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    warpseal_rescue rescue = {};
    rescue.struct_bytes = sizeof rescue;
    // A changed chunk, and bytes after the end: a rescue that fails is never finished.
    const auto damage_and_rescue = [&] {
        const uint8_t changed[40] = {};
        if (pwrite(sealed.get(), changed, sizeof changed, 1000000) != sizeof changed ||
            pwrite(sealed.get(), changed, sizeof changed, lseek(sealed.get(), 0, SEEK_END)) !=
                sizeof changed)
            std::_Exit(wrong);
        const warpseal_status status = warpseal_file_rescue(
            engine.get(), sealed.from_start(), rescued.get(), &opening, &rescue, &result);
        if (rescue.finished == 0) return status;
        if (status != WARPSEAL_NOT_AUTHENTIC || rescue.hole_count != 1 || rescue.end_found != 1)
            std::_Exit(wrong);
        return WARPSEAL_OK;
    };
    const auto must_match = [&] {
        std::fill(text, text + sizeof text, uint8_t{0});
        if (read(opened.from_start(), text, sizeof text) != static_cast<ssize_t>(sizeof text))
            std::_Exit(wrong);
        must_be_filled();
    };
    return Steps()
        .then([&] { return engine.status; })
        .then([&] {
            return warpseal_file_seal(engine.get(), plain.from_start(), sealed.get(), &options,
                                      &result);
        })
        .then([&] {
            return warpseal_file_open(engine.get(), sealed.from_start(), opened.get(), &opening,
                                      &result);
        })
        .then(damage_and_rescue)
        .and_if_all_did(must_match);
}

}  // namespace works
