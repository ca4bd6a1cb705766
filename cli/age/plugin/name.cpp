// Names of plugins in recipients and identities.

#include <algorithm>

#include "cli/age/format/text.h"
#include "cli/age/plugin/plugin.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age::plugin {
namespace {

constexpr std::string_view recipient_prefix = "age1";
constexpr std::string_view identity_prefix = "age-plugin-";

// Names become part of a program's name: no path and no option can be one.
bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view("-_.+").find(c) != std::string_view::npos;
    });
}

// Returns the text between a prefix and an end, or an empty text.
std::string_view between(std::string_view text, std::string_view prefix, std::string_view end) {
    if (text.size() < prefix.size() + end.size() || text.substr(0, prefix.size()) != prefix ||
        text.substr(text.size() - end.size()) != end)
        return {};
    text.remove_prefix(prefix.size());
    text.remove_suffix(end.size());
    return text;
}

// The recipients of these prefixes are no plugins': hardware keys and post-quantum keys.
bool is_reserved(std::string_view name) { return name == "tag" || name == "tagpq" || name == "pq"; }

}  // namespace

std::string name_of_recipient(std::string_view text) {
    const std::optional<Bech32> found = from_bech32(text);
    if (!found || found->upper_case) return {};
    const std::string_view name = between(found->prefix, recipient_prefix, "");
    return is_name(name) && !is_reserved(name) ? std::string(name) : std::string();
}

std::string name_of_identity(std::string_view text) {
    const std::optional<Bech32> found = from_bech32(text);
    if (!found || !found->upper_case) return {};
    const std::string_view name = between(found->prefix, identity_prefix, "-");
    return is_name(name) ? std::string(name) : std::string();
}

Secret identity_without_data(const std::string& name) {
    if (!is_name(name))
        throw Failure(ExitCode::usage,
                      cli::format("-j {} is no name of a plugin: give NAME of the program "
                                  "age-plugin-NAME, in small letters, digits and -_.+ alone.",
                                  name));
    Secret text;
    for (const char c : bech32(cli::format("{}{}-", identity_prefix, name), {}))
        text.push_back(static_cast<uint8_t>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
    return text;
}

}  // namespace warpseal::cli::age::plugin
