// Wraps file keys for key slots.
#include "cli/age/slots/recipients.h"

#include <fmt/core.h>

#include <algorithm>

#include "c_api/internal_slot_keys.h"
#include "cli/age/crypto.h"
#include "cli/age/plugin/group.h"
#include "cli/age/slots/parameters.h"
#include "cli/age/ssh/stanzas.h"

namespace warpseal::cli::age {
namespace {

MadeSecret new_slot(uint16_t type, bool is_post_quantum, View file_key, View parameters) {
    Secret bytes{static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type), is_post_quantum};
    append(bytes, file_key);
    append(bytes, parameters);
    const size_t pages = bytes.size() / SecretBytes::page_bytes + 1;
    SecretBytes held(pages * SecretBytes::page_bytes);
    std::copy(bytes.begin(), bytes.end(), held.data());
    held.size = bytes.size();
    return {static_cast<warpseal_secret_type>(WARPSEAL_INTERNAL_SECRET_STANZA), std::move(held)};
}

void add_slots_of_plugins(std::vector<MadeSecret>& to, const std::vector<Recipient>& recipients,
                          const Secret& file_key) {
    bool is_post_quantum = false;
    const std::vector<Stanza> stanzas =
        std::move(plugin::wrap_by_plugins(recipients, {file_key}, &is_post_quantum)[0]);
    for (const Stanza& stanza : stanzas) {
        const Octets text = text_parameters(stanza);
        if (text.size() > WARPSEAL_INTERNAL_STANZA_BYTES_MAX)
            throw Failure(ExitCode::limit_exceeded,
                          fmt::format("a plugin made a stanza {} of {} bytes, and a key slot of a "
                                      "Warpseal file holds {}: add --format age.",
                                      printable(stanza.type()), text.size(),
                                      WARPSEAL_INTERNAL_STANZA_BYTES_MAX));
        to.push_back(new_slot(WARPSEAL_SLOT_STANZA, is_post_quantum, file_key, text));
    }
}

}  // namespace

std::vector<MadeSecret> slot_secrets(const std::vector<Recipient>& recipients) {
    std::vector<MadeSecret> secrets;
    const Secret file_key = random_secret(file_key_bytes);
    for (const Recipient& recipient : recipients) {
        if (!is_ssh(recipient.type)) continue;
        const uint16_t type =
            recipient.type == KeyType::ssh_rsa ? WARPSEAL_SLOT_SSH_RSA : WARPSEAL_SLOT_SSH_ED25519;
        secrets.push_back(
            new_slot(type, false, file_key, ssh_parameters(wrap_ssh(recipient, file_key))));
    }
    if (std::any_of(recipients.begin(), recipients.end(),
                    [](const Recipient& one) { return one.type == KeyType::plugin; }))
        add_slots_of_plugins(secrets, recipients, file_key);
    return secrets;
}

}  // namespace warpseal::cli::age
