// The fixed beginnings of encoded keys (X.690, DER).
#include "provider/encoding.h"

#include <openssl/objects.h>

#include <array>
#include <memory>
#include <new>

namespace warpseal::provider {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t integer = 0x02, bit_string = 0x03, octet_string = 0x04, object = 0x06, sequence = 0x30;

// Tag and length of what will have so many bytes.
Bytes header(uint8_t tag, size_t bytes) {
    Bytes made{tag};
    size_t octets = 1;
    while (octets < sizeof bytes && bytes >> (8 * octets) != 0) ++octets;
    if (bytes >= 0x80) made.push_back(static_cast<uint8_t>(0x80 | octets));
    for (size_t i = octets; i-- > 0;) made.push_back(static_cast<uint8_t>(bytes >> (8 * i)));
    return made;
}

Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Bytes wrapped(uint8_t tag, const Bytes& content) { return header(tag, content.size()) + content; }

struct FreeObject {
    void operator()(ASN1_OBJECT* object) const { ASN1_OBJECT_free(object); }
};

// AlgorithmIdentifier, without parameters.
Bytes algorithm(const Group& group) {
    const std::unique_ptr<ASN1_OBJECT, FreeObject> found(OBJ_txt2obj(object_identifier(group).c_str(), 1));
    if (found == nullptr) throw std::bad_alloc();
    const uint8_t* const data = OBJ_get0_data(found.get());
    return wrapped(sequence, wrapped(object, Bytes(data, data + OBJ_length(found.get()))));
}

// A sequence of `inside`, and of what will have so many bytes.
Bytes opened(const Bytes& inside, size_t bytes_to_follow) { return header(sequence, inside.size() + bytes_to_follow) + inside; }

using Beginnings = std::array<Bytes, groups.size()>;

Beginnings public_keys() {
    Beginnings made;
    for (size_t i = 0; i < groups.size(); ++i) {
        const size_t bytes = groups[i].share_bytes();
        const Bytes no_unused_bits{0};
        made[i] = opened(algorithm(groups[i]) + header(bit_string, bytes + 1) + no_unused_bits, bytes);
    }
    return made;
}

Beginnings private_keys() {
    Beginnings made;
    for (size_t i = 0; i < groups.size(); ++i) {
        const size_t bytes = private_key_bytes(groups[i]);
        const Bytes version = wrapped(integer, {0});
        made[i] = opened(version + algorithm(groups[i]) + header(octet_string, bytes), bytes);
    }
    return made;
}

}  // namespace

const Bytes& public_key_beginning(size_t group) {
    static const Beginnings made = public_keys();
    return made[group];
}

const Bytes& private_key_beginning(size_t group) {
    static const Beginnings made = private_keys();
    return made[group];
}

size_t index_of(const Group& group) { return static_cast<size_t>(&group - groups.data()); }

}  // namespace warpseal::provider
