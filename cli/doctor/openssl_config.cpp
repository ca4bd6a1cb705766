// Reads openssl.cnf as libcrypto does. libcrypto's own reader reports only the first error and does
// not say what was unreachable.
#include "cli/doctor/openssl_config.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 16;  // Nesting limit of .include; ends a file that includes itself.
// Limits of a value with its variables, which is libcrypto's, and of all values, in bytes. Without
// them a short file of variables that contain variables fills the memory.
constexpr size_t longest_value = 65536, longest_values = size_t{16} << 20;

std::string_view trimmed(std::string_view text) {
    constexpr const char* blanks = " \t\r\n";
    const size_t begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos
               ? std::string_view()
               : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// A # starts a comment, except within quotes or after a backslash.
std::string_view without_comment(std::string_view line) {
    char quote = 0;
    for (size_t i = 0; i < line.size(); ++i) {
        const char letter = line[i];
        if (letter == '\\')
            ++i;
        else if (quote != 0)
            quote = letter == quote ? 0 : quote;
        else if (letter == '"' || letter == '\'')
            quote = letter;
        else if (letter == '#')
            return line.substr(0, i);
    }
    return line;
}

bool goes_on(std::string_view line) {
    const size_t last = line.find_last_not_of('\\');
    return (line.size() - (last == std::string_view::npos ? 0 : last + 1)) % 2 == 1;
}

bool is_name(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

char escaped(char letter) {
    switch (letter) {
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'b': return '\b';
        default: return letter;
    }
}

}  // namespace

OpensslConfig OpensslConfig::read(const std::string& path) {
    OpensslConfig config;
    if (const char* directory = std::getenv("OPENSSL_CONF_INCLUDE"))
        config.include_directory_ = directory;
    config.sections_["default"];
    config.read_file(path, 0);
    return config;
}

const std::vector<OpensslConfig::Setting>* OpensslConfig::section(const std::string& name) const {
    const auto found = sections_.find(name);
    return found == sections_.end() ? nullptr : &found->second;
}

std::optional<std::string> OpensslConfig::value(const std::string& section_name,
                                                std::string_view name) const {
    const std::vector<Setting>* settings = section(section_name);
    if (settings == nullptr) return std::nullopt;
    const auto found = std::find_if(settings->rbegin(), settings->rend(),
                                    [&](const Setting& setting) { return setting.name == name; });
    return found == settings->rend() ? std::nullopt : std::optional(found->value);
}

void OpensslConfig::read_file(const std::string& path, int depth) {
    std::ifstream file(path);
    if (!file || fs::is_directory(path)) {
        complain_of(depth == 0, cli::format("{} cannot be read: {}", path,
                                            file ? "it is a directory" : strerror(errno)));
        return;
    }
    std::string line, whole;
    for (int number = 1; std::getline(file, line); ++number) {
        whole += line;
        if (goes_on(whole) && !file.eof()) {
            whole.pop_back();
            continue;
        }
        read_line(trimmed(without_comment(whole)), cli::format("{}:{}", path, number), depth);
        whole.clear();
        if (value_bytes_ > longest_values)
            return complain_of(false, cli::format("{}:{}: the values have more than {} MiB; the "
                                                  "rest is not read",
                                                  path, number, longest_values >> 20));
    }
}

void OpensslConfig::read_line(std::string_view line, const std::string& where, int depth) {
    if (line.empty()) return;
    if (line[0] == '[') {
        const size_t end = line.find(']');
        if (end == std::string_view::npos)
            return complain_of(true, where + ": a section's name without its ]");
        current_ = std::string(trimmed(line.substr(1, end - 1)));
        sections_[current_];
        return;
    }
    const auto directive = [&](std::string_view name) {
        return line.starts_with(name) &&
               (line.size() == name.size() || !is_name(line[name.size()]));
    };
    const size_t equals = line.find('=');
    if (directive(".include")) {
        std::string_view path = trimmed(line.substr(8));
        if (path.starts_with('=')) path = trimmed(path.substr(1));
        return include(expand(path, where), where, depth);
    }
    if (equals == std::string_view::npos)
        return complain_of(true, where + ": neither a section nor a setting");
    std::string_view name = trimmed(line.substr(0, equals));
    const std::string value = expand(trimmed(line.substr(equals + 1)), where);
    if (directive(".pragma")) {
        const std::string_view pragma = trimmed(name.substr(7));
        // libcrypto itself reports other forms (`.pragma = name:value`) and other effects.
        if (pragma == "includedir") include_directory_ = value;
        if (pragma.empty() && value.starts_with("includedir:"))
            include_directory_ = value.substr(11);
        return;
    }
    std::string section_name = current_;
    if (const size_t colons = name.find("::"); colons != std::string_view::npos) {
        section_name = std::string(name.substr(0, colons));
        name = name.substr(colons + 2);
    }
    sections_[section_name].push_back({std::string(name), value});
}

void OpensslConfig::include(const std::string& named, const std::string& where, int depth) {
    if (depth == deepest)
        return complain_of(true, where + ": files include each other without end");
    fs::path path = named;
    if (path.is_relative()) {
        if (include_directory_.empty())
            complain_of(false, cli::format("{}: .include {} is taken from the working directory of "
                                           "each program: write it from / on",
                                           where, named));
        else
            path = include_directory_ / path;
    }
    std::error_code error;
    if (!fs::is_directory(path, error)) return read_file(path.string(), depth + 1);
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
        if (entry.path().extension() == ".cnf" || entry.path().extension() == ".conf")
            files.push_back(entry.path().string());
    if (error)
        complain_of(
            false, cli::format("{}: {} cannot be read: {}", where, path.string(), error.message()));
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) read_file(file, depth + 1);
}

