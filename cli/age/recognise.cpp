// Tells age files by their first bytes, which stay in the input.
#include <unistd.h>

#include <string_view>

#include "cli/age/age.h"
#include "cli/age/format/armor.h"
#include "cli/files/peek.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr std::string_view binary_begin = "age-encryption.org/";
constexpr std::string_view text_begin = age::armor_begin;
constexpr size_t most_bytes = 2048;  // with white space before an armor

enum class Guess { no, yes, unknown };

// `unknown`: more bytes could make it an age file.
Guess guess(std::string_view bytes) {
    if (bytes.substr(0, binary_begin.size()) == binary_begin) return Guess::yes;
    if (binary_begin.substr(0, bytes.size()) == bytes) return Guess::unknown;
    const size_t white = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
    const std::string_view text = bytes.substr(white);
    if (text.substr(0, text_begin.size()) == text_begin) return Guess::yes;
    return text_begin.substr(0, text.size()) == text ? Guess::unknown : Guess::no;
}

}  // namespace

bool is_age(const FileChoice& file, const AgeChoice& choice, int input) {
    if (file.age) return true;
    const bool own =
        file.format == WARPSEAL_FORMAT_WARPSEAL && file.foreign.format == ForeignFormat::none;
    if (file.foreign.format_given && choice.any() && !own)
        throw Failure(
            ExitCode::usage,
            cli::format("{} goes with Warpseal and age files only: leave it or --format out.",
                        choice.identity_option()));
    if (file.foreign.format_given) return false;
    // Age files take no such key. A stream with one is looked at later, once the output is open.
    if (file.secrets.key_count() != 0 && lseek(input, 0, SEEK_CUR) < 0) return false;
    const auto is_known = [](std::string_view bytes) { return guess(bytes) != Guess::unknown; };
    return guess(peek(input, most_bytes, is_known)) == Guess::yes;
}

}  // namespace warpseal::cli
