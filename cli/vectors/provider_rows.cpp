#include "cli/vectors/provider_rows.h"

#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <string_view>
#include <vector>

#include "cli/vectors/kem_calls.h"

// Absent in a build without the provider.
extern "C" __attribute__((weak)) OSSL_provider_init_fn OSSL_provider_init;

namespace warpseal::cli {
namespace {

using nlohmann::json;

constexpr const char* our_own = "provider=warpseal";
constexpr const char* seed_parameter = "seed";

struct Free {
    void operator()(OSSL_LIB_CTX* context) const { OSSL_LIB_CTX_free(context); }
    void operator()(OSSL_PROVIDER* provider) const { OSSL_PROVIDER_unload(provider); }
    void operator()(OSSL_DECODER_CTX* context) const { OSSL_DECODER_CTX_free(context); }
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
    void operator()(EC_GROUP* curve) const { EC_GROUP_free(curve); }
    void operator()(EC_POINT* point) const { EC_POINT_free(point); }
    void operator()(BIGNUM* number) const { BN_clear_free(number); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Free>;
using Key = Owned<EVP_PKEY>;
using KeyContext = Owned<EVP_PKEY_CTX>;

// A library context with OpenSSL's default provider, which has the curves, and ours. Ours takes its
// device from the environment.
class Library {
public:
    Library() : context_(OSSL_LIB_CTX_new()) {
        if (OSSL_provider_init == nullptr) throw RowSkipped("this build has no OpenSSL provider");
        if (!context_ || OSSL_PROVIDER_add_builtin(get(), "warpseal", OSSL_provider_init) != 1)
            throw std::bad_alloc();
        default_.reset(OSSL_PROVIDER_load(get(), "default"));
        ours_.reset(OSSL_PROVIDER_load(get(), "warpseal"));
        if (!default_ || !ours_) throw RowSkipped("the OpenSSL provider does not start");
    }
    OSSL_LIB_CTX* get() const { return context_.get(); }

    KeyContext named(const std::string& algorithm) const {
        return made(EVP_PKEY_CTX_new_from_name(get(), algorithm.c_str(), our_own));
    }
    KeyContext of(EVP_PKEY* key) const {
        return made(EVP_PKEY_CTX_new_from_pkey(get(), key, our_own));
    }

private:
    static KeyContext made(EVP_PKEY_CTX* context) {
        require(context != nullptr, "the provider does not have the algorithm");
        return KeyContext(context);
    }
    Owned<OSSL_LIB_CTX> context_;
    Owned<OSSL_PROVIDER> default_, ours_;
};

Octets joined(Octets first, const Octets& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Octets parameter_of(EVP_PKEY* key, const char* name) {
    size_t bytes = 0;
    require(EVP_PKEY_get_octet_string_param(key, name, nullptr, 0, &bytes) == 1,
            std::string("the key has no ") + name);
    Octets value(bytes);
    require(EVP_PKEY_get_octet_string_param(key, name, value.data(), bytes, &bytes) == 1,
            std::string("the key does not return its ") + name);
    return value;
}

void same(const Octets& got, const Octets& expected, const char* what) {
    require(got == expected, std::string(what) + ": differs");
}

// Null if the encoding is refused, or is not all of the input.
Key decoded(const Library& library, const Octets& der, bool is_private) {
    EVP_PKEY* key = nullptr;
    const Owned<OSSL_DECODER_CTX> context(OSSL_DECODER_CTX_new_for_pkey(
        &key, "DER", is_private ? "PrivateKeyInfo" : "SubjectPublicKeyInfo", nullptr,
        is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, library.get(), our_own));
    const unsigned char* rest = der.data();
    size_t bytes = der.size();
    const bool is_whole =
        context && OSSL_DECODER_from_data(context.get(), &rest, &bytes) == 1 && bytes == 0;
    Key made(key);
    return is_whole ? std::move(made) : nullptr;
}

void check_key_file(const Library& library, const json& row, bool is_private) {
    const std::string result = text_field(row, "result");
    const Key key = decoded(library, hex_field(row, "der"), is_private);
    if (result == "either") return;  // both answers are right: this decodes it alone
    if (is_to_be_refused(row)) return require(!key, "the key is not refused");
    require(key != nullptr, "the key is refused");
    constexpr size_t prefix = std::string_view("ml-kem-").size();
    const std::string algorithm = "ML-KEM-" + text_field(row, "set").substr(prefix);
    require(EVP_PKEY_is_a(key.get(), algorithm.c_str()) == 1, "the key is of another set");
    same(parameter_of(key.get(), OSSL_PKEY_PARAM_PUB_KEY), hex_field(row, "ek"), "public key");
    if (!is_private) return;
    same(parameter_of(key.get(), OSSL_PKEY_PARAM_PRIV_KEY), hex_field(row, "dk"), "secret key");
    if (row.contains("seed"))
        same(parameter_of(key.get(), seed_parameter), hex_field(row, "seed"), "seed");
}

OSSL_PARAM octets(const char* name, const Octets& value) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(value.data()),
                                             value.size());
}

Key key_of(const Library& library, const std::string& algorithm, std::vector<OSSL_PARAM> parts) {
    const KeyContext context = library.named(algorithm);
    parts.push_back(OSSL_PARAM_construct_end());
    EVP_PKEY* key = nullptr;
    require(EVP_PKEY_fromdata_init(context.get()) == 1 &&
                EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parts.data()) == 1,
            "the client's key is refused");
    return Key(key);
}

// Returns the scalar's multiple of the curve's base point, uncompressed.
Octets point_of(const std::string& group_name, const Octets& scalar) {
    const bool is_p256 = group_name.starts_with("SecP256r1");
    const Owned<EC_GROUP> curve(
        EC_GROUP_new_by_curve_name(is_p256 ? NID_X9_62_prime256v1 : NID_secp384r1));
    const Owned<BIGNUM> number(BN_bin2bn(scalar.data(), static_cast<int>(scalar.size()), nullptr));
    const Owned<EC_POINT> point(curve ? EC_POINT_new(curve.get()) : nullptr);
    Octets bytes(1 + 2 * scalar.size());
    if (!number || !point ||
        EC_POINT_mul(curve.get(), point.get(), number.get(), nullptr, nullptr, nullptr) != 1 ||
        EC_POINT_point2oct(curve.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, bytes.data(),
                           bytes.size(), nullptr) != bytes.size())
        throw RowSkipped("malformed row: a scalar of another length");
    return bytes;
}

// A group of a NIST curve and ML-KEM.
class CurveGroup {
public:
    CurveGroup(const Library& library, const json& row)
        : library_(library), row_(row), group_(text_field(row, "set")) {}

