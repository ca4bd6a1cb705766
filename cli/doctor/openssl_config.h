// Parser for openssl.cnf as libcrypto reads it: sections, .include and variables (config(5) of
// OpenSSL 3).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpseal::cli {

class OpensslConfig {
public:
    // Reads the file. Unreadable parts become complaints and the rest counts, as libcrypto does for
    // a missing .include.
    static OpensslConfig read(const std::string& path);

    struct Setting {
        std::string name, value;
    };
    // Returns settings in file order, or null if there is no such section. If a name occurs twice,
    // the last value counts.
    const std::vector<Setting>* section(const std::string& name) const;
    std::optional<std::string> value(const std::string& section, std::string_view name) const;
    const std::map<std::string, std::vector<Setting>>& sections() const { return sections_; }

    struct Complaint {
        bool whole_file;  // true: libcrypto rejects the whole file
        std::string text;
    };
    const std::vector<Complaint>& complaints() const { return complaints_; }

private:
    void read_file(const std::string& path, int depth);
    void read_line(std::string_view line, const std::string& where, int depth);
    void include(const std::string& path, const std::string& where, int depth);
    std::string expand(std::string_view text, const std::string& where);
    std::string variable(std::string_view text, size_t& at, const std::string& where);
    void complain_of(bool whole_file, const std::string& text) {
        complaints_.push_back({whole_file, text});
    }

    std::map<std::string, std::vector<Setting>> sections_;
    std::vector<Complaint> complaints_;
    std::string current_ = "default";
    std::string include_directory_;
    size_t value_bytes_ = 0;  // of all values
};

}  // namespace warpseal::cli
