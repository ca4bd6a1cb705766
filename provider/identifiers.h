// Object identifiers and libcrypto names of the groups' algorithms, computed at compile time.
// Tables built at first use would need a lock, which a fork could copy while held.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "provider/groups.h"

namespace warpseal::provider {

// Object identifier, split before its last arc. That arc is below 128, so one byte in DER.
struct ObjectIdentifier {
    std::string_view text;          // leading arcs with a final dot
    std::span<const uint8_t> arcs;  // same arcs in DER (X.690 8.19)
    uint8_t last;
};

// Bouncy Castle's identifiers of NTRU, in this order.
inline constexpr const Set* numbered_sets[] = {&hps2048509, &hps2048677,  &hps4096821,
                                               &hrss701,    &hps40961229, &hrss1373};
inline constexpr uint8_t ntru_arcs[] = {0x2b, 0x06, 0x01, 0x04, 0x01, 0x81, 0xb0, 0x1a, 0x05, 0x05};
// NIST's identifiers of ML-KEM (RFC 9935, section 3), in this order.
inline constexpr const Set* mlkem_sets[] = {&mlkem512, &mlkem768, &mlkem1024};
inline constexpr uint8_t mlkem_arcs[] = {0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04};
// Hybrids have no assigned identifiers; these are under our UUID (ITU-T X.667).
inline constexpr uint8_t hybrid_arcs[] = {0x69, 0x83, 0xb2, 0x96, 0xa4, 0x9f, 0xfc,
                                          0xd6, 0xb2, 0x9a, 0xad, 0x95, 0x95, 0x9a,
                                          0x8f, 0xae, 0xe3, 0xcc, 0xb9, 0x25};

inline constexpr uint8_t thawte_arcs[] = {0x2b, 0x65};  // of X25519 (RFC 8410, section 3)

// Returns the position of a set, counted from 1, or 0 if it is not there.
template <size_t count>
constexpr uint8_t number_of(const Set* const (&sets)[count], const Set& set) {
    for (size_t i = 0; i < count; ++i)
        if (sets[i] == &set) return static_cast<uint8_t>(i + 1);
    return 0;
}

// Must have fewer than 50 characters, because OpenSSL 3.0 truncates longer names.
constexpr ObjectIdentifier object_identifier(size_t group) {
    const Set& set = groups[group].set;
    if (groups[group].is_x25519()) return {"1.3.101.", thawte_arcs, 110};
    if (groups[group].classical != nullptr || set.with_x25519)
        return {"2.25.288558176082678323885897844765479869605.", hybrid_arcs,
                static_cast<uint8_t>(group)};
    if (groups[group].is_mlkem())
        return {"2.16.840.1.101.3.4.4.", mlkem_arcs, number_of(mlkem_sets, set)};
    return {"1.3.6.1.4.1.22554.5.5.", ntru_arcs, number_of(numbered_sets, set)};
}
// Assigned arcs count from 1. The last arc of a hybrid is its group, which may be 0.
constexpr bool assigned_arcs_are_known() {
    for (size_t group = 0; group < groups.size(); ++group) {
        const ObjectIdentifier identifier = object_identifier(group);
        if (identifier.last == 0 && identifier.arcs.data() != hybrid_arcs) return false;
    }
    return true;
}
static_assert(assigned_arcs_are_known(), "a set is in no list of identifiers");

struct AlgorithmNames {
    char text[96] = {};

    constexpr explicit AlgorithmNames(size_t group) {
        const ObjectIdentifier identifier = object_identifier(group);
        const auto put = [](char* to, std::string_view name) {
            return std::ranges::copy(name, to).out;
        };
        char* end = put(text, groups[group].name);
        *end++ = ':';
        // The names that OpenSSL 3.5 has for ML-KEM.
        if (groups[group].is_mlkem()) {
            const std::string_view size = std::string_view(groups[group].name).substr(5);
            end = put(put(put(end, "ML-KEM-"), size), ":id-alg-ml-kem-");
            end = put(put(end, size), ":");
        }
        end = put(end, identifier.text);
        for (const uint8_t unit : {100, 10, 1})
            if (identifier.last >= unit)
                *end++ = static_cast<char>('0' + identifier.last / unit % 10);
    }
};

template <size_t group>
inline constexpr AlgorithmNames names_of{group};

// Returns the names in libcrypto's form: the group's name, then the object identifier.
template <size_t group>
constexpr const char* algorithm_names() {
    return names_of<group>.text;
}

}  // namespace warpseal::provider
