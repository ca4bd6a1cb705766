#include "cli/vectors/mlkem.h"

#include <openssl/evp.h>

#include <algorithm>

#include "cli/vectors/hybrid.h"
#include "cli/vectors/kem_calls.h"
#include "cli/vectors/provider_rows.h"

namespace warpseal::cli {
namespace {

using nlohmann::json;

constexpr uint64_t most_mlkem_items = 1 << 16;
constexpr uint64_t items_of_a_call = 64;
constexpr size_t mlkem_seed_bytes = 64, mlkem_message_bytes = 32;

// One SHAKE128, of libcrypto.
class Shake128 {
public:
    Shake128() : context_(EVP_MD_CTX_new()) {
        if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), EVP_shake128(), nullptr) != 1)
            throw std::runtime_error("OpenSSL has no SHAKE128");
    }
    void absorb(const Octets& bytes) {
        if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
            throw std::runtime_error("SHAKE128 does not absorb");
    }
    Octets squeeze_all(size_t bytes) {
        Octets out(bytes);
        if (EVP_DigestFinalXOF(context_.get(), out.data(), bytes) != 1)
            throw std::runtime_error("SHAKE128 does not squeeze");
        return out;
    }

private:
    struct Delete {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, Delete> context_;
};

void append_bytes(Octets& to, const uint8_t* from, size_t bytes) {
    to.insert(to.end(), from, from + bytes);
}

class MlKemRows : KemCalls {
public:
    using KemCalls::KemCalls;

    void keygen(const json& row) const {
        Octets seed = hex_field(row, "d");
        const Octets z = hex_field(row, "z");
        seed.insert(seed.end(), z.begin(), z.end());
        KemItems items(set_, 1);
        keypairs(items, seed);
        same(items.publics, hex_field(row, "ek"), "public key");
        same(items.secrets, hex_field(row, "dk"), "secret key");
    }

    void encapsulation(const json& row) const {
        KemItems items(set_, 1);
        const Octets key = hex_field(row, "ek"), message = hex_field(row, "m");
        if (key.size() != set_.public_key_bytes) return refused_length(row, key, {}, {});
        items.publics = key;
        if (is_to_be_refused(row)) return refused_key(items, message);
        encapsulate(items, message);
        same(items.ciphertexts, hex_field(row, "c"), "ciphertext");
        same(items.shared, hex_field(row, "k"), "shared secret");
    }

    void decapsulation(const json& row) const {
        KemItems items(set_, 1);
        const Octets ciphertext = hex_field(row, "c");
        if (row.contains("seed")) {
            const Octets seed = hex_field(row, "seed");
            if (seed.size() != set_.keypair_coins_bytes)
                // The interface takes coins of this one length.
                return require(is_to_be_refused(row) && text_field(row, "reason") == "seed-length",
                               "a seed of this length is accepted");
            keypairs(items, seed);
        } else {
            const Octets key = hex_field(row, "dk");
            if (key.size() != set_.secret_key_bytes)
                return refused_length(row, {}, key, ciphertext);
            items.secrets = key;
        }
        if (ciphertext.size() != set_.ciphertext_bytes)
            return refused_length(row, {}, items.secrets, ciphertext);
        items.ciphertexts = ciphertext;
        if (is_to_be_refused(row)) return refused_ciphertext(items);
        decapsulate(items);
        same(items.shared, hex_field(row, "k"), "shared secret");
    }

    void key_check(const json& row) const {
        KemItems items(set_, 1);
        const bool is_public = row.contains("ek");
        const Octets key = hex_field(row, is_public ? "ek" : "dk");
        Octets& to = is_public ? items.publics : items.secrets;
        if (key.size() != to.size())
            return refused_length(row, is_public ? key : Octets{}, is_public ? Octets{} : key,
                                  items.ciphertexts);
        to = key;
        const Octets message(mlkem_message_bytes, 0);
        if (is_to_be_refused(row))
            return is_public ? refused_key(items, message) : refused_ciphertext(items);
        if (is_public)
            encapsulate(items, message);
        else
            decapsulate(items);
    }

    // Digests of `count` operations of each kind, in one batch.
    void bulk(const json& row) const {
        const uint64_t first = number_field(row, "first"), count = number_field(row, "count");
        if (count == 0 || count > most_mlkem_items)
            throw RowSkipped("malformed row: too many items");
        Octets seeds, messages, random_ciphertexts;
        for (uint64_t i = first; i < first + count; ++i) {
            const Octets input = kem_bulk_input(
                row, i, mlkem_seed_bytes + mlkem_message_bytes + set_.ciphertext_bytes);
            split(input.data(), seeds, messages, random_ciphertexts);
        }
        KemItems items(set_, count);
        keypairs(items, seeds);
        kem_digest(row, "ek", items.publics);
        kem_digest(row, "dk", items.secrets);
        encapsulate(items, messages);
        kem_digest(row, "c", items.ciphertexts);
        kem_digest(row, "k", items.shared);
        decapsulate(items);
        kem_digest(row, "k", items.shared);
        for (uint64_t i = 0; i < count; ++i)
            items.ciphertexts[i * set_.ciphertext_bytes + (first + i) % set_.ciphertext_bytes] ^=
                static_cast<uint8_t>(1 << (first + i) % 8);
        decapsulate(items);
        kem_digest(row, "k_altered", items.shared);
        items.ciphertexts = random_ciphertexts;
        decapsulate(items);
        kem_digest(row, "k_random", items.shared);
        encapsulate_for_one(items, messages);
        kem_digest(row, "one_key_c", items.ciphertexts);
        kem_digest(row, "one_key_k", items.shared);
    }

