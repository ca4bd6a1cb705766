// Runs a batch of a vector row and compares its statuses.
#include "cli/vectors/kem_calls.h"

#include <algorithm>

#include "cli/support/kem_sets.h"
#include "cli/vectors/arena.h"
#include "warpseal/warpseal.hpp"

namespace warpseal::cli {

struct KemCalls::Call {
    const char* name;
    warpseal_status (*on_host)(warpseal_engine*, const char*, const warpseal_kem_batch*);
    warpseal_status (*on_device)(warpseal_engine*, const char*, const warpseal_kem_batch*,
                                 void* stream);
};

warpseal_kem_info kem_set_of_row(const std::string& name) {
    for (const warpseal_kem_info& set : all_kem_sets())
        if (name == set.name) return set;
    throw RowSkipped("set " + name + " is not in this program");
}

void KemCalls::keypairs(KemItems& items, const Octets& coins) const {
    run({"key generation", warpseal_kem_keypair, warpseal_kem_keypair_device}, items, coins,
        set_.keypair_coins_bytes, WARPSEAL_OK);
}
void KemCalls::encapsulate(KemItems& items, const Octets& coins, warpseal_status expected) const {
    run({"encapsulation", warpseal_kem_encapsulate, warpseal_kem_encapsulate_device}, items, coins,
        set_.encapsulation_coins_bytes, expected);
}
void KemCalls::encapsulate_for_one(KemItems& items, const Octets& coins) const {
    run({"encapsulation for one key", warpseal_kem_encapsulate, warpseal_kem_encapsulate_device},
        items, coins, set_.encapsulation_coins_bytes, WARPSEAL_OK, true);
}
void KemCalls::decapsulate(KemItems& items, warpseal_status expected) const {
    std::fill(items.shared.begin(), items.shared.end(), KemItems::poison);
    run({"decapsulation", warpseal_kem_decapsulate, warpseal_kem_decapsulate_device}, items, {}, 0,
        expected);
}

bool is_to_be_refused(const nlohmann::json& row) {
    const std::string result = text_field(row, "result");
    if (result != "valid" && result != "invalid")
        throw RowSkipped("malformed row: neither valid nor invalid");
    return result == "invalid";
}

void KemCalls::refused_key(KemItems& items, const Octets& coins) const {
    encapsulate(items, coins, WARPSEAL_INVALID_ARGUMENT);
    require_wiped(items.shared.data(), items.shared.size(), "encapsulation");
    require_wiped(items.ciphertexts.data(), items.ciphertexts.size(), "encapsulation");
}

void KemCalls::refused_ciphertext(KemItems& items) const {
    decapsulate(items, WARPSEAL_INVALID_ARGUMENT);
    require_wiped(items.shared.data(), items.shared.size(), "decapsulation");
}

void KemCalls::refused_length(const nlohmann::json& row, const Octets& public_key,
                              const Octets& secret_key, const Octets& ciphertext) const {
    require(is_to_be_refused(row), "a length that the set does not have");
    const Engine engine;
    const Kem kem(engine, set_.name);
    Octets shared(set_.shared_secret_bytes, KemItems::poison),
        sent(set_.ciphertext_bytes, KemItems::poison);
    const Octets untouched = shared;
    try {
        if (secret_key.empty())
            kem.encapsulate(public_key, sent, shared);
        else
            kem.decapsulate(secret_key, ciphertext, shared);
    } catch (const Error& why) {
        require(shared == untouched, "a secret was written");
        return require_refused(why.status(), "a wrong length");
    }
    throw RowFailed("a wrong length is accepted");
}

void KemCalls::run(const Call& operation, KemItems& items, const Octets& coins,
                   uint32_t coins_bytes, warpseal_status expected, bool one_key) const {
    if (coins.size() != items.count * coins_bytes)
        throw RowSkipped("malformed row: coins of the wrong length");
    Arena arena;
    Octets* const arrays[] = {&items.publics, &items.secrets, &items.ciphertexts, &items.shared};
    size_t offsets[std::size(arrays)];
    for (size_t i = 0; i < std::size(arrays); ++i) offsets[i] = arena.add(*arrays[i]);
    const size_t coins_offset = arena.add(coins),
                 statuses_offset = arena.add_words(std::vector<int32_t>(items.count, -1));
    const auto work = [&](uint8_t* base, void* stream) {
        warpseal_kem_batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = items.count;
        batch.public_keys = base + offsets[0];
        batch.public_key_stride = one_key ? 0 : set_.public_key_bytes;
        batch.secret_keys = base + offsets[1];
        batch.secret_key_stride = set_.secret_key_bytes;
        batch.ciphertexts = base + offsets[2];
        batch.ciphertext_stride = set_.ciphertext_bytes;
        batch.shared_secrets = base + offsets[3];
        batch.shared_secret_stride = set_.shared_secret_bytes;
        batch.coins = base + coins_offset;
        batch.coins_stride = coins_bytes;
        batch.statuses = reinterpret_cast<int32_t*>(base + statuses_offset);
        return on_device_ ? operation.on_device(tested_.engine(), set_.name, &batch, stream)
                          : operation.on_host(tested_.engine(), set_.name, &batch);
    };
    const std::string what = std::string(operation.name) + (on_device_ ? " on the device" : "");
    const warpseal_status status = arena.run(tested_, on_device_, work);
    if (status == WARPSEAL_UNSUPPORTED)
        throw RowSkipped(std::string(set_.name) + " does not run on this device");
    // A call on device memory says only whether the work was queued.
    require_status(status, on_device_ ? WARPSEAL_OK : expected, what);
    for (size_t i = 0; i < std::size(arrays); ++i)
        std::copy_n(arena.at(offsets[i]), arrays[i]->size(), arrays[i]->begin());
    const auto* statuses = reinterpret_cast<const int32_t*>(arena.at(statuses_offset));
    require(
        std::all_of(statuses, statuses + items.count, [&](int32_t one) { return one == expected; }),
        what + (expected == WARPSEAL_OK ? ": an item has no result" : ": an item is not refused"));
}

}  // namespace warpseal::cli
