// The engine: keys, self-tested targets, plan, worker threads, and fallback from a lost GPU to the
// CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/gpu_backend.h"
#include "backends/kem_backend.h"
#include "engine/schedule/plan.h"
#include "warpseal/batch.h"

namespace warpseal {

inline constexpr unsigned most_threads = 4096;  // more than any machine has cores

struct EngineOptions {
    std::string device = "auto";
    unsigned threads = 0;  // 0: as many as affinity and cgroups allow; maximum most_threads
    std::function<void(const char* text)> notice;  // called on any thread; must not call the engine
    // Backends; tests replace them with a fake GPU backend and with CPU targets that this machine
    // lacks.
    const GpuBackend* cuda = gpu_backend();
    const CpuCipher* (*cores)(Target target, const char* cipher) = cpu_cipher;
    bool (*cores_have)(Target target) = cpu_has;
    const CpuKem* (*kems)(Target target, const char* set) = cpu_kem;
    bool (*kems_have)(Target target) = cpu_has_kem;
    // Throughput of the GPU with that index, or of the CPU for -1. Empty: measured. For tests.
    std::function<Speed(int party)> speeds;
};

class Engine;
class Gpu;
class PinnedBlocks;

// A cipher key with its schedule for every target that the engine may use. Zeroized on destruction.
// Immutable except for counters and lazy expansion.
class Key;

enum class KeyKind : uint8_t { one, xts };           // xts: data key, then tweak key
enum class WeakKeys : uint8_t { refused, allowed };  // for encryption; the internal API allows them
// Memory in which the key's data may lie. With an open GPU, creating a key for `anywhere`
// self-tests all device-memory paths, because later calls may be part of a graph capture.
enum class KeyUse : uint8_t { anywhere, host_memory };

struct Bytes {  // read-only span; avoids the <span> header in every translation unit
    const uint8_t* data = nullptr;
    size_t size = 0;
};

// Where a batch of key encapsulation in host memory runs. automatic: where it finishes first, by
// the engine's throughput model. The cores finish what a GPU cannot.
enum class KemSide : uint8_t { automatic, cores, gpus };

// A batch that a GPU works on, from Engine::begin_resident to the end of its work. Empty at first,
// and after finish(). The engine must outlive it.
class ResidentBatch {
public:
    ResidentBatch() = default;
    ~ResidentBatch() { (void)finish(); }
    ResidentBatch(const ResidentBatch&) = delete;
    ResidentBatch& operator=(const ResidentBatch&) = delete;

    // Waits for the end of the work. Returns WARPSEAL_NOT_AUTHENTIC if a message did not verify,
    // and WARPSEAL_OK if there is no batch.
    warpseal_status finish();

private:
    friend class Engine;
    const Gpu* gpu_ = nullptr;
    void* begun_ = nullptr;  // of the backend
};

class Engine {
public:
    static warpseal_status create(const EngineOptions& options, std::unique_ptr<Engine>& out);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Creates a key. Returns WARPSEAL_WEAK_KEY if the two XTS keys are equal. A weak key is
    // created, but refuses to encrypt.
    warpseal_status key(const char* cipher, Bytes key, std::unique_ptr<Key>& out,
                        KeyKind kind = KeyKind::one, WeakKeys weak = WeakKeys::refused,
                        KeyUse use = KeyUse::anywhere);

    unsigned threads() const;  // workers of `parallel`, including the caller's thread
    // CUDA number of the first GPU, or -1 if there is none or it is lost. Opens it; calls on host
    // memory with "auto" open it only if it pays.
    int cuda_device() const;
    unsigned gpu_count() const;  // 0 if cuda_device() is -1. Opens the first GPU.
    // CUDA number of a GPU, or -1 if it does not exist or is lost. Opens it.
    int cuda_device_number(size_t gpu) const;
    bool gpu_is_open(size_t gpu) const;
    // CUDA number of the engine's GPU that holds the memory, or -1.
    int cuda_device_holding(const void* memory) const;
    // Returns the target name for a call in host memory: pageable, or from `in` to `out`.
    const char* pick(const char* cipher, warpseal_mode mode, uint64_t bytes,
                     const void* in = nullptr, const void* out = nullptr);
    // True if GPUs would finish `bytes` bytes sooner than the CPU when the caller splits them into
    // segments that each run on one target. Opens the GPUs that pay.
    bool gpus_for_segments(const char* cipher, warpseal_mode mode, Direction direction,
                           uint64_t bytes);