// Expands a variable; `at` is the position after the $. Forms are name, section::name and
// ENV::name, also in braces or parentheses.
std::string OpensslConfig::variable(std::string_view text, size_t& at, const std::string& where) {
    const char open = at < text.size() ? text[at] : '\0', close = open == '{'   ? '}'
                                                                  : open == '(' ? ')'
                                                                                : '\0';
    if (close != 0) ++at;
    const auto take = [&] {
        const size_t begin = at;
        while (at < text.size() && is_name(text[at])) ++at;
        return std::string(text.substr(begin, at - begin));
    };
    std::string section_name = current_, name = take();
    if (text.substr(at).starts_with("::")) {
        at += 2;
        section_name = std::exchange(name, take());
    }
    if (close != 0) {
        if (at >= text.size() || text[at] != close)
            complain_of(true, where + ": a variable's name without its end");
        ++at;
    }
    if (section_name == "ENV") {
        const char* set = std::getenv(name.c_str());
        if (set == nullptr)
            complain_of(true, cli::format("{}: {} is not set in the environment", where, name));
        return set == nullptr ? "" : set;
    }
    std::optional<std::string> found = value(section_name, name);
    if (!found) found = value("default", name);
    if (!found) complain_of(true, cli::format("{}: the variable {} has no value", where, name));
    return found.value_or("");
}

std::string OpensslConfig::expand(std::string_view text, const std::string& where) {
    std::string out;
    char quote = 0;
    for (size_t at = 0; at < text.size();) {
        const char letter = text[at++];
        if (letter == '\\' && at < text.size())
            out += quote != 0 ? text[at++] : escaped(text[at++]);
        else if (quote != 0 && letter == quote)
            quote = 0;
        else if (quote == 0 && (letter == '"' || letter == '\''))
            quote = letter;
        else if (quote == 0 && letter == '$') {
            out += variable(text, at, where);
            if (out.size() + text.size() - std::min(at, text.size()) >= longest_value) {
                complain_of(true, cli::format("{}: a value has {} bytes or more once its "
                                              "variables are replaced",
                                              where, longest_value));
                return "";
            }
        } else
            out += letter;
    }
    value_bytes_ += out.size();
    return out;
}

}  // namespace warpseal::cli
