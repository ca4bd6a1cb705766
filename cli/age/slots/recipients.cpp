// Wraps file keys for key slots.
#include "cli/age/slots/recipients.h"

#include <algorithm>

#include "c_api/internal_slot_keys.h"
#include "cli/age/crypto.h"
#include "cli/age/plugin/group.h"
#include "cli/age/slots/parameters.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

MadeSecret new_slot(uint16_t type, View file_key, View parameters) {
    Secret bytes{static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type)};
    append(bytes, file_key);
    append(bytes, parameters);
    const size_t pages = bytes.size() / SecretBytes::page_bytes + 1;
    SecretBytes held(pages * SecretBytes::page_bytes);
    std::copy(bytes.begin(), bytes.end(), held.data());
    held.size = bytes.size();
    return {static_cast<warpseal_secret_type>(WARPSEAL_INTERNAL_SECRET_STANZA), std::move(held)};
}

// All stanzas of a plugin are in one slot, because the plugin may need several of them.
MadeSecret slot_of_plugin(const plugin::PluginKey& made, bool is_post_quantum) {
    const Octets parameters = plugin_parameters(made.stanzas, is_post_quantum);
    const size_t text_bytes = parameters.size() - WARPSEAL_INTERNAL_STANZA_FLAG_BYTES;
    if (text_bytes > WARPSEAL_INTERNAL_STANZA_TEXT_BYTES_MAX)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("age-plugin-{} made stanzas of {} bytes, and a key slot of a "
                                  "Warpseal file holds {}: give fewer of its recipients, and "
                                  "add the others with `warpseal key add`.",
                                  made.name, text_bytes, WARPSEAL_INTERNAL_STANZA_TEXT_BYTES_MAX));
    return new_slot(WARPSEAL_SLOT_STANZA, made.file_key, parameters);
}

}  // namespace

std::vector<MadeSecret> slot_secrets(const std::vector<Recipient>& recipients) {
    std::vector<MadeSecret> secrets;
    for (const Recipient& recipient : recipients) {
        if (!is_ssh(recipient.type)) continue;
        const uint16_t type =
            recipient.type == KeyType::ssh_rsa ? WARPSEAL_SLOT_SSH_RSA : WARPSEAL_SLOT_SSH_ED25519;
        // With a common file key, a recipient could open the slots of the others.
        const Secret file_key = random_secret(file_key_bytes);
        secrets.push_back(new_slot(type, file_key, ssh_parameters(wrap_ssh(recipient, file_key))));
    }
    const plugin::PluginKeys made = plugin::wrap_key_of_each_plugin(recipients);
    for (const plugin::PluginKey& one : made.keys)
        secrets.push_back(slot_of_plugin(one, made.are_post_quantum));
    return secrets;
}

}  // namespace warpseal::cli::age
