// The engine: keys, self-tested targets, the plan, worker threads, and the fall from a lost GPU to
// the cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/gpu_backend.h"
#include "backends/kem_backend.h"
#include "engine/schedule/plan.h"

namespace warpseal {

inline constexpr unsigned most_threads = 4096;  // of an engine: more than any machine has cores

struct EngineOptions {
    std::string device = "auto";
    unsigned threads = 0;  // 0: as many as affinity and cgroups allow; at most most_threads
    std::function<void(const char* text)> notice;  // from any thread; not for calls into the engine
    // Tests give a scripted door, and scripted ciphers of a machine that this is not.
    const GpuBackend* cuda = gpu_backend();
    const CpuCipher* (*cores)(Target target, const char* cipher) = cpu_cipher;
    bool (*cores_have)(Target target) = cpu_has;
    const CpuKem* (*kems)(Target target, const char* set) = cpu_kem;
    bool (*kems_have)(Target target) = cpu_has_kem;
    std::function<Speed(int party)>
        speeds;  // of a GPU by its number, or of the cores, -1; none: measured
};

class Engine;

// A cipher key expanded for every target that the engine may use. Wiped when it goes. Immutable but
// for counters and lazy expansion.
class Key;

enum class KeyKind : uint8_t { one, xts };           // xts: data key, then tweak key
enum class WeakKeys : uint8_t { refused, allowed };  // for encryption; the inner door allows them
// For what data. With an open GPU a key is tested, when it is made, for all calls on device memory:
// some are made while a graph is captured.
enum class KeyUse : uint8_t { anywhere, host_memory };

struct Bytes {  // a read-only span: C++20's std::span without its header in every unit
    const uint8_t* data = nullptr;
    size_t size = 0;
};

class Engine {
public:
    static warpseal_status create(const EngineOptions& options, std::unique_ptr<Engine>& out);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // WARPSEAL_WEAK_KEY: equal halves of XTS. A key that the cipher calls weak is made, and refuses
    // to encrypt.
    warpseal_status key(const char* cipher, Bytes key, std::unique_ptr<Key>& out,
                        KeyKind kind = KeyKind::one, WeakKeys weak = WeakKeys::refused,
                        KeyUse use = KeyUse::anywhere);

    unsigned threads() const;  // workers that `parallel` uses, the caller's among them
    int cuda_device() const;  // of the first GPU; -1: none, or lost. Opens it: host-memory calls of
                              // "auto" do so only where it pays
    unsigned gpu_count() const;  // 0: as cuda_device() -1. Opens the first
    int cuda_device_number(
        size_t gpu) const;  // the door's; -1: there is none, or it is lost. Opens it
    bool gpu_is_open(size_t gpu) const;
    int cuda_device_holding(
        const void* memory) const;  // that of the engine's GPU on which it lies; -1: on none
    // Target name for host memory: pageable, or that of a call from `in` to `out`.
    const char* pick(const char* cipher, warpseal_mode mode, uint64_t bytes,
                     const void* in = nullptr, const void* out = nullptr);
    // For whoever cuts that much into pieces, each of which goes to one target whole: whether the
    // GPUs would be done sooner than the cores. Those that are worth it are then open.
    bool gpus_for_chunks(const char* cipher, warpseal_mode mode, Direction direction,
                         uint64_t bytes);

    // Host memory, synchronous. The calls check their arguments' shapes and the mode's standard
    // limits, not the policy of the public face. One message of a plain mode: ECB, CTR, CBC, CFB,
    // OFB.
    warpseal_status message(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                            const uint8_t* in, uint8_t* out, size_t bytes);
    // CBC with PKCS#7 padding; *out_bytes: what of `out` is written, 0 on failure.
    warpseal_status padded(const Key& key, Direction direction, Bytes iv, const uint8_t* in,
                           size_t bytes, uint8_t* out, size_t out_capacity, size_t* out_bytes);
    warpseal_status xts(const Key& key, Direction direction, const XtsUnits& units,
                        const uint8_t* in, uint8_t* out, size_t bytes);
    // GCM and CCM.
    warpseal_status seal(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad, const uint8_t* in,
                         uint8_t* out, size_t bytes, uint8_t* tag, size_t tag_bytes);
    warpseal_status open(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad, const uint8_t* in,
                         uint8_t* out, size_t bytes, const uint8_t* tag, size_t tag_bytes);
    // CMAC: encrypt writes the tag, decrypt compares it.
    warpseal_status mac(const Key& key, warpseal_mode mode, Direction direction, Bytes in,
                        uint8_t* tag, size_t tag_bytes);
    // Every mode but ECB and XTS. Keys of a batch in host memory are looked at: a weak one refuses
    // the call. here: run on the calling thread alone (a worker of the container's pipeline); on a
    // GPU that thread drives one slot. target (may be null) receives the name of what ran.
    enum class Where : uint8_t { everywhere, here };
    warpseal_status batch(const Key& key, warpseal_mode mode, Direction direction,
                          const warpseal_batch& batch, Where where = Where::everywhere,
                          const char** target = nullptr);

    // Device memory, asynchronous on the stream. With device "auto" the first such call opens and
    // tests the GPU, and waits for it: make one before capturing a graph. With "cuda" that happens
    // when the engine and the key are created.
    warpseal_status sweep_device(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                                 const uint8_t* in, uint8_t* out, size_t bytes, void* stream);
    warpseal_status xts_device(const Key& key, Direction direction, const XtsUnits& units,
                               const uint8_t* in, uint8_t* out, size_t bytes, void* stream);
    // What lies in device memory is not looked at here: lengths, offsets, and whether a key of the
    // batch is weak.
    warpseal_status batch_device(const Key& key, warpseal_mode mode, Direction direction,
                                 const warpseal_batch& batch, void* stream);

    // Key encapsulation, host memory. random: where the seed of a call's coins comes from, if the
    // batch brings none; false: it failed.
    using RandomSource = bool (*)(void* out, size_t bytes);
    warpseal_status kem(KemOperation operation, const char* set, const warpseal_kem_batch& batch,
                        RandomSource random);
    // Device memory, asynchronous on the stream. The first call of an operation tests its path, and
    // waits for it.
    warpseal_status kem_device(KemOperation operation, const char* set,
                               const warpseal_kem_batch& batch, RandomSource random, void* stream);

    // Calls work(i) for i in [0, count) on up to `threads()` threads, the caller's among them;
    // returns when all are done.
    void parallel(size_t count, const std::function<void(size_t)>& work);

    // Pinned where the engine's GPU is open (cuda_device() opens it); page-aligned either way.
    // Wiped when freed.
    warpseal_status host_alloc(size_t bytes, void** out);
    void host_free(void* memory);
    // Memory of the engine's first GPU. WARPSEAL_NO_DEVICE where it has none. Free wipes first.
    warpseal_status device_alloc(size_t bytes, void** out);
    void device_free(void* memory);
    const GpuBackend* cuda() const;  // null: as cuda_device() -1

    struct Impl;
    Impl& impl() { return *impl_; }

private:
    Engine();
    std::unique_ptr<Impl> impl_;
};

}  // namespace warpseal
