#include "cli/vectors/hybrid.h"

#include "cli/vectors/kem_calls.h"
#include "cli/vectors/mlkem.h"

namespace warpseal::cli {
namespace {

using nlohmann::json;

constexpr uint64_t most_items = 1 << 16;
constexpr size_t point_bytes = 32;

void append(Octets& to, const Octets& from) { to.insert(to.end(), from.begin(), from.end()); }
Octets part(const Octets& of, size_t begin, size_t bytes) {
    const auto at = of.begin() + static_cast<std::ptrdiff_t>(begin);
    return Octets(at, at + static_cast<std::ptrdiff_t>(bytes));
}

class HybridRows : KemCalls {
public:
    using KemCalls::KemCalls;

    // X25519 by the base point: `private` and `public`. X-Wing: `seed` and `ek`.
    void keygen(const json& row) const {
        KemItems items(set_, 1);
        const bool is_x25519 = row.contains("private");
        keypairs(items, hex_field(row, is_x25519 ? "private" : "seed"));
        same(items.publics, hex_field(row, is_x25519 ? "public" : "ek"), "public key");
    }

    // X25519, once or many times (RFC 7748, section 5.2).
    void dh(const json& row) const {
        const uint64_t iterations =
            row.contains("iterations") ? number_field(row, "iterations") : 1;
        if (iterations != 1 && tested_.has_device_memory() && !on_device_) return;  // see `iterate`
        KemItems items(set_, 1);
        const Octets point = hex_field(row, "public");
        items.secrets = hex_field(row, "private");
        if (point.size() != point_bytes) return refused_length(row, {}, items.secrets, point);
        items.ciphertexts = point;
        if (is_to_be_refused(row)) {
            refused_ciphertext(items);
            items.publics = point;
            return refused_key(items, items.secrets);
        }
        if (!iterate(items, iterations)) return;
        same(items.shared, hex_field(row, "shared"), "shared secret");
        if (iterations != 1) return;
        items.publics = point;
        encapsulate(items, items.secrets);
        same(items.shared, hex_field(row, "shared"), "shared secret of encapsulation");
    }

    void encapsulation(const json& row) const {
        KemItems items(set_, 1);
        const Octets key = hex_field(row, "ek"), coins = hex_field(row, "m");
        if (key.size() != set_.public_key_bytes) return refused_length(row, key, {}, {});
        items.publics = key;
        if (is_to_be_refused(row)) return refused_key(items, coins);
        encapsulate(items, coins);
        same(items.ciphertexts, hex_field(row, "c"), "ciphertext");
        same(items.shared, hex_field(row, "k"), "shared secret");
    }

    void decapsulation(const json& row) const {
        KemItems items(set_, 1);
        items.secrets = hex_field(row, "seed");
        answer(row, items, hex_field(row, "c"), "k");
    }

    void tls_exchange(const json& row) const {
        KemItems items(set_, 1);
        keypairs(items, client_coins(row));
        same(items.publics, hex_field(row, "client_share"), "client share");
        encapsulate(items, server_coins(row));
        same(items.ciphertexts, hex_field(row, "server_share"), "server share");
        same(items.shared, hex_field(row, "secret"), "secret of the server");
        decapsulate(items);
        same(items.shared, hex_field(row, "secret"), "secret of the client");
    }
    void tls_server(const json& row) const {
        KemItems items(set_, 1);
        const Octets share = hex_field(row, "client_share");
        if (share.size() != set_.public_key_bytes) return refused_length(row, share, {}, {});
        items.publics = share;
        require(is_to_be_refused(row), "malformed row: a share that is not to be refused");
        refused_key(items, server_coins(row));
    }
    void tls_client(const json& row) const {
        KemItems items(set_, 1);
        keypairs(items, client_coins(row));
        answer(row, items, hex_field(row, "server_share"), "secret");
    }

