// Device memory, in runs with the fake GPU.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "handles.h"
#include "warpseal/batch.h"
#include "warpseal/device_file.h"
#include "warpseal/drbg.h"
#include "warpseal/error.h"
#include "warpseal/kem.h"
#include "works.h"

namespace works {
namespace {

constexpr size_t bytes = 65536, count = 16, message_bytes = bytes / count;
constexpr uint8_t iv[16] = {7, 7};
uint8_t back[bytes];

// Memory of the GPU.
class DeviceMemory {
public:
    DeviceMemory(const Engine& engine, size_t size) : engine_(engine), status(engine.status) {
        if (status != WARPSEAL_OK) return;
        status = checked("warpseal_device_alloc", {},
                         [&] { return warpseal_device_alloc(engine.get(), size, &memory_); });
        if (status != WARPSEAL_OK && memory_ != nullptr)
            complain("warpseal_device_alloc", "memory after a failure");
    }
    ~DeviceMemory() {
        if (engine_.get() != nullptr)
            called("warpseal_device_free", [&] { warpseal_device_free(engine_.get(), memory_); });
    }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    uint8_t* get() const { return static_cast<uint8_t*>(memory_); }
    warpseal_status upload(const void* from, size_t size) const {
        return checked("warpseal_device_upload", {},
                       [&] { return warpseal_device_upload(engine_.get(), memory_, from, size); });
    }
    // The GPU must hold `expected` after the calls before.
    warpseal_status must_hold(const char* function, const void* expected, size_t size) const {
        return Steps()
            .then("warpseal_device_synchronize",
                  [&] { return warpseal_device_synchronize(engine_.get(), nullptr); })
            .then("warpseal_device_download",
                  [&] { return warpseal_device_download(engine_.get(), back, memory_, size); })
            .and_if_all_did([&] {
                if (std::memcmp(back, expected, size) != 0) complain(function, "a wrong result");
            });
    }
    // After a call that failed and left the GPU usable: each byte is 0xa5, as before, or zero.
    void must_be_filled(const char* function) const {
        if (warpseal_device_synchronize(engine_.get(), nullptr) != WARPSEAL_OK ||
            warpseal_device_download(engine_.get(), back, memory_, bytes) != WARPSEAL_OK)
            complain(function, "the GPU is not usable");
        if (std::any_of(back, back + bytes, [](uint8_t b) { return b != 0xa5 && b != 0; }))
            complain(function, "unauthenticated text is in the output");
    }

private:
    const Engine& engine_;
    void* memory_ = nullptr;

public:
    warpseal_status status;
};

// The two calls undo each other.
template <class There, class Back>
warpseal_status both_ways(const char* there, There there_call, const char* back_name,
                          Back back_call, const DeviceMemory& memory) {
    return Steps()
        .run([&] { return memory.upload(text, bytes); })
        .then(there, there_call)
        .then(back_name, back_call)
        .run([&] { return memory.must_hold(back_name, text, bytes); });
}

// Addresses in device memory.
struct Layout {
    uint8_t *text, *out, *tags, *ivs, *statuses;
    explicit Layout(uint8_t* at)
        : text(at),
          out(at + bytes),
          tags(out + bytes),
          ivs(tags + count * 16),
          statuses(ivs + count * 16) {}
    static constexpr size_t size = 2 * bytes + count * 48;
};

warpseal_batch batch_of(const Layout& at, size_t iv_bytes) {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count, batch.message_bytes = message_bytes;
    batch.in = at.text, batch.in_stride = message_bytes;
    if (iv_bytes != 0) {
        batch.ivs = at.ivs, batch.iv_bytes = static_cast<uint32_t>(iv_bytes), batch.iv_stride = 16;
        batch.out = at.out, batch.out_stride = message_bytes;
    }
    if (iv_bytes != 16) batch.tags = at.tags, batch.tag_bytes = 16, batch.tag_stride = 16;
    batch.statuses = reinterpret_cast<int32_t*>(at.statuses);
    return batch;
}

warpseal_batch reversed(warpseal_batch batch) {
    std::swap(const_cast<uint8_t*&>(batch.in), batch.out);
    return batch;
}

// Seals under drawn IVs with a workspace, and opens again.
warpseal_status drawn_batch(const Engine& engine, const Key& key, const Layout& at,
                            const warpseal_batch& opening) {
    uint64_t bytes = 0;
    warpseal_scattered_batch sealing = {};
    sealing.batch = batch_of(at, 12);
    sealing.batch.struct_bytes = sizeof sealing;
    sealing.batch.ivs = nullptr;
    const warpseal_status status = checked("warpseal_batch_device_workspace", {}, [&] {
        return warpseal_batch_device_workspace(key.get(), WARPSEAL_GCM, &sealing.batch, &bytes);
    });
    if (status != WARPSEAL_OK) return status;
    const DeviceMemory workspace(engine, std::max<uint64_t>(bytes, 16));  // a GPU may need none
    sealing.workspace = workspace.get(), sealing.workspace_bytes = bytes;
    return Steps({workspace.status})
        .then("warpseal_seal_batch_device",
              [&] {
                  return warpseal_seal_batch_device(key.get(), WARPSEAL_GCM, &sealing.batch, at.ivs,
                                                    nullptr);
              })
        .then("warpseal_open_batch_device", [&] {
            return warpseal_open_batch_device(key.get(), WARPSEAL_GCM, &opening, nullptr);
        });
}

}  // namespace

warpseal_status device_memory() {
    const Engine engine(2);
    const Key key(engine, "aes-256", secret, 32);
    const XtsKey units(engine, "aes-256", secret, 64);
    const DeviceMemory memory(engine, bytes);
    uint8_t* const at = memory.get();
    warpseal_device_info info;
    return Steps({engine.status, key.status, units.status, memory.status})
        .then("warpseal_device_at", [&] { return warpseal_device_at(0, &info); })
        .run([&] {
            return both_ways(
                "warpseal_encrypt_device",
                [&] {
                    return warpseal_encrypt_device(key.get(), WARPSEAL_CTR, iv, 16, at, at, bytes,
                                                   nullptr);
                },
                "warpseal_decrypt_device",
                [&] {
                    return warpseal_decrypt_device(key.get(), WARPSEAL_CTR, iv, 16, at, at, bytes,
                                                   nullptr);
                },
                memory);
        })
        .run([&] {
            return both_ways(
                "warpseal_xts_encrypt_device",
                [&] {
                    return warpseal_xts_encrypt_device(units.get(), iv, 4096, at, at, bytes,
                                                       nullptr);
                },
                "warpseal_xts_decrypt_device",
                [&] {
                    return warpseal_xts_decrypt_device(units.get(), iv, 4096, at, at, bytes,
                                                       nullptr);
                },
                memory);
        });
}

warpseal_status device_batches() {
    const Engine engine(2);
    const Key key(engine, "aes-256", secret, 32);
    const DeviceMemory memory(engine, Layout::size);
    const Layout at(memory.get());
    const warpseal_batch plain = batch_of(at, 16), sealing = batch_of(at, 12),
                         mac = batch_of(at, 0);
    const warpseal_batch plain_back = reversed(plain), opening = reversed(sealing);
    const auto run = [&](const char* function, auto call, warpseal_mode mode,
                         const warpseal_batch& batch) {
        return checked(function, {}, [&] { return call(key.get(), mode, &batch, nullptr); });
    };
    uint8_t ivs[count * 16] = {};
    for (size_t i = 0; i < count; ++i) ivs[16 * i] = static_cast<uint8_t>(i);
    return Steps({engine.status, key.status, memory.status})
        .run([&] { return memory.upload(text, bytes); })
        .then("warpseal_device_upload",
              [&] { return warpseal_device_upload(engine.get(), at.ivs, ivs, sizeof ivs); })
        .run([&] {
            return run("warpseal_encrypt_batch_device", warpseal_encrypt_batch_device, WARPSEAL_CTR,
                       plain);
        })
        .run([&] {
            return run("warpseal_decrypt_batch_device", warpseal_decrypt_batch_device, WARPSEAL_CTR,
                       plain_back);
        })
        .run([&] {
            return run("warpseal_seal_batch_device_unsafe_iv", warpseal_seal_batch_device_unsafe_iv,
                       WARPSEAL_GCM, sealing);
        })
        .run([&] {
            return run("warpseal_open_batch_device", warpseal_open_batch_device, WARPSEAL_GCM,
                       opening);
        })
        .run([&] { return drawn_batch(engine, key, at, opening); })
        .run([&] {
            return run("warpseal_mac_batch_device", warpseal_mac_batch_device, WARPSEAL_CMAC, mac);
        })
        .run([&] {
            return run("warpseal_mac_verify_batch_device", warpseal_mac_verify_batch_device,
                       WARPSEAL_CMAC, mac);
        })
        .run([&] { return memory.must_hold("warpseal_open_batch_device", text, bytes); });
}

// Opens messages that a GPU divides among its warps: one kernel writes their text, and others
// compare the tags. An opening that finds no memory must leave no text.
warpseal_status device_openings() {
    constexpr size_t messages = 2;
    const Engine engine(2);
    const Key key(engine, "aes-256", secret, 32);
    const DeviceMemory memory(engine, Layout::size), lengths(engine, messages * 8);
    const Layout at(memory.get());
    warpseal_batch sealing = batch_of(at, 12);
    sealing.message_count = messages, sealing.message_bytes = 0;
    sealing.in_stride = sealing.out_stride = bytes / messages;
    sealing.lengths = reinterpret_cast<const uint64_t*>(lengths.get());
    const warpseal_batch opening = reversed(sealing);
    const uint64_t each[messages] = {bytes / messages, bytes / messages};
    const uint8_t ivs[messages * 16] = {1};
    static uint8_t filled[bytes];
    std::fill(filled, filled + bytes, uint8_t{0xa5});
    return Steps({engine.status, key.status, memory.status, lengths.status})
        .run([&] { return memory.upload(text, bytes); })
        .run([&] { return lengths.upload(each, sizeof each); })
        .then("warpseal_device_upload",
              [&] { return warpseal_device_upload(engine.get(), at.ivs, ivs, sizeof ivs); })
        .then("warpseal_seal_batch_device_unsafe_iv",
              [&] {
                  return warpseal_seal_batch_device_unsafe_iv(key.get(), WARPSEAL_GCM, &sealing,
                                                              nullptr);
              })
        .run([&] { return memory.upload(filled, bytes); })
        .then("warpseal_open_batch_device",
              [&] {
                  const warpseal_status status =
                      warpseal_open_batch_device(key.get(), WARPSEAL_GCM, &opening, nullptr);
                  if (status != WARPSEAL_OK) memory.must_be_filled("warpseal_open_batch_device");
                  return status;
              })
        .run([&] { return memory.must_hold("warpseal_open_batch_device", text, bytes); });
}

warpseal_status device_kem() {
    constexpr size_t items = 4, stride = 1024;
    const Engine engine(2);
    const DeviceMemory memory(engine, 6 * items * stride);
    const auto column = [&](size_t i) { return memory.get() + i * items * stride; };
    warpseal_kem_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.count = items;
    batch.public_key_stride = batch.secret_key_stride = batch.ciphertext_stride =
        batch.shared_secret_stride = stride;
    if (memory.get() != nullptr) {
        batch.public_keys = column(0), batch.secret_keys = column(1);
        batch.ciphertexts = column(2), batch.shared_secrets = column(3);
        batch.statuses = reinterpret_cast<int32_t*>(column(5));
    }
    warpseal_kem_batch decapsulation = batch;
    if (memory.get() != nullptr) decapsulation.shared_secrets = column(4);
    warpseal_drbg* generator = nullptr;
    static uint8_t sent[stride];
    constexpr const char* set = "ntruhps2048509";
    const auto secret_at = [&](size_t i, uint8_t* out) {
        return checked("warpseal_device_download", {},
                       [&] { return warpseal_device_download(engine.get(), out, column(i), 32); });
    };
    const warpseal_status status =
        Steps({engine.status, memory.status})
            .then("warpseal_drbg_create",
                  [&] { return warpseal_drbg_create(engine.get(), nullptr, &generator); })
            .then("warpseal_drbg_fill_device",
                  [&] {
                      return warpseal_drbg_fill_device(generator, column(0), items * stride,
                                                       nullptr);
                  })
            .then("warpseal_kem_keypair_device",
                  [&] { return warpseal_kem_keypair_device(engine.get(), set, &batch, nullptr); })
            .then(
                "warpseal_kem_encapsulate_device",
                [&] { return warpseal_kem_encapsulate_device(engine.get(), set, &batch, nullptr); })
            .then("warpseal_kem_decapsulate_device",
                  [&] {
                      return warpseal_kem_decapsulate_device(engine.get(), set, &decapsulation,
                                                             nullptr);
                  })
            .run([&] { return secret_at(3, sent); })
            .run([&] { return secret_at(4, back); })
            .and_if_all_did([&] {
                if (std::memcmp(sent, back, 32) != 0)
                    complain("warpseal_kem_decapsulate_device", "a wrong secret");
            });
    called("warpseal_drbg_destroy", [&] { warpseal_drbg_destroy(generator); });
    return status;
}

// Seals memory of the GPU to a file, and opens it into other memory: whole, and a range with a
// reader.
warpseal_status device_files() {
    constexpr size_t skipped = 100;
    const Engine engine(2);
    const DeviceMemory from(engine, bytes), to(engine, bytes);
    const warpseal_secret key = {WARPSEAL_SECRET_KEY, secret, 32};
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.format = WARPSEAL_FORMAT_COBBLESTONE;
    options.secrets = &key, options.secret_count = 1;
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    const int file = memfd_create("", MFD_CLOEXEC);
    warpseal_reader* reader = nullptr;
    size_t got = 0;
    const warpseal_status status =
        Steps({engine.status, from.status, to.status})
            .run([&] { return from.upload(text, bytes); })
            .then("warpseal_file_seal_device",
                  [&] {
                      return warpseal_file_seal_device(engine.get(), from.get(), bytes, nullptr,
                                                       file, &options, &result);
                  })
            .run([&] {
                (void)lseek(file, 0, SEEK_SET);
                return WARPSEAL_OK;
            })
            .then("warpseal_file_open_device",
                  [&] {
                      return warpseal_file_open_device(engine.get(), file, &options, 0, to.get(),
                                                       bytes, nullptr, &got, &result);
                  })
            .run([&] { return to.must_hold("warpseal_file_open_device", text, bytes); })
            .then("warpseal_reader_open",
                  [&] {
                      return warpseal_reader_open(engine.get(), file, &options, &reader, nullptr);
                  })
            .then("warpseal_reader_read_at_device",
                  [&] {
                      return warpseal_reader_read_at_device(
                          reader, skipped, to.get(), bytes - skipped, nullptr, &got, nullptr);
                  })
            .run([&] {
                return to.must_hold("warpseal_reader_read_at_device", text + skipped,
                                    bytes - skipped);
            });
    if (status != WARPSEAL_OK && warpseal_last_error_message()[0] == 0)
        complain("warpseal_reader_read_at_device", "a failure without a message");
    called("warpseal_reader_close", [&] { warpseal_reader_close(reader); });
    (void)close(file);
    return status;
}

}  // namespace works
