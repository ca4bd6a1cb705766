// Functions for an output's directory: links and streams that other users may have put there,
// temporary names, and files of killed runs.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/support/descriptor.h"

namespace warpseal::cli {

// End of a chain of symbolic links.
struct LinksEnd {
    std::string path;
    // True if a link of procfs, for an open descriptor, was followed. Its path may name another
    // file.
    bool through_procfs;
};

// Follows the symbolic links at the end of `path`; returns `path` itself if they lead nowhere.
// Throws Failure (usage) for a link in a sticky directory that everybody may write to. Links of the
// caller or of the directory's owner are accepted. This is the rule of fs.protected_symlinks = 1,
// regardless of the setting of this system. `shown` is the output's name for messages.
LinksEnd resolve_links(const std::string& path, const std::string& shown);

// Opens a pipe or device for writing without following a link at the end of the path. `seen` is the
// earlier result of stat(2). Throws Failure (usage) for another user's file in a directory as above
// (fs.protected_fifos). Throws Failure (input_output) if it cannot be opened or differs from
// `seen`.
Descriptor open_stream(const std::string& path, const struct stat& seen, const std::string& shown);

// Returns ".warpseal-<16 hexadecimal digits>" and the ending. ".tmp" marks an incomplete file,
// ".old" a replaced file that may be restored. Throws Failure.
std::string temporary_name(const char* ending = ".tmp");
// Returns true if `name` has the form of temporary_name(".tmp").
bool is_temporary_name(const char* name);

// Identity of a file that a command reads or writes.
struct FileIdentity {
    dev_t device;
    ino_t inode;
};

// Removes temporary files of killed runs and returns their names. These are regular files of the
// caller with such a name and ".tmp", not written for a minute and not locked by flock(2). Files in
// `spared` stay. Files that cannot be removed are skipped.
std::vector<std::string> remove_abandoned(int directory, const std::vector<FileIdentity>& spared);

// Protects the file from remove_abandoned until the last descriptor of its open file is closed. On
// a file system without locks, this does nothing and remove_abandoned removes nothing.
void lock_temporary(int descriptor);

}  // namespace warpseal::cli
