// fmt::format, compiled once. Each source that calls fmt's own, which is header-only here, compiles
// its formatting of numbers and of all else again.
#pragma once

#include <fmt/core.h>

#include <string>

namespace warpseal::cli {

std::string formatted(fmt::string_view text, fmt::format_args values);

template <class... T>
std::string format(fmt::format_string<T...> text, T&&... values) {
    return formatted(text, fmt::make_format_args(values...));
}

}  // namespace warpseal::cli
