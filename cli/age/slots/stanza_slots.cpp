// Packs stanzas into the parameters of slots, and reads them back.
#include "cli/age/slots/stanza_slots.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "c_api/internal_slot_keys.h"
#include "cli/age/crypto.h"
#include "cli/age/format/text.h"
#include "cli/age/plugin/group.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/age/ssh/wire.h"
#include "cli/age/stanzas.h"
#include "cli/support/command.h"

namespace warpseal::cli::age {
namespace {

constexpr size_t key_tag_bytes = 4;

uint16_t slot_type_of(const Stanza& stanza) {
    if (stanza.type() == ssh_ed25519_name) return WARPSEAL_SLOT_SSH_ED25519;
    return stanza.type() == ssh_rsa_name ? WARPSEAL_SLOT_SSH_RSA : WARPSEAL_SLOT_STANZA;
}

// Of an SSH key the arguments' bytes and the body, else the text.
Octets parameters_of(const Stanza& stanza) {
    Octets bytes;
    if (slot_type_of(stanza) == WARPSEAL_SLOT_STANZA) {
        write_stanza({stanza.arguments.begin(), stanza.arguments.end()}, stanza.body,
                     [&](std::string_view part) { append(bytes, view(part)); });
        return bytes;
    }
    for (size_t i = 1; i < stanza.arguments.size(); ++i) {
        Octets argument;
        (void)from_base64(stanza.arguments[i], Padding::none, argument);  // ours
        append(bytes, argument);
    }
    append(bytes, stanza.body);
    return bytes;
}

std::shared_ptr<const SecretBytes> secret_of(const Stanza& stanza, View file_key) {
    const uint16_t type = slot_type_of(stanza);
    Secret bytes{static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type)};
    append(bytes, file_key);
    append(bytes, parameters_of(stanza));
    return secret_bytes_of(bytes);
}

struct Malformed {};

// The stanza of a plugin. Throws Malformed.
Stanza parse_text(View parameters) {
    std::string_view rest = text_of(parameters);
    const auto next_line = [&rest] {
        const size_t end = rest.find('\n');
        if (end == std::string_view::npos) throw Malformed();
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        return std::string(line);
    };
    const auto refuse = [](const std::string&) { throw Malformed(); };
    Stanza stanza =
        read_stanza(next_line(), [&](std::string& line) { line += next_line(); }, {refuse, refuse});
    if (!rest.empty()) throw Malformed();
    return stanza;
}

Stanza stanza_of(uint32_t type, View parameters) {
    if (type == WARPSEAL_SLOT_STANZA) return parse_text(parameters);
    const bool is_rsa = type == WARPSEAL_SLOT_SSH_RSA;
    const size_t share_bytes = is_rsa ? 0 : key_bytes;
    if (parameters.size() < key_tag_bytes + share_bytes) throw Malformed();
    Stanza stanza;
    stanza.arguments = {is_rsa ? ssh_rsa_name : ssh_ed25519_name,
                        base64(parameters.first(key_tag_bytes), Padding::none)};
    if (!is_rsa)
        stanza.arguments.push_back(
            base64(parameters.subspan(key_tag_bytes, share_bytes), Padding::none));
    const View body = parameters.subspan(key_tag_bytes + share_bytes);
    stanza.body.assign(body.begin(), body.end());
    return stanza;
}

// Callback of the library; `user` is a vector of stanzas.
void take_slot(void* user, uint32_t type, const void* parameters, size_t bytes) {
    if (type != WARPSEAL_SLOT_SSH_ED25519 && type != WARPSEAL_SLOT_SSH_RSA &&
        type != WARPSEAL_SLOT_STANZA)
        return;
    auto& to = *static_cast<std::vector<Stanza>*>(user);
    try {
        Stanza stanza = stanza_of(type, {static_cast<const uint8_t*>(parameters), bytes});
        check_stanzas({stanza});
        const auto same = [&](const Stanza& other) {
            return other.arguments == stanza.arguments && other.body == stanza.body;
        };
        // Both header copies have it.
        if (std::none_of(to.begin(), to.end(), same)) to.push_back(std::move(stanza));
    } catch (const Malformed&) {  // opens for nobody
    } catch (const Failure&) {
    }
}

}  // namespace

std::shared_ptr<const SecretBytes> secret_bytes_of(View bytes) {
    const size_t pages = (bytes.size() + SecretBytes::page_bytes - 1) / SecretBytes::page_bytes;
    auto secret =
        std::make_shared<SecretBytes>(std::max<size_t>(pages, 1) * SecretBytes::page_bytes);
    std::copy(bytes.begin(), bytes.end(), secret->data());
    secret->size = bytes.size();
    return secret;
}

std::vector<std::shared_ptr<const SecretBytes>> stanza_secrets(
    const std::vector<Recipient>& recipients) {
    std::vector<std::shared_ptr<const SecretBytes>> secrets;
    const Secret file_key = random_secret(file_key_bytes);
    bool has_plugin = false;
    for (const Recipient& recipient : recipients) {
        has_plugin |= recipient.type == KeyType::plugin;
        if (is_ssh(recipient.type))
            secrets.push_back(secret_of(wrap_ssh(recipient, file_key), file_key));
    }
    if (!has_plugin) return secrets;
    for (const Stanza& stanza : plugin::wrap_by_plugins(recipients, {file_key})[0])
        secrets.push_back(secret_of(stanza, file_key));
    return secrets;
}

std::vector<Stanza> stanzas_of_slots(int input) {
    std::vector<Stanza> stanzas;
    struct stat about;
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (position < 0 || fstat(input, &about) != 0 || !S_ISREG(about.st_mode)) return stanzas;
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    // What is wrong with the file is said when it is opened.
    const warpseal_status status =
        warpseal_internal_file_slots_visit(input, take_slot, &stanzas, &result);
    if (lseek(input, position, SEEK_SET) != position)
        throw Failure(ExitCode::input_output, "cannot rewind the input.");
    if (status != WARPSEAL_OK) stanzas.clear();
    return stanzas;
}

}  // namespace warpseal::cli::age
