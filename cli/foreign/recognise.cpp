// Tells files of other programs by their first bytes, which stay in the input.
#include <string_view>

#include "cli/files/peek.h"
#include "cli/foreign/floe.h"
#include "cli/foreign/foreign.h"

namespace warpseal::cli {
namespace {

constexpr size_t most_bytes = 16;

}  // namespace

ForeignFormat foreign_format(FileTask task, const FileChoice& choice, int input) {
    if (choice.foreign.format_given || task == FileTask::encrypt) return choice.foreign.format;
    const std::string start =
        peek(input, most_bytes, [](std::string_view bytes) { return bytes.size() == most_bytes; });
    if (start.rfind("Salted__", 0) == 0 || start.rfind("U2FsdGVkX1", 0) == 0)
        return ForeignFormat::openssl;
    const bool floe = FloeHeader::is_likely(start) || choice.foreign.has_floe_options();
    return floe ? ForeignFormat::floe : ForeignFormat::none;
}

}  // namespace warpseal::cli
