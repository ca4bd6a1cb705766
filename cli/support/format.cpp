#include "format.h"

#include <fmt/format.h>

namespace warpseal::cli {

std::string formatted(fmt::string_view text, fmt::format_args values) {
    return fmt::vformat(text, values);
}

}  // namespace warpseal::cli
