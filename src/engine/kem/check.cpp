// Validates batches from callers: every pointer and stride is checked here, once.
#include "engine/kem/check.h"

#include <array>

#include "engine/refusal.h"

namespace warpseal {
namespace {

// One array of a batch: its name, address, stride, bytes per item, and true if the call writes it.
struct Array {
    const char* name;
    uintptr_t at;
    uint64_t stride, bytes;
    bool written;
};

// Checks that the items are disjoint (or one shared input) and within the address space. Computes
// their extent in bytes.
warpseal_status check_items(const Array& array, uint64_t count, uint64_t& extent) {
    const bool shared = array.stride == 0 && !array.written;
    if (array.at == 0) return refuse("%s is null", array.name);
    if (count > 1 && !shared && array.stride < array.bytes)
        return refuse("the stride of %s is less than %llu, the bytes of an item", array.name,
                      static_cast<unsigned long long>(array.bytes));
    uintptr_t end;
    if (__builtin_mul_overflow(count - 1, array.stride, &extent) ||
        __builtin_add_overflow(extent, array.bytes, &extent) ||
        __builtin_add_overflow(array.at, extent, &end))
        return refuse("%s goes past the address space", array.name);
    return WARPSEAL_OK;
}

// True if two arrays are disjoint or interleaved fields of records with one stride.
bool apart(const Array& a, uint64_t a_extent, const Array& b, uint64_t b_extent) {
    if (a.at + a_extent <= b.at || b.at + b_extent <= a.at) return true;
    if (a.stride != b.stride || a.stride == 0) return false;
    const Array &low = a.at < b.at ? a : b, &high = a.at < b.at ? b : a;
    const uint64_t ahead = (high.at - low.at) % a.stride;
    return ahead >= low.bytes && a.stride - ahead >= high.bytes;
}

// All arrays that a call reads or writes.
class Arrays {
public:
    void add(const char* name, const void* at, uint64_t stride, uint64_t bytes, bool written) {
        all_[used_++] = {name, reinterpret_cast<uintptr_t>(at), stride, bytes, written};
    }
    // Checks that each array fits and that written arrays are disjoint from all others.
    warpseal_status check(uint64_t count) const {
        std::array<uint64_t, most> extents;
        for (size_t i = 0; i < used_; ++i)
            if (const warpseal_status status = check_items(all_[i], count, extents[i]);
                status != WARPSEAL_OK)
                return status;
        for (size_t i = 0; i < used_; ++i)
            for (size_t j = i + 1; j < used_; ++j)
                if ((all_[i].written || all_[j].written) &&
                    !apart(all_[i], extents[i], all_[j], extents[j]))
                    return refuse("%s overlaps %s", all_[j].name, all_[i].name);
        return WARPSEAL_OK;
    }

private:
    static constexpr size_t most = 5;
    std::array<Array, most> all_;
    size_t used_ = 0;
};

}  // namespace

warpseal_status check_kem(const KemSet& set, KemOperation operation,
                          const warpseal_kem_batch& batch) {
    if (batch.reserved != 0) return refuse("batch.reserved is not 0");
    if (batch.count == 0) return WARPSEAL_OK;
    const bool keypair = operation == KemOperation::keypair,
               decapsulate = operation == KemOperation::decapsulate;
    Arrays arrays;
    if (!decapsulate)
        arrays.add("public_keys", batch.public_keys, batch.public_key_stride,
                   set.public_key_bytes(), keypair);
    if (keypair || decapsulate)
        arrays.add("secret_keys", batch.secret_keys, batch.secret_key_stride,
                   set.secret_key_bytes(), keypair);
    if (!keypair) {
        arrays.add("ciphertexts", batch.ciphertexts, batch.ciphertext_stride,
                   set.ciphertext_bytes(), !decapsulate);
        arrays.add("shared_secrets", batch.shared_secrets, batch.shared_secret_stride,
                   set.shared_secret_bytes(), true);
    }
    if (!decapsulate && batch.coins != nullptr)
        arrays.add("coins", batch.coins, batch.coins_stride,
                   keypair ? set.keypair_coins() : set.encapsulation_coins(), false);
    if (batch.statuses != nullptr)
        arrays.add("statuses", batch.statuses, sizeof *batch.statuses, sizeof *batch.statuses,
                   true);
    return arrays.check(batch.count);
}

warpseal_status check_kem_acquire(const KemSet& set, uint64_t count, const PooledPublics& publics,
                                  const uint64_t* handles) {
    if (count == 0) return WARPSEAL_OK;
    Arrays arrays;
    arrays.add("public_keys", publics.at, publics.stride, set.public_key_bytes(), true);
    arrays.add("handles", handles, sizeof *handles, sizeof *handles, true);
    return arrays.check(count);
}

warpseal_status check_kem_handles(const KemSet& set, uint64_t count, const uint64_t* handles,
                                  const PooledTexts& texts) {
    if (count == 0) return WARPSEAL_OK;
    Arrays arrays;
    arrays.add("handles", handles, sizeof *handles, sizeof *handles, false);
    arrays.add("ciphertexts", texts.ciphertexts, texts.ciphertext_stride, set.ciphertext_bytes(),
               false);
    arrays.add("shared_secrets", texts.shared_secrets, texts.shared_secret_stride,
               set.shared_secret_bytes(), true);
    if (texts.statuses != nullptr)
        arrays.add("statuses", texts.statuses, sizeof *texts.statuses, sizeof *texts.statuses,
                   true);
    return arrays.check(count);
}

}  // namespace warpseal