    // Host memory, synchronous. The calls check their arguments and the limits of the mode's
    // standard, but not the policy of the C API.
    // message: one message in ECB, CTR, CBC, CFB or OFB.
    warpseal_status message(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                            const uint8_t* in, uint8_t* out, size_t bytes);
    // CBC with PKCS#7 padding. *out_bytes is the number of bytes written to `out`, 0 on failure.
    warpseal_status padded(const Key& key, Direction direction, Bytes iv, const uint8_t* in,
                           size_t bytes, uint8_t* out, size_t out_capacity, size_t* out_bytes);
    warpseal_status xts(const Key& key, Direction direction, const XtsUnits& units,
                        const uint8_t* in, uint8_t* out, size_t bytes);
    // One message in GCM or CCM.
    warpseal_status seal(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad, const uint8_t* in,
                         uint8_t* out, size_t bytes, uint8_t* tag, size_t tag_bytes);
    warpseal_status open(const Key& key, warpseal_mode mode, Bytes iv, Bytes aad, const uint8_t* in,
                         uint8_t* out, size_t bytes, const uint8_t* tag, size_t tag_bytes);
    // Verifies a message in GCM without AAD, and does not decrypt it.
    warpseal_status verify_gcm(const Key& key, Bytes iv, Bytes ciphertext, const uint8_t* tag,
                               size_t tag_bytes);
    // CMAC: encrypt writes the tag, decrypt compares it.
    warpseal_status mac(const Key& key, warpseal_mode mode, Direction direction, Bytes in,
                        uint8_t* tag, size_t tag_bytes);
    // Every mode except ECB and XTS. A weak key among the keys of a batch refuses the call.
    // Threads::caller: uses the calling thread only (a worker of the container's pipeline), and on
    // a GPU one slot.
    // target: receives the name of the target; may be null.
    enum class Threads : uint8_t { all, caller };
    warpseal_status batch(const Key& key, warpseal_mode mode, Direction direction,
                          const warpseal_batch& batch, Threads threads = Threads::all,
                          const char** target = nullptr);
    // The same for messages that lie anywhere. draw_ivs: empty, or what fills memory with IVs to
    // encrypt under, which are then written to the part `ivs`. Called once all checks passed.
    using DrawIvs = std::function<warpseal_status(void* out, size_t bytes)>;
    warpseal_status scattered_batch(const Key& key, warpseal_mode mode, Direction direction,
                                    const warpseal_scattered_batch& batch,
                                    const DrawIvs& draw_ivs = {});

    // Device memory, asynchronous on the stream. With device "auto" the first call opens and
    // self-tests the GPU synchronously: make one before capturing a graph.
    // With "cuda" that happens when the engine and the key are created.
    warpseal_status sweep_device(const Key& key, warpseal_mode mode, Direction direction, Bytes iv,
                                 const uint8_t* in, uint8_t* out, size_t bytes, void* stream);
    warpseal_status xts_device(const Key& key, Direction direction, const XtsUnits& units,
                               const uint8_t* in, uint8_t* out, size_t bytes, void* stream);
    // Does not check data in device memory: lengths, offsets and weak keys of the batch.
    warpseal_status batch_device(const Key& key, warpseal_mode mode, Direction direction,
                                 const warpseal_scattered_batch& batch, void* stream);
    // Seals under IVs that the GPU draws and writes to the part `ivs`. random: source of the
    // counter's start. count: called once all checks passed; what it returns ends the call unless
    // it is WARPSEAL_OK.
    warpseal_status seal_batch_device(const Key& key, warpseal_mode mode,
                                      const warpseal_scattered_batch& batch,
                                      bool (*random)(void* out, size_t bytes),
                                      const std::function<warpseal_status()>& count, void* stream);
    // Scratch that calls on device memory use for the batch, in either direction.
    warpseal_status batch_device_workspace(const Key& key, warpseal_mode mode,
                                           const warpseal_scattered_batch& batch, uint64_t* bytes);

    // Batches whose text lies in device memory on one side, and everything else in host memory.
    // Used for files.
    // resident_gpu: finds the GPU that holds the text, and waits for the work on a stream of it.
    // Returns WARPSEAL_INVALID_ARGUMENT if it is not in the memory of one GPU of the engine.
    warpseal_status resident_gpu(const void* memory, uint64_t bytes, void* stream, unsigned& gpu);
    // Messages of one length at strides: see GpuBackend::begin_resident. `out` must be empty, and
    // stays so after a failure.
    warpseal_status begin_resident(unsigned gpu, const Key& key, warpseal_mode mode,
                                   Direction direction, const warpseal_batch& batch,
                                   const TextWindow* window, uint8_t* space, ResidentBatch& out);
    // Zeroizes text, if the GPU still works.
    void wipe_resident(unsigned gpu, void* memory, uint64_t bytes);

    // Key encapsulation in host memory. random: source of the seed for drawn coins; returns false
    // on failure.
    // side: an engine of GPUs alone ignores it, but for `cores` and a set without device code. Only
    // calls with `automatic` are measured; on cores, those without a prepared or shared key.
    using RandomSource = bool (*)(void* out, size_t bytes);
    warpseal_status kem(KemOperation operation, const char* set, const warpseal_kem_batch& batch,
                        RandomSource random, KemSide side = KemSide::automatic);
    // Key encapsulation in device memory, asynchronous on the stream. The first call of an
    // operation runs the self-test synchronously.
    warpseal_status kem_device(KemOperation operation, const char* set,
                               const warpseal_kem_batch& batch, RandomSource random, void* stream);

    // Calls work(i) for i in [0, count) on up to `threads()` threads including the caller's.
    // Returns when all are done.
    void parallel(size_t count, const std::function<void(size_t)>& work);

    // Host memory, page-aligned, pinned if the engine's GPU is open (cuda_device() opens it).
    // host_free zeroizes it.
    warpseal_status host_alloc(size_t bytes, void** out);
    void host_free(void* memory);
    PinnedBlocks& pinned_blocks();  // which the engine keeps for files
    // Memory of the engine's first GPU, or WARPSEAL_NO_DEVICE if there is none. device_free
    // zeroizes it.
    warpseal_status device_alloc(size_t bytes, void** out);
    void device_free(void* memory);
    const GpuBackend* cuda() const;  // null if cuda_device() is -1

    struct Impl;
    Impl& impl() { return *impl_; }

private:
    Engine();
    std::unique_ptr<Impl> impl_;
};

}  // namespace warpseal
