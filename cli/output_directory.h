// The directory of an output: links at the end of a path, names of temporaries, and those that
// killed runs left behind.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace warpseal::cli {

// The path behind the symbolic links at its end; the path itself where they lead to nothing. Throws
// Failure (usage) for a link in a sticky directory that everybody may write to, unless it is the
// caller's own or belongs to the directory's owner: what the kernel refuses with
// fs.protected_symlinks = 1, whatever that is set to here. `shown`: the output's name for messages.
std::string behind_links(const std::string& path, const std::string& shown);

// ".warpseal-<16 hexadecimal digits>.tmp" for what is not whole yet, ".old" for what was replaced
// and may come back. Throws Failure.
std::string temporary_name(const char* ending = ".tmp");
// Whether a file is named like that, with ".tmp".
bool is_temporary_name(const char* name);

// A file that a command reads or writes.
struct FileIdentity {
    dev_t device;
    ino_t inode;
};

// Removes temporaries of runs that were killed, and returns their names: regular files of the
// caller's with such a name and ".tmp", not written for a minute, and not locked by a run that is
// at work (flock(2)). None of `spared` is removed. What cannot be removed is left.
std::vector<std::string> remove_abandoned(int directory, const std::vector<FileIdentity>& spared);

// Until the last descriptor of the open file is closed, remove_abandoned leaves it alone. A file
// system without locks is no failure: then remove_abandoned gets none either.
void keep_from_removal(int descriptor);

}  // namespace warpseal::cli
