// Fixed prefixes of encoded keys (X.690, DER), computed at compile time.
#include "provider/encoding.h"

#include <array>

#include "provider/identifiers.h"

namespace warpseal::provider {
namespace {

constexpr uint8_t integer = 0x02, bit_string = 0x03, octet_string = 0x04, object = 0x06,
                  sequence = 0x30, context_0 = 0x80;

class Beginning {
public:
    constexpr std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }

    constexpr Beginning& put(uint8_t byte) {
        bytes_[size_++] = byte;
        return *this;
    }
    constexpr Beginning& put(std::span<const uint8_t> some) {
        for (const uint8_t byte : some) put(byte);
        return *this;
    }
    // Appends the tag and length of a value of `bytes` bytes.
    constexpr Beginning& header(uint8_t tag, size_t bytes) {
        size_t octets = 1;
        while (octets < sizeof bytes && bytes >> (8 * octets) != 0) ++octets;
        put(tag);
        if (bytes >= 0x80) put(static_cast<uint8_t>(0x80 | octets));
        for (size_t i = octets; i-- > 0;) put(static_cast<uint8_t>(bytes >> (8 * i)));
        return *this;
    }
    constexpr Beginning& wrapped(uint8_t tag, std::span<const uint8_t> content) {
        return header(tag, content.size()).put(content);
    }

private:
    std::array<uint8_t, 64> bytes_{};
    size_t size_ = 0;
};

// Returns an AlgorithmIdentifier without parameters.
constexpr Beginning algorithm(size_t group) {
    const ObjectIdentifier identifier = object_identifier(group);
    Beginning arcs, name;
    arcs.put(identifier.arcs).put(identifier.last);
    name.wrapped(object, arcs.bytes());
    return Beginning().wrapped(sequence, name.bytes());
}

// Returns the start of a sequence that holds `content` and then `bytes_to_follow` bytes.
constexpr Beginning opened(const Beginning& content, size_t bytes_to_follow) {
    return Beginning()
        .header(sequence, content.bytes().size() + bytes_to_follow)
        .put(content.bytes());
}

constexpr Beginning of_public_key(size_t group) {
    const size_t bytes = groups[group].share_bytes();
    constexpr uint8_t no_unused_bits = 0;
    return opened(algorithm(group).header(bit_string, bytes + 1).put(no_unused_bits), bytes);
}

constexpr Beginning of_expanded_key(size_t group) {
    return Beginning().header(octet_string, groups[group].secret_key_bytes());
}

// Returns the headers within the octet string, before the first key.
constexpr Beginning inner_headers(size_t group, PrivateForm form) {
    if (form == PrivateForm::seed) return Beginning().header(context_0, mlkem_seed_bytes);
    if (form == PrivateForm::expanded) return of_expanded_key(group);
    if (form == PrivateForm::with_share) return Beginning();
    const Beginning seed = Beginning().header(octet_string, mlkem_seed_bytes);
    return opened(seed, private_key_bytes(groups[group], form));
}

constexpr Beginning of_private_key(size_t group, PrivateForm form) {
    const Beginning inner = inner_headers(group, form);
    const size_t bytes = private_key_bytes(groups[group], form);
    constexpr uint8_t version[] = {0};
    return opened(Beginning()
                      .wrapped(integer, version)
                      .put(algorithm(group).bytes())
                      .header(octet_string, inner.bytes().size() + bytes)
                      .put(inner.bytes()),
                  bytes);
}

template <class Make>
constexpr std::array<Beginning, groups.size()> of_every_group(const Make& make) {
    std::array<Beginning, groups.size()> made;
    for (size_t i = 0; i < made.size(); ++i) made[i] = make(i);
    return made;
}

constexpr std::array public_keys = of_every_group(of_public_key);
constexpr std::array expanded_keys = of_every_group(of_expanded_key);
template <PrivateForm form>
constexpr std::array private_keys = of_every_group([](size_t group) {
    return of_private_key(group, form);
});

}  // namespace

std::span<const uint8_t> public_key_beginning(size_t group) { return public_keys[group].bytes(); }

std::span<const uint8_t> private_key_beginning(size_t group, PrivateForm form) {
    switch (form) {
        case PrivateForm::with_share: return private_keys<PrivateForm::with_share>[group].bytes();
        case PrivateForm::seed: return private_keys<PrivateForm::seed>[group].bytes();
        case PrivateForm::expanded: return private_keys<PrivateForm::expanded>[group].bytes();
        case PrivateForm::both: return private_keys<PrivateForm::both>[group].bytes();
    }
    return {};
}

std::span<const uint8_t> expanded_key_header(size_t group) { return expanded_keys[group].bytes(); }

size_t index_of(const Group& group) { return static_cast<size_t>(&group - groups.data()); }

}  // namespace warpseal::provider
