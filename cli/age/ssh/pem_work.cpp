// Work that opens an encrypted private key in PEM: PBES1 and PBES2 (RFC 8018), scrypt (RFC 7914).
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <limits>
#include <memory>

#include "cli/age/crypto.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/rsa.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

// libcrypto cannot be interrupted meanwhile. That many rounds take some seconds.
constexpr uint64_t most_pem_rounds = 10'000'000;
// A step of scrypt mixes 128 bytes. libcrypto refuses 32 MiB of memory and more.
constexpr uint64_t step_bytes = 128, most_memory_bytes = 32 << 20, most_work_bytes = 1 << 30;

struct DeletePem {
    void operator()(BIO* input) const { BIO_free(input); }
    void operator()(X509_SIG* info) const { X509_SIG_free(info); }
    void operator()(PBE2PARAM* parameters) const { PBE2PARAM_free(parameters); }
    void operator()(PBKDF2PARAM* parameters) const { PBKDF2PARAM_free(parameters); }
    void operator()(PBEPARAM* parameters) const { PBEPARAM_free(parameters); }
    void operator()(SCRYPT_PARAMS* parameters) const { SCRYPT_PARAMS_free(parameters); }
    void operator()(char* text) const { OPENSSL_free(text); }
};
template <class Type>
using PemOwner = std::unique_ptr<Type, DeletePem>;

// The greatest number for one that is negative or too large.
uint64_t number_of(const ASN1_INTEGER* integer) {
    uint64_t value = 0;
    return ASN1_INTEGER_get_uint64(&value, integer) == 1 ? value
                                                         : std::numeric_limits<uint64_t>::max();
}

// Null for parameters of another form, which libcrypto refuses later.
template <class Type>
PemOwner<Type> parameters_of(const X509_ALGOR* algorithm, const ASN1_ITEM* form) {
    PemOwner<Type> found(static_cast<Type*>(ASN1_TYPE_unpack_sequence(form, algorithm->parameter)));
    if (!found) take_errors();
    return found;
}

void require_rounds(const ASN1_INTEGER* integer, const std::string& shown) {
    const uint64_t rounds = number_of(integer);
    if (rounds > most_pem_rounds)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("{} asks for {} rounds of key derivation, and the limit is {}: "
                                  "ssh-keygen -p writes it in OpenSSH's format.",
                                  shown, rounds, most_pem_rounds));
}

void require_scrypt(const SCRYPT_PARAMS& parameters, const std::string& shown) {
    const uint64_t cost = number_of(parameters.costParameter),
                   block = number_of(parameters.blockSize),
                   parallel = number_of(parameters.parallelizationParameter);
    const auto is_below = [](uint64_t a, uint64_t b, uint64_t bytes) {
        return a == 0 || b < bytes / step_bytes / a;
    };
    if (!is_below(cost, block, most_memory_bytes) ||
        !is_below(block, parallel, most_memory_bytes) ||
        !is_below(cost * block, parallel, most_work_bytes))
        throw Failure(
            ExitCode::limit_exceeded,
            cli::format("{} asks for 32 MiB of memory or more for scrypt, or for too many "
                        "repetitions of it: ssh-keygen -p writes it in OpenSSH's format.",
                        shown));
}

void require_bounded(const X509_ALGOR* algorithm, const std::string& shown) {
    const ASN1_OBJECT* name = nullptr;
    X509_ALGOR_get0(&name, nullptr, nullptr, algorithm);
    if (OBJ_obj2nid(name) != NID_pbes2) {
        const auto found = parameters_of<PBEPARAM>(algorithm, ASN1_ITEM_rptr(PBEPARAM));
        if (found) require_rounds(found->iter, shown);
        return;
    }
    const auto both = parameters_of<PBE2PARAM>(algorithm, ASN1_ITEM_rptr(PBE2PARAM));
    if (!both) return;
    X509_ALGOR_get0(&name, nullptr, nullptr, both->keyfunc);
    if (OBJ_obj2nid(name) == NID_id_scrypt) {
        const auto found =
            parameters_of<SCRYPT_PARAMS>(both->keyfunc, ASN1_ITEM_rptr(SCRYPT_PARAMS));
        if (found) require_scrypt(*found, shown);
    } else {
        const auto found = parameters_of<PBKDF2PARAM>(both->keyfunc, ASN1_ITEM_rptr(PBKDF2PARAM));
        if (found) require_rounds(found->iter, shown);
    }
}

}  // namespace

void require_bounded_work(std::string_view pem, const std::string& shown) {
    constexpr std::string_view begin = "-----BEGIN ";
    // libcrypto goes on after a malformed block, so each place where one may begin counts.
    for (size_t at = pem.find(begin); at != std::string_view::npos; at = pem.find(begin, at + 1)) {
        const std::string_view rest = pem.substr(at);
        const PemOwner<BIO> input(BIO_new_mem_buf(rest.data(), static_cast<int>(rest.size())));
        require_libcrypto(input != nullptr, "PEM");
        char *name = nullptr, *header = nullptr;
        unsigned char* bytes = nullptr;
        long size = 0;
        if (PEM_read_bio(input.get(), &name, &header, &bytes, &size) != 1) {
            take_errors();  // malformed
            continue;
        }
        const PemOwner<char> name_owner(name), header_owner(header);
        const unsigned char* from = bytes;
        const PemOwner<X509_SIG> info(d2i_X509_SIG(nullptr, &from, size));
        OPENSSL_clear_free(bytes, static_cast<size_t>(size));
        if (!info) {
            take_errors();  // another kind of block
            continue;
        }
        const X509_ALGOR* algorithm = nullptr;
        X509_SIG_get0(info.get(), &algorithm, nullptr);
        require_bounded(algorithm, shown);
    }
}

}  // namespace warpseal::cli::age
