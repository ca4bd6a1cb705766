// Recipients and identities for the tests of key slots.
#pragma once

#include "container/recipients/bech32.h"
#include "container/recipients/stanza.h"
#include "files.h"

namespace tests {

// A pair of texts, from a secret key of equal bytes.
struct Person {
    explicit Person(warpseal::container::RecipientType type, uint8_t which = 1)
        : Person(type, Data(32, which)) {}
    Person(warpseal::container::RecipientType type, Data secret_key)
        : secret(std::move(secret_key)) {
        namespace container = warpseal::container;
        const container::RecipientForm& form = container::form_of(type);
        Data key(form.public_bytes);
        EXPECT_EQ(container::recipient_public_key(engine(), type, secret.data(), key.data()),
                  WARPSEAL_OK);
        recipient = text(form.recipient_prefix, key);
        identity = text(form.identity_prefix, secret);
        for (char& c : identity) c = static_cast<char>(std::toupper(c));
    }
    static std::string text(std::string_view prefix, const Data& bytes) {
        std::string out(warpseal::container::bech32_characters(prefix.size(), bytes.size()), ' ');
        warpseal::container::encode_bech32(prefix, bytes.data(), bytes.size(), out.data());
        return out;
    }
    void wipe() {
        warpseal::wipe(secret.data(), secret.size());
        warpseal::wipe(identity.data(), identity.size());
    }
    static Data data(const std::string& of) { return Data(of.begin(), of.end()); }
    Options& seal(Options& options) const {
        return options.add(WARPSEAL_SECRET_RECIPIENT, data(recipient));
    }
    Options& open(Options& options) const {
        return options.add(WARPSEAL_SECRET_IDENTITY, data(identity));
    }

    Data secret;
    std::string recipient, identity;
};

constexpr auto x25519 = warpseal::container::RecipientType::x25519;
constexpr auto hybrid = warpseal::container::RecipientType::mlkem768_x25519;
constexpr auto ntru = warpseal::container::RecipientType::ntru_x25519;

}  // namespace tests
