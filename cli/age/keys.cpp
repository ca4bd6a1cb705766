// Parses recipients and identities. Errors name the file and the line, never the content.
#include "cli/age/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/age/crypto.h"
#include "cli/age/format/text.h"
#include "cli/age/payload/source.h"
#include "cli/age/plugin/plugin.h"
#include "cli/age/ssh/keys.h"
#include "cli/support/format.h"
#include "cli/support/output.h"
#include "cli/support/secrets.h"

namespace warpseal::cli::age {
namespace {

constexpr size_t max_line_bytes = 8 << 10;
constexpr size_t max_file_bytes = 16 << 20;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // as editors write it in UTF-8

struct TextForm {
    KeyType type;
    const char* recipient;  // prefixes in lower case
    const char* identity;
    size_t public_key_bytes;
};
constexpr TextForm text_forms[] = {
    {KeyType::x25519, "age", "age-secret-key-", key_bytes},
    {KeyType::hybrid, "age1pq", "age-secret-key-pq-", hybrid_public_key_bytes},
    {KeyType::ntru, "warpntru", "warpntru-secret-key-", ntru_public_key_bytes},
};

bool begins_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

// Reads a whole file of lines into memory that is zeroized. Throws Failure.
Secret read_lines(int descriptor, const std::string& shown) {
    DescriptorSource source(descriptor);
    BufferedSource buffered(source);
    Secret content(SecretBytes::page_bytes);
    size_t size = 0;
    for (;;) {
        try {
            size += buffered.read(content.data() + size, content.size() - size);
        } catch (const Failure& failure) {
            throw Failure(failure.code, cli::format("cannot read {}: {}", shown, failure.what()));
        }
        if (size < content.size()) break;
        if (size >= max_file_bytes)
            throw Failure(ExitCode::limit_exceeded,
                          cli::format("{} has more than {}.", shown, human_bytes(max_file_bytes)));
        content.resize(2 * size);
    }
    content.resize(size);
    return content;
}

// Calls `use` for each line that is neither empty nor a comment, with its place for messages.
template <class Use>
void for_each_line(const Secret& content, const std::string& shown, Use use) {
    std::string_view rest(reinterpret_cast<const char*>(content.data()), content.size());
    if (begins_with(rest, byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
    for (uint64_t number = 1; !rest.empty(); ++number) {
        const size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        const std::string place = cli::format("line {} of {}", number, shown);
        if (line.size() > max_line_bytes)
            throw Failure(ExitCode::limit_exceeded,
                          cli::format("{} has more than {} bytes.", place, max_line_bytes));
        if (!line.empty() && line[0] != '#') use(line, place);
    }
}

[[noreturn]] void throw_ssh_public_key(const std::string& shown) {
    throw Failure(ExitCode::usage,
                  cli::format("{} is an SSH public key: -i takes the private key, whose file has "
                              "the same name without .pub.",
                              shown));
}

// A public key may be open to others, which is the first thing that a private file may not be.
void refuse_ssh_public_key(const std::string& path, const std::string& shown) {
    struct stat about;
    if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    char begin[32];
    const ssize_t bytes = file ? pread(file.get(), begin, sizeof begin, 0) : 0;
    if (bytes > 0 && is_ssh_public_key({begin, static_cast<size_t>(bytes)}))
        throw_ssh_public_key(shown);
}

Identity parse_identity(std::string_view text, const std::string& shown) {
    std::optional<Bech32> found = from_bech32(text);
    if (found && found->upper_case)
        for (const TextForm& form : text_forms)
            if (found->prefix == form.identity && found->bytes.size() == key_bytes)
                return {form.type, std::move(found->bytes)};
    if (!plugin::name_of_identity(text).empty())
        return {KeyType::plugin, Secret(text.begin(), text.end())};
    if (begins_with(text, "age1"))
        throw Failure(ExitCode::usage,
                      cli::format("{} is a recipient: -i takes identities, which begin with "
                                  "AGE-SECRET-KEY-1.",
                                  shown));
    if (is_ssh_public_key(text)) throw_ssh_public_key(shown);
    throw Failure(ExitCode::usage, cli::format("{} is no identity: it must be a comment or a whole "
                                               "AGE-SECRET-KEY-1 line.",
                                               shown));
}

}  // namespace

Recipient parse_recipient(std::string_view text, const std::string& shown) {
    if (const std::optional<Bech32> found = from_bech32(text)) {
        for (const TextForm& form : text_forms) {
            if (found->prefix == form.recipient && !found->upper_case &&
                found->bytes.size() == form.public_key_bytes)
                return {form.type, Octets(found->bytes.begin(), found->bytes.end()), shown};
            if (found->prefix == form.identity)
                throw Failure(ExitCode::usage,
                              cli::format("{} is an identity, which is secret: give the recipient "
                                          "that `warpseal keygen -y` prints for it.",
                                          shown));
        }
        if (!plugin::name_of_recipient(text).empty())
            return {KeyType::plugin, Octets(text.begin(), text.end()), shown};
        if (begins_with(found->prefix, "age1tag"))
            throw Failure(ExitCode::unsupported,
                          cli::format("{} is for a hardware key, which is not supported: give "
                                      "another recipient.",
                                      shown));
    }
    if (is_ssh_public_key(text)) {
        if (std::optional<Recipient> found = parse_ssh_recipient(text, shown)) return *found;
        throw Failure(ExitCode::unsupported,
                      cli::format("{} is an SSH key of type {}, which age files do not take: give "
                                  "an ssh-ed25519, ssh-rsa or age1 recipient.",
                                  shown, ssh_type_of(text)));
    }
    if (is_private_key(text))
        throw Failure(ExitCode::usage,
                      cli::format("{} is a private key, which is secret: give its public key, "
                                  "which is in a file that ends in .pub.",
                                  shown));
    if (text.find(" ssh-") != std::string_view::npos)
        throw Failure(
            ExitCode::usage,
            cli::format("{} has options before its SSH key: begin with the key's type.", shown));
    throw Failure(
        ExitCode::usage,
        cli::format(
            "{} is no recipient: it must begin with age1, ssh-ed25519 or ssh-rsa and be copied "
            "whole. A file of recipients goes with -R.",
            shown));
}

void read_recipient_file(const std::string& path, std::vector<Recipient>& to,
                         const Session& session) {
    const std::string shown = "recipient file '" + path + "'";
    const Descriptor file = open_input(path);
    const size_t before = to.size();
    for_each_line(read_lines(file.get(), shown), shown,
                  [&](std::string_view line, const std::string& place) {
                      if (is_ssh_public_key(line) && !is_usable_ssh_key(line))
                          remark(session, cli::format("{} is skipped: it is an SSH key of type {}, "
                                                      "which age files do not take.",
                                                      place, ssh_type_of(line)));
                      else
                          to.push_back(parse_recipient(line, place));
                  });
    if (to.size() == before)
        throw Failure(ExitCode::usage, cli::format("{} has no recipient: add a line that begins "
                                                   "with age1, ssh-ed25519 or ssh-rsa.",
                                                   shown));
}

void read_identity_file(const std::string& path, std::vector<Identity>& to,
                        std::vector<LockedFile>* locked) {
    const bool standard = path == "-";
    const std::string shown =
        standard ? "the identity file on standard input" : "identity file '" + path + "'";
    if (standard && isatty(STDIN_FILENO))
        throw Failure(ExitCode::usage, "-i - does not read from a terminal, which shows the key.");
    if (!standard) refuse_ssh_public_key(path, shown);
    const Descriptor file = standard ? open_input(path) : open_private(path, shown);
    Secret content = read_lines(file.get(), shown);
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    const bool is_pem = is_private_key(text) && is_locked_pem(text);
    if (!is_pem && !begins_with(text, "age-encryption") && !begins_with(text, "-----BEGIN AGE"))
        return parse_identities(content, shown, to);
    if (!locked && is_pem) return parse_identities(content, shown, to);  // which refuses it
    if (!locked)
        throw Failure(
            ExitCode::unsupported,
            cli::format("{} is itself encrypted: decrypt it to a private file first.", shown));
    locked->push_back({shown, std::move(content), is_pem});
}

void parse_identities(const Secret& content, const std::string& shown, std::vector<Identity>& to) {
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    if (begins_with(text, "-----BEGIN")) {
        to.push_back(parse_ssh_identity(text, shown));
        return;
    }
    const size_t before = to.size();
    for_each_line(content, shown, [&](std::string_view line, const std::string& place) {
        to.push_back(parse_identity(line, place));
    });
    if (to.size() == before)
        throw Failure(ExitCode::usage,
                      cli::format("{} has no identity: `warpseal keygen --age` makes one.", shown));
}

std::string recipient_text(KeyType type, View public_key) {
    return bech32(text_forms[static_cast<int>(type)].recipient, public_key);
}

Secret identity_text(KeyType type, View secret_key) {
    std::string text = bech32(text_forms[static_cast<int>(type)].identity, secret_key);
    Secret upper;
    upper.reserve(text.size());
    for (const char c : text)
        upper.push_back(static_cast<uint8_t>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
    warpseal_wipe(text.data(), text.size());
    return upper;
}

}  // namespace warpseal::cli::age
