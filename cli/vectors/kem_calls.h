// Calls of key encapsulation under test, in host or GPU memory.
#pragma once

#include "cli/vectors/vectors.h"
#include "warpseal/kem.h"

namespace warpseal::cli {

// Throws RowSkipped for a set that is not in this program.
warpseal_kem_info kem_set_of_row(const std::string& name);

// True if the row's `result` is invalid. Throws RowSkipped if it is neither that nor valid.
bool is_to_be_refused(const nlohmann::json& row);

// Keys, ciphertexts and secrets of `count` items, side by side, initially poison.
struct KemItems {
    static constexpr uint8_t poison = 0xa5;
    uint64_t count;
    Octets publics, secrets, ciphertexts, shared;

    KemItems(const warpseal_kem_info& set, uint64_t items)
        : count(items),
          publics(items * set.public_key_bytes, poison),
          secrets(items * set.secret_key_bytes, poison),
          ciphertexts(items * set.ciphertext_bytes, poison),
          shared(items * set.shared_secret_bytes, poison) {}
};

// Each call fails the row if an item's status is not `expected`, or if bytes outside change.
class KemCalls {
public:
    KemCalls(Tested& tested, const warpseal_kem_info& set, bool on_device)
        : tested_(tested), set_(set), on_device_(on_device) {}

    void keypairs(KemItems& items, const Octets& coins) const;
    void encapsulate(KemItems& items, const Octets& coins,
                     warpseal_status expected = WARPSEAL_OK) const;
    // With one public key for all items, that of the first.
    void encapsulate_for_one(KemItems& items, const Octets& coins) const;
    void decapsulate(KemItems& items, warpseal_status expected = WARPSEAL_OK) const;

protected:
    // Calls that must refuse their only item and zeroize its outputs.
    void refused_key(KemItems& items, const Octets& coins) const;
    void refused_ciphertext(KemItems& items) const;
    // A key or a ciphertext of the wrong length. Lengths are known to the C++ interface.
    void refused_length(const nlohmann::json& row, const Octets& public_key,
                        const Octets& secret_key, const Octets& ciphertext) const;

    static void same(const Octets& got, const Octets& expected, const char* what) {
        require(got.size() == expected.size(), std::string(what) + ": the length");
        require_equal(got.data(), expected, what);
    }

    Tested& tested_;
    const warpseal_kem_info set_;
    const bool on_device_;

private:
    struct Call;
    void run(const Call& operation, KemItems& items, const Octets& coins, uint32_t coins_bytes,
             warpseal_status expected, bool one_key = false) const;
};

}  // namespace warpseal::cli
