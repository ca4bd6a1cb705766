// Where a batch of requests lies side by side while the engine works on it, as its owners' memory is anywhere.
#pragma once

#include "engine/engine.h"
#include "engine/kem_request.h"
#include "engine/secret_memory.h"

namespace warpseal {

// Kept from batch to batch; what is secret in it is wiped after each. Pinned for many items where the engine's GPU is open.
class KemTray {
public:
    explicit KemTray(Engine& engine) : engine_(engine) {}
    ~KemTray() { reset(); }
    KemTray(const KemTray&) = delete;
    KemTray& operator=(const KemTray&) = delete;

    // For a batch of that kind, empty, of batches of `most` at most; false: out of memory.
    bool lay(KemKind kind, size_t count, size_t most);

    KemRequest*& request(size_t i) { return requests_[i]; }
    int32_t& status(size_t i) { return batch_.statuses[i]; }
    warpseal_kem_batch& batch() { return batch_; }
    void gather(size_t i);
    // Its results to where they belong; and nothing secret of it stays here.
    void scatter(size_t i);
    void wipe(size_t i);
    size_t item_bytes() const { return item_bytes_; }

private:
    size_t bytes_for(size_t count) const;
    bool pinned(size_t bytes);
    void reset();

    Engine& engine_;
    void* pinned_ = nullptr;
    SecretMemory secret_;
    size_t room_ = 0;
    KemKind kind_;
    size_t item_bytes_ = 0;
    warpseal_kem_batch batch_{};
    KemRequest** requests_ = nullptr;
};

}  // namespace warpseal
