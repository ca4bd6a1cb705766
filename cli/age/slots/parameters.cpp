// Packs stanzas into the parameters of key slots, and reads them back.
#include "cli/age/slots/parameters.h"

#include "c_api/internal_slot_keys.h"
#include "cli/age/crypto.h"
#include "cli/age/format/text.h"
#include "cli/age/ssh/wire.h"

namespace warpseal::cli::age {
namespace {

constexpr size_t key_tag_bytes = 4;

struct Malformed {};

// At least one stanza. Throws Malformed.
std::vector<Stanza> parse_text(std::string_view text) {
    const auto next_line = [&text] {
        const size_t end = text.find('\n');
        if (end == std::string_view::npos) throw Malformed();
        std::string line(text.substr(0, end));
        text.remove_prefix(end + 1);
        return line;
    };
    const auto refuse = [](const std::string&) { throw Malformed(); };
    std::vector<Stanza> stanzas;
    do {
        const std::string first = next_line();
        stanzas.push_back(
            read_stanza(first, [&](std::string& line) { line += next_line(); }, {refuse, refuse}));
    } while (!text.empty());
    return stanzas;
}

// The slot of an SSH key has the decoded arguments of one stanza. Empty if it is too short.
std::vector<Stanza> parse_ssh(bool is_rsa, View parameters) {
    const size_t share_bytes = is_rsa ? 0 : key_bytes;
    if (parameters.size() < key_tag_bytes + share_bytes) return {};
    Stanza stanza;
    stanza.arguments = {is_rsa ? ssh_rsa_name : ssh_ed25519_name,
                        base64(parameters.first(key_tag_bytes), Padding::none)};
    if (!is_rsa)
        stanza.arguments.push_back(
            base64(parameters.subspan(key_tag_bytes, share_bytes), Padding::none));
    const View body = parameters.subspan(key_tag_bytes + share_bytes);
    stanza.body.assign(body.begin(), body.end());
    return {stanza};
}

}  // namespace

Octets ssh_parameters(const Stanza& stanza) {
    Octets bytes;
    for (size_t i = 1; i < stanza.arguments.size(); ++i)
        (void)from_base64(stanza.arguments[i], Padding::none, bytes);  // which wrap_ssh encoded
    append(bytes, stanza.body);
    return bytes;
}

Octets plugin_parameters(const std::vector<Stanza>& stanzas, bool is_post_quantum) {
    Octets bytes{static_cast<uint8_t>(is_post_quantum ? WARPSEAL_INTERNAL_STANZA_POST_QUANTUM : 0)};
    for (const Stanza& stanza : stanzas)
        write_stanza({stanza.arguments.begin(), stanza.arguments.end()}, stanza.body,
                     [&](std::string_view part) { append(bytes, view(part)); });
    return bytes;
}

std::vector<Stanza> stanzas_in_slot(uint32_t slot_type, View parameters) {
    if (slot_type != WARPSEAL_SLOT_STANZA)
        return parse_ssh(slot_type == WARPSEAL_SLOT_SSH_RSA, parameters);
    if (parameters.empty()) return {};
    try {
        return parse_text(text_of(parameters.subspan(WARPSEAL_INTERNAL_STANZA_FLAG_BYTES)));
    } catch (const Malformed&) {
        return {};
    }
}

}  // namespace warpseal::cli::age
