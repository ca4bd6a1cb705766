// The prepared form of a key that is used again (warpseal/kem.h), such as a server's key of HPKE.
#pragma once

#include <atomic>
#include <span>

#include "provider/context.h"
#include "provider/groups.h"
#include "warpseal/kem.h"

namespace warpseal::provider {

// Any number of threads may call get() at once.
class PreparedKey {
public:
    using Create = decltype(&warpseal_kem_public_key_create);

    explicit PreparedKey(Create create) : create_(create) {}
    ~PreparedKey() { reset(); }
    PreparedKey(const PreparedKey&) = delete;
    PreparedKey& operator=(const PreparedKey&) = delete;

    // For another key.
    void reset();
    // Counts a use of the key with those bytes. Returns its prepared form, or null if the request
    // should go through the batcher: at the first use, as ephemeral keys of TLS have no second; in
    // sets without ML-KEM, where little can be prepared; on a fibre, which pauses meanwhile; with a
    // GPU ordered, which needs batches; and without memory. Raises no error, unless the engine
    // cannot be created: the request then fails too.
    const warpseal_kem_key* get(const Context& context, const Set& set,
                                std::span<const uint8_t> bytes) const;

private:
    const Create create_;
    mutable std::atomic<bool> used_{false};
    mutable std::atomic<warpseal_kem_key*> key_{nullptr};
};

}  // namespace warpseal::provider
