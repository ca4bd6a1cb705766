// Reads tests/vectors.
#include "vectors.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "vector_lines.h"

namespace vectors {
namespace {

Chain chain_of(const nlohmann::json& line) {
    Chain out{line.at("id"),
              line.at("cipher"),
              line.at("mode"),
              line.at("rule"),
              line.at("op") == "encrypt",
              line.at("inner"),
              {}};
    for (const auto& round : line.at("rounds"))
        out.rounds.push_back(
            {bytes(round, "key"), bytes(round, "iv"), bytes(round, "in"), bytes(round, "out")});
    return out;
}

Bulk bulk_of(const nlohmann::json& line) {
    Bulk out{line.at("id"),
             line.at("cipher"),
             line.at("mode"),
             bytes(line, "key"),
             bytes(line, "iv"),
             bytes(line, "aad"),
             bytes(line, "tag"),
             bytes(line, "pt_sha256"),
             bytes(line, "ct_sha256"),
             bytes(line, "ct_head"),
             bytes(line, "ct_tail"),
             line.at("pt_len"),
             std::stoull(line.at("pt_splitmix64_seed").get<std::string>()),
             line.at("pt_len")};
    if (const auto unit = line.find("data_unit_len"); unit != line.end()) out.unit_bytes = *unit;
    return out;
}

All read_all() {
    All out;
    for (const char* sub : {"block", "mct"}) {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder() / sub))
            files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const auto& path : files)
            for (const auto& line : lines(path)) {
                if (!wanted(line.at("cipher"))) continue;
                if (line.contains("rounds"))
                    out.chains.push_back(chain_of(line));
                else if (line.contains("pt_splitmix64_seed"))
                    out.bulk.push_back(bulk_of(line));
                else
                    out.rows.push_back({path.filename().string(), line.at("id"), line.at("cipher"),
                                        line.at("mode"), bytes(line, "key"), bytes(line, "iv"),
                                        bytes(line, "aad"), bytes(line, "pt"), bytes(line, "ct"),
                                        bytes(line, "tag"), line.at("valid")});
            }
    }
    return out;
}

}  // namespace

Text Bulk::plaintext() const {
    Text out(bytes);
    uint64_t state = seed;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        for (size_t j = i; j < bytes && j < i + 8; ++j, z >>= 8) out[j] = static_cast<uint8_t>(z);
    }
    return out;
}

Text from_hex(const std::string& hex) {
    const auto digit = [](char c) -> unsigned {
        if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
        if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
        if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
        throw std::runtime_error("not a hexadecimal digit");
    };
    if (hex.size() % 2 != 0) throw std::runtime_error("an odd number of hexadecimal digits");
    Text out(hex.size() / 2);
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<uint8_t>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    return out;
}

std::filesystem::path folder() {
    if (const char* given = std::getenv("WARPSEAL_TEST_VECTORS")) return given;
    if (std::filesystem::is_directory(WARPSEAL_TEST_VECTORS)) return WARPSEAL_TEST_VECTORS;
    return "tests/vectors";
}

std::string text(const std::filesystem::path& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
    std::string text;
    char buffer[1 << 16];
    int got = 0;
    while ((got = gzread(file, buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<size_t>(got));
    const bool whole = got == 0 && gzclose(file) == Z_OK;
    if (!whole) throw std::runtime_error("cannot read " + path.string());
    return text;
}

std::vector<nlohmann::json> lines(const std::filesystem::path& path) {
    const std::string text = vectors::text(path);
    std::vector<nlohmann::json> out;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        if (end > begin)
            out.push_back(nlohmann::json::parse(text.begin() + static_cast<long>(begin),
                                                text.begin() + static_cast<long>(end)));
        begin = end + 1;
    }
    if (out.empty()) throw std::runtime_error("no rows in " + path.string());
    return out;
}

Text bytes(const nlohmann::json& line, const char* field) {
    const auto found = line.find(field);
    return found == line.end() ? Text() : from_hex(found->get<std::string>());
}

bool wanted(const std::string& cipher) {
    const char* only = std::getenv("WARPSEAL_TEST_CIPHERS");
    return only == nullptr || cipher.rfind(only, 0) == 0;
}

const All& all() {
    static const All found = read_all();
    return found;
}

}  // namespace vectors
