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

// Its mode may keep its owner out.
int open_directory(int parent, const char* name) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int opened = openat(parent, name, flags);
    if (opened >= 0 || errno != EACCES || fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0)
        return opened;
    return openat(parent, name, flags);
}

// Returns true if an entry was removed.
bool remove_some(DIR* entries, int directory) {
    bool removed = false;
    while (const dirent* entry = readdir(entries)) {
        if (is_dots(entry->d_name)) continue;
        removed |= unlinkat(directory, entry->d_name, 0) == 0 ||
                   (errno == EISDIR && remove_tree(directory, entry->d_name));
    }
    return removed;
}

}  // namespace

bool remove_tree(int parent, const char* name) noexcept {
    const int opened = open_directory(parent, name);
    if (opened < 0) return errno == ENOENT;
    return remove_open_tree(parent, name, opened);
}

bool remove_open_tree(int parent, const char* name, int directory) noexcept {
    struct stat about;
    if (fstat(directory, &about) == 0 && (about.st_mode & S_IRWXU) != S_IRWXU)
        (void)fchmod(directory, S_IRWXU);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(directory), closedir);
    if (!entries) close(directory);
    // Some file systems leave out entries when others are removed meanwhile.
    while (entries && remove_some(entries.get(), directory)) rewinddir(entries.get());
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

}  // namespace warpseal::cli
