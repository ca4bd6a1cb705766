// Header of an age v1 file: stanzas, and a MAC over the header's bytes.
#pragma once

#include <string>
#include <vector>

#include "cli/age/format/bytes.h"
#include "cli/age/format/stanza.h"
#include "cli/age/payload/source.h"

namespace warpseal::cli::age {

// Limits of ours: memory is bounded before anything is authentic.
constexpr size_t max_header_bytes = size_t{1} << 20;
constexpr size_t max_stanzas = 1024;

struct Header {
    std::vector<Stanza> stanzas;
    std::string authenticated;  // from the first byte up to and including "---"
    Octets mac;
};

// Throws Failure: unsupported for another format or version, truncated, limit_exceeded, or
// not_authentic for any other fault.
Header read_header(BufferedSource& source);
// The header's bytes with its MAC under the file key.
std::string write_header(const std::vector<Stanza>& stanzas, View file_key);
Secret header_mac(View file_key, std::string_view authenticated);

// The Failure of a malformed header, as read_header throws it.
[[noreturn]] void throw_bad_header(const std::string& what);

}  // namespace warpseal::cli::age
