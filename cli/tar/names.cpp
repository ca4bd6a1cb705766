// Checks names and links of archives by their text alone.
#include "cli/tar/names.h"

#include <algorithm>

#include "cli/support/format.h"

namespace warpseal::cli::tar {
namespace {

template <class Each>
void for_each_name(const std::string& path, const Each& each) {
    for (size_t at = 0; at < path.size();) {
        const size_t end = std::min(path.find('/', at), path.size());
        const std::string name = path.substr(at, end - at);
        if (!name.empty() && name != ".") each(name);
        at = end + 1;
    }
}

}  // namespace

std::string split_path(const std::string& path, std::vector<std::string>& names) {
    names.clear();
    if (path.empty()) return "its name is empty";
    if (path.size() > most_path_bytes)
        return cli::format("its path is longer than {} bytes", most_path_bytes);
    if (path[0] == '/') return "its path is absolute";
    for_each_name(path, [&names](const std::string& name) { names.push_back(name); });
    if (std::find(names.begin(), names.end(), "..") != names.end()) return "its path contains '..'";
    if (names.size() > most_levels)
        return cli::format("its path has more than {} levels", most_levels);
    return "";
}

std::string leads_out(const std::string& target, size_t levels) {
    if (target.empty()) return "its target is empty";
    if (target.size() > most_path_bytes)
        return cli::format("its target is longer than {} bytes", most_path_bytes);
    if (target[0] == '/') return "its target is absolute";
    size_t up = 0;
    bool named = false, hidden = false;
    for_each_name(target, [&](const std::string& name) {
        const bool is_up = name == "..";
        if (is_up) ++up;
        hidden |= is_up && named;
        named |= !is_up;
    });
    if (up > levels) return "its target leaves the directory";
    return hidden ? "its target has '..' behind another name" : "";
}

}  // namespace warpseal::cli::tar
