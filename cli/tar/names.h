// Names and links in archives: which of them stay below a directory, whatever the archive says.
#pragma once

#include <string>
#include <vector>

namespace warpseal::cli::tar {

// Bounds of what is packed and unpacked. Each level of a path is an open directory.
constexpr size_t most_path_bytes = 4095, most_levels = 256;

// Splits the path of an entry into its names, without "." and empty ones. Returns why the path
// cannot be used, or "".
std::string split_path(const std::string& path, std::vector<std::string>& names);

// Returns why a symbolic link could lead out of the directory that the archive is unpacked into, or
// "". The link lies `levels` directories below it. Only the first names of a target may be "..":
// behind another name, which may be a link itself, it could lead anywhere.
std::string leads_out(const std::string& target, size_t levels);

}  // namespace warpseal::cli::tar
