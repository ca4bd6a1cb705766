// Prepares a key at its second use. Threads that meet there prepare it twice; one of both is kept.
#include "provider/prepared_key.h"

#include <openssl/async.h>

#include <string_view>

#include "provider/stack.h"

namespace warpseal::provider {

void PreparedKey::reset() {
    warpseal_kem_key_destroy(key_.exchange(nullptr, std::memory_order_acquire));
    used_.store(false, std::memory_order_relaxed);
}

const warpseal_kem_key* PreparedKey::get(const Context& context, const Set& set,
                                         std::span<const uint8_t> bytes) const {
    if (set.rank == 0 || ASYNC_get_current_job() != nullptr) return nullptr;
    if (const warpseal_kem_key* const ready = key_.load(std::memory_order_acquire)) return ready;
    if (!used_.exchange(true, std::memory_order_relaxed)) return nullptr;
    if (std::string_view(context.settings().device).starts_with("cuda")) return nullptr;
    warpseal_engine* const engine = context.engine();
    if (engine == nullptr) return nullptr;  // the batcher's request will fail in the same way
    warpseal_kem_key* made = nullptr;
    (void)with_stack(
        [&]() noexcept { (void)create_(engine, set.name, bytes.data(), bytes.size(), &made); });
    if (made == nullptr) return nullptr;
    warpseal_kem_key* other = nullptr;
    if (key_.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return made;
    warpseal_kem_key_destroy(made);
    return other;
}

}  // namespace warpseal::provider
