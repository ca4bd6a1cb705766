// Removes directories depth-first, also those that their own mode protects.
#include "cli/support/tree/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace warpseal::cli {
namespace {

bool is_dots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

}  // namespace

bool remove_tree(int parent, const char* name) noexcept {
    (void)fchmodat(parent, name, S_IRWXU, 0);
    const int opened = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) return errno == ENOENT;
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(opened), closedir);
    if (!entries) {
        close(opened);
        return false;
    }
    while (const dirent* entry = readdir(entries.get())) {
        if (is_dots(entry->d_name)) continue;
        if (unlinkat(opened, entry->d_name, 0) != 0 && errno == EISDIR)
            (void)remove_tree(opened, entry->d_name);
    }
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

}  // namespace warpseal::cli
