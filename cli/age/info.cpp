// Prints the stanzas and sizes of an age file, for `warpseal info`.

#include <nlohmann/json.hpp>

#include "cli/age/format/armor.h"
#include "cli/age/format/header.h"
#include "cli/age/payload/payload.h"
#include "cli/age/task.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

using namespace age;

using Json = nlohmann::ordered_json;

struct AgeInfo {
    Header header;
    bool is_armored = false;
    // Unknown for an armor and for a pipe.
    std::optional<uint64_t> header_bytes, file_bytes, plaintext_bytes;
};

AgeInfo read_info(int input) {
    AgeInfo info;
    const uint64_t total = remaining_bytes(input);
    DescriptorSource descriptor(input);
    AgeSource source(descriptor);
    info.header = read_header(source.binary());
    info.is_armored = source.within.has_value();
    if (total > 0) info.file_bytes = total;
    if (info.is_armored) return info;
    info.header_bytes = source.text.taken();
    const uint64_t begin = source.text.taken() + payload_nonce_bytes;
    if (total < begin + tag_bytes) return info;
    const uint64_t chunks = (total - begin + sealed_chunk_bytes - 1) / sealed_chunk_bytes;
    const uint64_t sealed = total - begin;
    if (sealed >= chunks * tag_bytes) info.plaintext_bytes = sealed - chunks * tag_bytes;
    return info;
}

// Types that this program does not know may be of plugins, or mean nothing.
std::optional<bool> is_post_quantum(const Header& header) {
    bool is_known = true;
    for (const Stanza& stanza : header.stanzas) {
        const std::string& type = stanza.type();
        if (type == "X25519" || type == "ssh-ed25519" || type == "ssh-rsa" || type == "p256tag")
            return false;
        is_known &= type == "mlkem768x25519" || type == "mlkem768p256tag" || type == "scrypt";
    }
    return is_known ? std::optional(true) : std::nullopt;
}

template <class Value>
Json known(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

std::string as_json(const AgeInfo& info) {
    Json stanzas = Json::array();
    for (const Stanza& stanza : info.header.stanzas) stanzas.push_back({{"type", stanza.type()}});
    const Json all{{"format", "age"},
                   {"version", 1},
                   {"armored", info.is_armored},
                   {"header_bytes", known(info.header_bytes)},
                   {"file_bytes", known(info.file_bytes)},
                   {"plaintext_bytes", known(info.plaintext_bytes)},
                   {"stanzas", std::move(stanzas)},
                   {"post_quantum", known(is_post_quantum(info.header))},
                   {"authenticated", false}};
    return all.dump(2) + "\n";
}

std::string as_text(const AgeInfo& info) {
    const auto bytes = [](const std::optional<uint64_t>& count) {
        return count ? cli::format("{} bytes", *count) : std::string("unknown");
    };
    const std::optional<bool> safe = is_post_quantum(info.header);
    std::string text = cli::format(
        "format      age, version 1{}\n"
        "header      {}\n"
        "file        {}\n"
        "plaintext   {}\n"
        "quantum     {}\n",
        info.is_armored ? ", armored" : "", bytes(info.header_bytes), bytes(info.file_bytes),
        bytes(info.plaintext_bytes),
        !safe   ? "protection unknown: it has stanzas of other types"
        : *safe ? "protected"
                : "not protected");
    for (size_t i = 0; i < info.header.stanzas.size(); ++i) {
        const Stanza& stanza = info.header.stanzas[i];
        const bool has_cost = stanza.type() == "scrypt" && stanza.arguments.size() == 3;
        text += cli::format("stanza {:<4} {}{}\n", i + 1, stanza.type(),
                            has_cost ? cli::format(", 2^{} rounds", stanza.arguments[2]) : "");
    }
    return text + "Read without a key, so not authenticated: `warpseal verify` checks.\n";
}

}  // namespace

ExitCode print_age_info(int input, const std::string& shown, bool json) {
    try {
        const AgeInfo info = read_info(input);
        print_output(json ? as_json(info) : as_text(info));
    } catch (const Failure& failure) {
        throw Failure(failure.code,
                      cli::format("cannot read the header of {}: {}", shown, failure.what()));
    }
    return ExitCode::ok;
}

}  // namespace warpseal::cli