    // Digests of `count` operations of each kind, in one batch.
    void bulk(const json& row) const {
        const uint64_t first = number_field(row, "first"), count = number_field(row, "count");
        if (count == 0 || count > most_items) throw RowSkipped("malformed row: too many items");
        const bool is_x25519 =
            set_.secret_key_bytes == point_bytes && set_.public_key_bytes == point_bytes;
        Octets secrets, coins, texts;
        for (uint64_t i = first; i < first + count; ++i) {
            const size_t coins_bytes = is_x25519 ? 0 : set_.encapsulation_coins_bytes;
            const Octets input = kem_bulk_input(
                row, i, set_.keypair_coins_bytes + coins_bytes + set_.ciphertext_bytes);
            append(secrets, part(input, 0, set_.keypair_coins_bytes));
            append(coins, part(input, set_.keypair_coins_bytes, coins_bytes));
            append(texts,
                   part(input, set_.keypair_coins_bytes + coins_bytes, set_.ciphertext_bytes));
        }
        KemItems items(set_, count);
        keypairs(items, secrets);
        if (is_x25519)
            x25519_digests(row, items, texts);
        else
            xwing_digests(row, items, coins, texts, first);
    }

private:
    // A million products one after the other take minutes, so there is one chain: with GPU memory,
    // the products are computed there and from host memory by turns. Returns false if interrupted.
    bool iterate(KemItems& items, uint64_t iterations) const {
        const KemCalls in_memory[] = {{tested_, set_, on_device_}, {tested_, set_, false}};
        for (uint64_t i = 0; i < iterations; ++i) {
            if (i != 0) items.ciphertexts = std::exchange(items.secrets, items.shared);
            in_memory[i % 2].decapsulate(items);
            if (interrupted_by() != 0) return false;
        }
        return true;
    }
    // The coins of a client's share: ML-KEM's, then the scalar if the group has one.
    Octets client_coins(const json& row) const {
        Octets coins = hex_field(row, "client_d");
        append(coins, hex_field(row, "client_z"));
        if (coins.size() < set_.keypair_coins_bytes)
            append(coins, hex_field(row, "client_private"));
        return coins;
    }
    Octets server_coins(const json& row) const {
        Octets coins = hex_field(row, "server_m");
        if (coins.size() < set_.encapsulation_coins_bytes)
            append(coins, hex_field(row, "server_private"));
        return coins;
    }
    // Decapsulates, and expects the field `name` or a refusal.
    void answer(const json& row, KemItems& items, const Octets& ciphertext,
                const char* name) const {
        if (ciphertext.size() != set_.ciphertext_bytes)
            return refused_length(row, {}, items.secrets, ciphertext);
        items.ciphertexts = ciphertext;
        if (is_to_be_refused(row)) return refused_ciphertext(items);
        decapsulate(items);
        same(items.shared, hex_field(row, name), "shared secret");
    }
    void x25519_digests(const json& row, KemItems& items, const Octets& points) const {
        kem_digest(row, "public", items.publics);
        items.ciphertexts = points;
        decapsulate(items);
        kem_digest(row, "shared", items.shared);
        items.ciphertexts = items.publics;
        const Octets first = part(items.secrets, 0, point_bytes);
        items.secrets.clear();
        for (uint64_t i = 0; i < items.count; ++i) append(items.secrets, first);
        decapsulate(items);
        kem_digest(row, "one_key_shared", items.shared);
    }
    void xwing_digests(const json& row, KemItems& items, const Octets& coins, const Octets& random,
                       uint64_t first) const {
        kem_digest(row, "ek", items.publics);
        encapsulate(items, coins);
        kem_digest(row, "c", items.ciphertexts);
        kem_digest(row, "k", items.shared);
        decapsulate(items);
        kem_digest(row, "k", items.shared);
        for (uint64_t i = 0; i < items.count; ++i)
            items.ciphertexts[i * set_.ciphertext_bytes + (first + i) % set_.ciphertext_bytes] ^=
                static_cast<uint8_t>(1 << (first + i) % 8);
        decapsulate(items);
        kem_digest(row, "k_altered", items.shared);
        items.ciphertexts = random;
        decapsulate(items);
        kem_digest(row, "k_random", items.shared);
    }
};

void check(const HybridRows& rows, const json& row) {
    const std::string operation = text_field(row, "operation");
    if (operation == "keygen") return rows.keygen(row);
    if (operation == "dh") return rows.dh(row);
    if (operation == "encapsulate") return rows.encapsulation(row);
    if (operation == "decapsulate") return rows.decapsulation(row);
    if (operation == "tls-exchange") return rows.tls_exchange(row);
    if (operation == "tls-server") return rows.tls_server(row);
    if (operation == "tls-client") return rows.tls_client(row);
    if (operation == "bulk") return rows.bulk(row);
    throw RowSkipped("operation " + operation + " is not in this program");
}

}  // namespace

std::string hybrid_set_of_row(const std::string& name) {
    if (name == "x25519" || name == "x-wing") return name;
    if (name == "X25519MLKEM768") return "x25519mlkem768";
    if (name == "MLKEM512" || name == "MLKEM768" || name == "MLKEM1024")
        return "ml-kem-" + name.substr(5);
    return {};
}

void check_hybrid_row(Tested& tested, const std::string& set, const json& row, bool on_device) {
    check(HybridRows(tested, kem_set_of_row(set), on_device), row);
}

}  // namespace warpseal::cli