    // One digest of everything that `count` tests return.
    void accumulated(const json& row) const {
        const uint64_t count = number_field(row, "count");
        const size_t input_bytes = mlkem_seed_bytes + mlkem_message_bytes + set_.ciphertext_bytes;
        if (count == 0 || count > (uint64_t{1} << 30) / input_bytes * 2)
            throw RowSkipped("malformed row: too many items");
        const Octets input = Shake128().squeeze_all(count * input_bytes);
        Shake128 seen;
        for (uint64_t first = 0; first < count; first += items_of_a_call) {
            const uint64_t some = std::min(items_of_a_call, count - first);
            accumulate(seen, input.data() + first * input_bytes, some);
            if (interrupted_by() != 0) return;
        }
        const Octets digest = seen.squeeze_all(32);
        require(digest == hex_field(row, "shake128"), "the SHAKE128 of all outputs");
    }

private:
    // d, z, m and a ciphertext, side by side.
    void split(const uint8_t* input, Octets& seeds, Octets& messages, Octets& ciphertexts) const {
        append_bytes(seeds, input, mlkem_seed_bytes);
        append_bytes(messages, input + mlkem_seed_bytes, mlkem_message_bytes);
        append_bytes(ciphertexts, input + mlkem_seed_bytes + mlkem_message_bytes,
                     set_.ciphertext_bytes);
    }

    void accumulate(Shake128& seen, const uint8_t* input, uint64_t count) const {
        Octets seeds, messages, random_ciphertexts;
        for (uint64_t i = 0; i < count; ++i)
            split(input + i * (mlkem_seed_bytes + mlkem_message_bytes + set_.ciphertext_bytes),
                  seeds, messages, random_ciphertexts);
        KemItems items(set_, count);
        keypairs(items, seeds);
        encapsulate(items, messages);
        const Octets ciphertexts = items.ciphertexts, sent = items.shared;
        decapsulate(items);
        same(items.shared, sent, "decapsulated secrets");
        items.ciphertexts = random_ciphertexts;
        decapsulate(items);
        for (uint64_t i = 0; i < count; ++i) {
            absorb(seen, items.publics, i, set_.public_key_bytes);
            absorb(seen, items.secrets, i, set_.secret_key_bytes);
            absorb(seen, ciphertexts, i, set_.ciphertext_bytes);
            absorb(seen, sent, i, set_.shared_secret_bytes);
            absorb(seen, items.shared, i, set_.shared_secret_bytes);
        }
    }
    static void absorb(Shake128& seen, const Octets& from, uint64_t i, size_t bytes) {
        const auto at = from.begin() + static_cast<std::ptrdiff_t>(i * bytes);
        seen.absorb(Octets(at, at + static_cast<std::ptrdiff_t>(bytes)));
    }
};

void check(const MlKemRows& rows, const json& row) {
    const std::string operation = text_field(row, "operation");
    if (operation == "keygen") return rows.keygen(row);
    if (operation == "encapsulate") return rows.encapsulation(row);
    if (operation == "decapsulate") return rows.decapsulation(row);
    if (operation == "key-check") return rows.key_check(row);
    if (operation == "bulk") return rows.bulk(row);
    if (operation == "accumulated") return rows.accumulated(row);
    throw RowSkipped("operation " + operation + " is not in this program");
}

}  // namespace

Octets kem_bulk_input(const json& row, uint64_t item, size_t bytes) {
    Shake128 shake;
    Octets label = hex_field(row, "seed");
    for (int byte = 0; byte < 8; ++byte) label.push_back(static_cast<uint8_t>(item >> (8 * byte)));
    shake.absorb(label);
    return shake.squeeze_all(bytes);
}

void kem_digest(const json& row, const std::string& name, const Octets& got) {
    require(digest_hex("SHA3-256", got.data(), got.size()) ==
                text_field(row, (name + "_sha3_256").c_str()),
            name + ": the SHA3-256");
}

bool is_kem_row(const json& row) { return row.contains("set") && row.contains("operation"); }

void check_kem_row(Tested& tested, const json& row) {
    if (is_provider_row(row)) return check_provider_row(tested, row);
    const std::string name = text_field(row, "set"), hybrid = hybrid_set_of_row(name);
    if (!hybrid.empty()) {
        check_hybrid_row(tested, hybrid, row, false);
        if (tested.has_device_memory()) check_hybrid_row(tested, hybrid, row, true);
        return;
    }
    const warpseal_kem_info set = kem_set_of_row(name);
    if (std::string_view(set.name).substr(0, 6) != "ml-kem")
        throw RowSkipped(std::string("rows of ") + set.name + " are not in this program");
    check(MlKemRows(tested, set, false), row);
    if (tested.has_device_memory()) check(MlKemRows(tested, set, true), row);
}

}  // namespace warpseal::cli
