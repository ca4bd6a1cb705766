// Grammar of stanzas, which headers are made of and age plugins exchange.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/age/format/bytes.h"

namespace warpseal::cli::age {

constexpr size_t max_body_bytes = size_t{64} << 10;  // a limit of ours

struct Stanza {
    std::vector<std::string> arguments;  // the type first
    Octets body;
    const std::string& type() const { return arguments[0]; }
};

// Parses the first line of a stanza, and the lines of its body that `read_line` appends to an empty
// string. `malformed` and `limit` get what is wrong, and throw.
struct StanzaFaults {
    std::function<void(const std::string&)> malformed, limit;
};
Stanza read_stanza(const std::string& first_line,
                   const std::function<void(std::string&)>& read_line, const StanzaFaults& faults);

// Gives the stanza's text to `write`, piece by piece.
void write_stanza(const std::vector<std::string_view>& arguments, View body,
                  const std::function<void(std::string_view)>& write);

}  // namespace warpseal::cli::age
