// Prepared keys: the key for a GPU, and its prepared form for the cores, in one block of memory.
#include "engine/kem/prepared_key.h"

#include <cstring>

#include "engine/kem/calls.h"
#include "engine/kem/paths.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

const char* name_of(KemKeyKind kind) {
    return kind == KemKeyKind::public_key ? "public_key" : "secret_key";
}
size_t key_bytes_of(const KemSet& set, KemKeyKind kind) {
    return kind == KemKeyKind::public_key ? set.public_key_bytes() : set.secret_key_bytes();
}

}  // namespace

PreparedKemKey::PreparedKemKey(Engine& engine, int set, KemKeyKind kind, const CpuKem& kem)
    : engine_(engine), set_(set), kind_(kind), kem_(kem) {}

size_t PreparedKemKey::key_bytes() const { return key_bytes_of(kem_sets[set_], kind_); }

bool PreparedKemKey::allocate() {
    const size_t before = (key_bytes() + 63) / 64 * 64;
    return memory_.allocate(before + kem_.prepared_bytes(kind_));
}

warpseal_status PreparedKemKey::prepare() {
    const Workspaces::Lease work =
        engine_.impl().kem.workspaces.lease(kem_.work_bytes(operation_of(kind_), 1));
    if (!work) return WARPSEAL_OUT_OF_MEMORY;
    if (kem_.prepare[static_cast<int>(kind_)](key(), prepared(), work.data())) return WARPSEAL_OK;
    return refuse("%s does not pass the check of %s", name_of(kind_), kem_sets[set_].name);
}

warpseal_status PreparedKemKey::create(Engine& engine, KemKeyKind kind, const char* set, Bytes key,
                                       std::unique_ptr<PreparedKemKey>& out) {
    Engine::Impl& impl = engine.impl();
    int number;
    warpseal_status status = find_set(impl, set, number);
    if (status != WARPSEAL_OK) return status;
    const size_t wanted = key_bytes_of(kem_sets[number], kind);
    if (key.size != wanted)
        return refuse("the length of %s is %zu: that of %s is %zu", name_of(kind), key.size,
                      kem_sets[number].name, wanted);
    const CpuKem* kem = nullptr;
    status = tested_prepared_kem(impl, number, kind, kem);
    if (status != WARPSEAL_OK) return status;
    std::unique_ptr<PreparedKemKey> made(new PreparedKemKey(engine, number, kind, *kem));
    if (!made->allocate()) return WARPSEAL_OUT_OF_MEMORY;
    std::memcpy(made->key(), key.data, key.size);
    status = made->prepare();
    if (status == WARPSEAL_OK) out = std::move(made);
    return status;
}

warpseal_status PreparedKemKey::run(const warpseal_kem_batch& batch, Engine::RandomSource random,
                                    KemSide side) const {
    warpseal_kem_batch with_key = batch;
    if (kind_ == KemKeyKind::public_key) {
        with_key.public_keys = key();
        with_key.public_key_stride = 0;
    } else {
        with_key.secret_keys = key();
        with_key.secret_key_stride = 0;
    }
    return run_kem(engine_.impl(), set_, operation_of(kind_), with_key, random, side, this);
}

}  // namespace warpseal
