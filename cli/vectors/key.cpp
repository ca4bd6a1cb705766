// Key of a vector row. The list of keys that policy must refuse comes from the standards, not from
// the library under test.
#include <algorithm>

#include "cli/vectors/vectors.h"

namespace warpseal::cli {
namespace {

uint8_t without_parity(uint8_t byte) { return byte & 0xfe; }

bool same_key(const uint8_t* a, const uint8_t* b) {
    return std::equal(a, a + single_bytes, b,
                      [](uint8_t x, uint8_t y) { return without_parity(x) == without_parity(y); });
}

// SP 800-67 3.3.2 lists four weak and twelve semi-weak keys. After permuted choice 1, each half is
// all zeros, all ones or alternating. Bytes 0 and 2, and bytes 1 and 3, are each one of four
// values, which determine bytes 4 to 7.
bool is_weak(const uint8_t* key) {
    constexpr uint8_t front[] = {0x00, 0x1e, 0xe0, 0xfe}, back[] = {0x00, 0x0e, 0xf0, 0xfe};
    for (int even = 0; even < 4; ++even)
        for (int odd = 0; odd < 4; ++odd) {
            const uint8_t weak[] = {front[even], front[odd], front[even], front[odd],
                                    back[even],  back[odd],  back[even],  back[odd]};
            if (same_key(key, weak)) return true;
        }
    return false;
}

enum class Policy { free, either, refused };

// A TDEA key with two equal neighbours is equivalent to single DES. The library decides about
// bundles that contain a weak DES key.
Policy policy_of(const warpseal_cipher_info& cipher, const Octets& key) {
    if (!cipher.legacy || cipher.block_bytes != 8 || key.size() % single_bytes != 0)
        return Policy::free;
    bool weak = false, neighbours = false, repeated = false;
    for (size_t i = 0; i < key.size(); i += single_bytes) {
        weak |= is_weak(key.data() + i);
        for (size_t j = 0; j < i; j += single_bytes) {
            const bool same = same_key(key.data() + i, key.data() + j);
            repeated |= same;
            neighbours |= same && j + single_bytes == i;
        }
    }
    if (neighbours || (weak && key.size() == single_bytes)) return Policy::refused;
    return weak || repeated ? Policy::either : Policy::free;
}

using Create = decltype(&warpseal_key_create);

warpseal_status create(Create call, warpseal_engine* engine, const char* cipher,
                       const Octets& bytes, KeyHandle& out) {
    warpseal_key* key = nullptr;
    const warpseal_status status = call(engine, cipher, bytes.data(), bytes.size(), &key);
    out.reset(key);
    return status;
}

}  // namespace

RowKey::RowKey(Tested& tested, const warpseal_cipher_info& cipher, warpseal_mode mode,
               const Octets& bytes) {
    const bool xts = mode == WARPSEAL_XTS;
    const size_t right = cipher.key_bytes * (xts ? 2 : 1);
    const Create make = xts ? warpseal_key_create_xts : warpseal_key_create;
    const warpseal_status made = create(make, tested.engine(), cipher.name, bytes, public_);
    KeyHandle shorter;
    require_refused(create(make, tested.engine(), cipher.name, Octets(right - 1, 7), shorter),
                    "a key that is a byte short");
    rejected_ = bytes.size() != right;
    if (rejected_) {
        require_refused(made, "a key of the wrong length");
        return;
    }

    const Create make_internal =
        xts ? warpseal_internal_key_create_xts : warpseal_internal_key_create;
    const auto internal = [&] {
        require_status(create(make_internal, tested.engine(), cipher.name, bytes, internal_),
                       WARPSEAL_OK, "making the key");
    };
    if (xts && std::equal(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(right / 2),
                          bytes.begin() + static_cast<ptrdiff_t>(right / 2))) {
        require_status(made, WARPSEAL_WEAK_KEY, "a key of equal halves");
        internal();
        return;
    }
    require_status(made, WARPSEAL_OK, "making the key");
    const Policy policy = policy_of(cipher, bytes);
    if (policy == Policy::free) return;
    Octets block(cipher.block_bytes);
    const warpseal_status encrypted = warpseal_encrypt(public_.get(), WARPSEAL_ECB, nullptr, 0,
                                                       block.data(), block.data(), block.size());
    if (policy == Policy::either && encrypted == WARPSEAL_OK) return;
    require_status(encrypted, WARPSEAL_WEAK_KEY, "encrypting under a weak key");
    internal();
}

}  // namespace warpseal::cli
