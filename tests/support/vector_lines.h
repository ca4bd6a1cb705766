// Rows of any other file of tests/vectors, as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "vectors.h"

namespace vectors {

// Returns the lines of a file; throws if there are none, as a missing file must not pass.
std::vector<nlohmann::json> lines(const std::filesystem::path& path);

// Returns the bytes of a field in hexadecimal; none if the line lacks it.
Text bytes(const nlohmann::json& line, const char* field);

}  // namespace vectors