    void exchange() const {
        const Key client = client_key();
        same(encoded(client.get()), hex_field(row_, "client_share"), "client share");
        same(decapsulated(client.get(), hex_field(row_, "server_share")), hex_field(row_, "secret"),
             "secret of the client");
        // The provider draws the coins of a server.
        const auto [share, secret] = encapsulated(client.get());
        require(share.size() == hex_field(row_, "server_share").size(), "server share: the length");
        same(decapsulated(client.get(), share), secret, "secret of the server");
    }
    void server() const {
        const Octets share = hex_field(row_, "client_share");
        require(is_to_be_refused(row_), "malformed row: a share that is not to be refused");
        const KeyContext context = library_.named(group_);
        EVP_PKEY* empty = nullptr;
        require(EVP_PKEY_paramgen_init(context.get()) == 1 &&
                    EVP_PKEY_paramgen(context.get(), &empty) == 1,
                "the provider makes no key of the group");
        const Key key(empty);
        require(EVP_PKEY_set1_encoded_public_key(key.get(), share.data(), share.size()) != 1 ||
                    encapsulated(key.get()).secret.empty(),
                "the client's share is not refused");
    }
    void client() const {
        const Octets secret = decapsulated(client_key().get(), hex_field(row_, "server_share"));
        if (is_to_be_refused(row_)) return require(secret.empty(), "the share is not refused");
        same(secret, hex_field(row_, "secret"), "secret");
    }

private:
    struct Encapsulated {
        Octets share, secret;
    };

