// Shortens texts by what a reader misses least.
#include "cli/age/slots/message.h"

namespace warpseal::cli::age {
namespace {

constexpr char gap[] = "…";
constexpr size_t gap_bytes = sizeof gap - 1;

bool is_within_character(const std::string& text, size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

std::string shortened(const std::string& text, size_t most_bytes) {
    if (text.size() <= most_bytes) return text;
    const size_t excess = text.size() - most_bytes + gap_bytes;
    const size_t first = text.find('\''), last = text.rfind('\'');
    const bool is_in_name = last != std::string::npos && last - first > excess;
    size_t end = is_in_name ? last : (text.size() + excess) / 2;
    size_t begin = end - excess;
    while (begin > 0 && is_within_character(text, begin)) --begin;
    while (is_within_character(text, end)) ++end;
    return text.substr(0, begin) + gap + text.substr(end);
}

}  // namespace warpseal::cli::age
