// Reads vector files: unpacks them, detects the kind (JSON lines, Cobblestone document or NTRU
// answers) and checks each row.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/vectors/kem.h"
#include "cli/vectors/mlkem.h"
#include "cli/vectors/vectors.h"

namespace warpseal::cli {
namespace {

using nlohmann::json;

Octets read_whole(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        const int error = errno;
        throw Failure(error == ENOENT ? ExitCode::input_missing : ExitCode::input_output,
                      path + ": cannot be opened: " + std::strerror(error));
    }
    Octets bytes;
    ssize_t got = 0;
    do {
        if (bytes.size() > vectors_bytes_most) break;
        const size_t before = bytes.size(), step = std::clamp<size_t>(before, 1 << 16, 1 << 20);
        bytes.resize(before + step);
        got = ::read(fd, bytes.data() + before, step);
        bytes.resize(before + static_cast<size_t>(got > 0 ? got : 0));
    } while (got > 0 || (got < 0 && errno == EINTR));
    const int error = got < 0 ? errno : 0;
    ::close(fd);
    if (error != 0)
        throw Failure(ExitCode::input_output, path + ": cannot be read: " + std::strerror(error));
    if (bytes.size() > vectors_bytes_most)
        throw Failure(ExitCode::limit_exceeded, path + ": more than the " +
                                                    human_bytes(vectors_bytes_most) +
                                                    " that are read of a file: split it.");
    return bytes;
}

std::string row_name(const json& row, size_t line) {
    const auto id = row.find("id");
    const std::string position = "line " + std::to_string(line);
    return id != row.end() && id->is_string() ? position + " (" + id->get<std::string>() + ")"
                                              : position;
}

void check_line(Tested& tested, const json& row) {
    if (!row.is_object()) throw RowSkipped("malformed row: not a JSON object");
    if (row.contains("keyset") && row.contains("ciphertext_segment_size"))
        throw RowSkipped("Tink streams are not in this program");
    if (is_kem_row(row)) return check_kem_row(tested, row);
    if (row.contains("rounds")) return check_chain(tested, row);
    if (row.contains("pt_splitmix64_seed")) return check_bulk(tested, row);
    if (row.contains("cipher") && row.contains("mode")) return check_message(tested, row);
    throw RowSkipped("malformed row: of no known kind");
}

void check_document(Tested& tested, const json& document, Tally& tally) {
    for (const json& group : document["testGroups"]) {
        if (!group.is_object() || !group.contains("tests") || !group["tests"].is_array()) {
            tally.run("test group", [] { throw RowSkipped("malformed test group"); });
            continue;
        }
        for (const json& test : group["tests"]) {
            const std::string name =
                "test " + (test.is_object() && test.contains("tcId") ? test["tcId"].dump()
                                                                     : "without a number");
            tally.run(name, [&] {
                if (text_field(group, "type") != "ChunkedEncryption")
                    throw RowSkipped("test group of no known type");
                check_cobblestone(tested, text_field(group, "aead"), test);
            });
        }
    }
}

std::string_view take_line(std::string_view& text) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

void check_lines(Tested& tested, std::string_view text, Tally& tally) {
    for (size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = take_line(text);
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        const json row = json::parse(line, nullptr, false);
        tally.run(row_name(row, number), [&] {
            require(!row.is_discarded(), "broken JSON");
            check_line(tested, row);
        });
        if (interrupted_by() != 0)
            throw Failure(static_cast<ExitCode>(128 + interrupted_by()), "interrupted");
    }
}

// JSON lines have a complete value on the first line; a document that spans lines does not.
void check_json(Tested& tested, std::string_view text, Tally& tally) {
    std::string_view rest = text;
    json first = json::parse(take_line(rest), nullptr, false);
    if (first.is_discarded()) first = json::parse(text, nullptr, false);
    if (first.is_object() && first.contains("testGroups") && first["testGroups"].is_array())
        check_document(tested, first, tally);
    else
        check_lines(tested, text, tally);
}

}  // namespace

Tally check_file(Tested& tested, const std::string& path) {
    Tally tally;
    Octets bytes = read_whole(path);
    const bool gzip = bytes.size() > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;  // RFC 1952 2.3.1
    try {
        if (gzip) bytes = inflate_all(bytes.data(), bytes.size());
    } catch (const Failure& failure) {
        throw Failure(failure.code, path + ": " + failure.what());
    } catch (const std::runtime_error& why) {
        tally.run(path, [&] { throw RowFailed(why.what()); });
        return tally;
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (is_kem_text(text))
        check_kem_text(tested, text, tally);
    else
        check_json(tested, text, tally);
    if (tally.passed + tally.failed + tally.skipped == 0)
        tally.run(path, [] { throw RowFailed("no rows in it"); });
    return tally;
}

}  // namespace warpseal::cli
