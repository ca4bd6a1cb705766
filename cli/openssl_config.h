// What an openssl.cnf says to libcrypto: sections, .include, variables (config(5) of OpenSSL 3).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpseal::cli {

class OpensslConfig {
public:
    // What cannot be read is among the complaints; the rest counts, as libcrypto has it with a
    // missing .include.
    static OpensslConfig read(const std::string& path);

    struct Setting {
        std::string name, value;
    };
    // Null: no such section. Names as they came; a name's last value counts.
    const std::vector<Setting>* section(const std::string& name) const;
    std::optional<std::string> value(const std::string& section, std::string_view name) const;
    const std::map<std::string, std::vector<Setting>>& sections() const { return sections_; }

    struct Complaint {
        bool whole_file;  // libcrypto takes nothing of the file for it
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
};

}  // namespace warpseal::cli
