// The catalogue of ciphers: one entry for each cipher header. CMake reads the quoted names and
// compiles src/ciphers/NAME.h once for each target.
#pragma once

namespace warpseal {

struct CatalogueEntry {
    // src/ciphers/HEADER.h, which defines the list `warpseal::ciphers::HEADER::Ciphers`.
    const char* header;
    const char* standard;  // standard that it implements
};

// One entry on each line, because CMake parses them.
// clang-format off
inline constexpr CatalogueEntry catalogue[] = {
    {"aes", "FIPS 197"},
    {"aria", "RFC 5794"},
    {"camellia", "RFC 3713"},
    {"des", "SP 800-67"},
    {"lea", "TTAS.KO-12.0223"},
    {"seed", "RFC 4269"},
    {"sm4", "GB/T 32907"},
};
// clang-format on

}  // namespace warpseal