    // Both keys are the curve's part, then ML-KEM's.
    Key client_key() const {
        const Octets seed = joined(hex_field(row_, "client_d"), hex_field(row_, "client_z")),
                     scalar = hex_field(row_, "client_private");
        const Key half =
            key_of(library_, group_.substr(group_.find("MLKEM")), {octets(seed_parameter, seed)});
        const Octets secret = joined(scalar, parameter_of(half.get(), OSSL_PKEY_PARAM_PRIV_KEY)),
                     share = joined(point_of(group_, scalar),
                                    parameter_of(half.get(), OSSL_PKEY_PARAM_PUB_KEY));
        return key_of(
            library_, group_,
            {octets(OSSL_PKEY_PARAM_PRIV_KEY, secret), octets(OSSL_PKEY_PARAM_PUB_KEY, share)});
    }
    static Octets encoded(EVP_PKEY* key) {
        unsigned char* share = nullptr;
        const size_t bytes = EVP_PKEY_get1_encoded_public_key(key, &share);
        const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(
            share, [](unsigned char* memory) { OPENSSL_free(memory); });
        return bytes == 0 ? Octets() : Octets(share, share + bytes);
    }
    // Returns an empty result if the key is refused.
    Encapsulated encapsulated(EVP_PKEY* key) const {
        const KeyContext context = library_.of(key);
        size_t share_bytes = 0, secret_bytes = 0;
        if (EVP_PKEY_encapsulate_init(context.get(), nullptr) != 1 ||
            EVP_PKEY_encapsulate(context.get(), nullptr, &share_bytes, nullptr, &secret_bytes) != 1)
            return {};
        Encapsulated out{Octets(share_bytes), Octets(secret_bytes)};
        if (EVP_PKEY_encapsulate(context.get(), out.share.data(), &share_bytes, out.secret.data(),
                                 &secret_bytes) != 1)
            return {};
        return out;
    }
    // Returns an empty secret if the share is refused.
    Octets decapsulated(EVP_PKEY* key, const Octets& share) const {
        const KeyContext context = library_.of(key);
        size_t bytes = 0;
        if (EVP_PKEY_decapsulate_init(context.get(), nullptr) != 1 ||
            EVP_PKEY_decapsulate(context.get(), nullptr, &bytes, share.data(), share.size()) != 1)
            return {};
        Octets secret(bytes);
        if (EVP_PKEY_decapsulate(context.get(), secret.data(), &bytes, share.data(),
                                 share.size()) != 1)
            return {};
        return secret;
    }

    const Library& library_;
    const json& row_;
    const std::string group_;
};

}  // namespace

bool is_provider_row(const json& row) {
    const std::string operation = text_field(row, "operation");
    return operation == "decode-private" || operation == "decode-public" ||
           text_field(row, "set").starts_with("SecP");
}

void check_provider_row(Tested& tested, const json& row) {
    if (tested.provider == nullptr) tested.provider = std::make_shared<const Library>();
    const Library& library = *static_cast<const Library*>(tested.provider.get());
    ERR_clear_error();  // a failed row before may have left some
    const std::string operation = text_field(row, "operation");
    const CurveGroup group(library, row);
    if (operation == "decode-private" || operation == "decode-public")
        check_key_file(library, row, operation == "decode-private");
    else if (operation == "tls-exchange")
        group.exchange();
    else if (operation == "tls-server")
        group.server();
    else if (operation == "tls-client")
        group.client();
    else
        throw RowSkipped("operation " + operation + " is not in this program");
}

}  // namespace warpseal::cli
