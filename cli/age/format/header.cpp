// Reads and writes headers. The MAC covers the bytes as they were read.
#include "cli/age/format/header.h"

#include "cli/age/crypto.h"
#include "cli/age/format/text.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

constexpr std::string_view intro = "age-encryption.org/";
constexpr std::string_view version = "age-encryption.org/v1";

class HeaderReader {
public:
    explicit HeaderReader(BufferedSource& source) : source_(source) {}

    Header read() {
        check_version();
        for (std::string line = read_line(); line.rfind("---", 0) != 0; line = read_line()) {
            if (header_.stanzas.size() == max_stanzas)
                limit(cli::format("more than {} stanzas", max_stanzas));
            header_.stanzas.push_back(read_stanza(line));
        }
        if (header_.stanzas.empty()) throw_bad_header("it has no stanza");
        take_mac();
        return std::move(header_);
    }

private:
    [[noreturn]] static void limit(const std::string& what) {
        throw Failure(ExitCode::limit_exceeded, cli::format("its header has {}.", what));
    }

    void check_version() {
        std::string line;
        while (line.size() < version.size()) {
            const int byte = source_.peek();
            if (byte < 0 || byte == '\n') break;
            line.push_back(static_cast<char>(source_.get()));
        }
        if (line.rfind(intro, 0) != 0)
            throw Failure(ExitCode::unsupported, "its header is not the header of an age file.");
        if (line != version || source_.peek() != '\n')
            throw Failure(ExitCode::unsupported,
                          "its header is of a version of age that this program does not know.");
        source_.get();
        header_.authenticated = line + "\n";
    }

    // Appends the line to the authenticated bytes and returns it without its end.
    std::string read_line() {
        std::string line;
        for (;;) {
            const int byte = source_.get();
            if (byte < 0) throw Failure(ExitCode::truncated, "it ends within its header.");
            if (header_.authenticated.size() + line.size() == max_header_bytes)
                limit(cli::format("more than {} bytes", max_header_bytes));
            if (byte == '\n') break;
            line.push_back(static_cast<char>(byte));
        }
        header_.authenticated += line;
        header_.authenticated += '\n';
        return line;
    }

    Stanza read_stanza(const std::string& first_line) {
        return age::read_stanza(first_line, [this](std::string& line) { line += read_line(); },
                                {throw_bad_header, limit});
    }

    // The MAC's line is the last of the authenticated bytes.
    void take_mac() {
        std::string& bytes = header_.authenticated;
        const size_t line = bytes.rfind("\n---") + 1;
        const std::string mac = bytes.substr(line + 3, bytes.size() - line - 4);
        bytes.resize(line + 3);
        if (mac.size() != 1 + 43 || mac[0] != ' ' ||
            !from_base64(std::string_view(mac).substr(1), Padding::none, header_.mac))
            throw_bad_header("its MAC is malformed");
    }

    BufferedSource& source_;
    Header header_;
};

}  // namespace

void throw_bad_header(const std::string& what) {
    throw Failure(ExitCode::not_authentic, "its header is malformed: " + what + ".");
}

Header read_header(BufferedSource& source) { return HeaderReader(source).read(); }

std::string write_header(const std::vector<Stanza>& stanzas, View file_key) {
    std::string text = std::string(version) + "\n";
    for (const Stanza& stanza : stanzas)
        write_stanza({stanza.arguments.begin(), stanza.arguments.end()}, stanza.body,
                     [&](std::string_view part) { text += part; });
    text += "---";
    const Secret mac = header_mac(file_key, text);
    return text + " " + base64(mac, Padding::none) + "\n";
}

Secret header_mac(View file_key, std::string_view authenticated) {
    return hmac_sha256(hkdf_sha256(file_key, {}, view("header")), view(authenticated));
}

}  // namespace warpseal::cli::age
