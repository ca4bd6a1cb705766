// The directory of an output: links and streams that others may have put there, names of
// temporaries, and those that killed runs left behind.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "descriptor.h"

namespace warpseal::cli {

// Where the symbolic links at the end of a path lead.
struct LinksEnd {
    std::string path;
    // One of them is procfs's: of a descriptor that is open. Its path may name another file.
    bool through_procfs;
};

// The path behind the symbolic links at its end; the path itself where they lead to nothing. Throws
// Failure (usage) for a link in a sticky directory that everybody may write to, unless it is the
// caller's own or belongs to the directory's owner: what the kernel refuses with
// fs.protected_symlinks = 1, whatever that is set to here. `shown`: the output's name for messages.
LinksEnd behind_links(const std::string& path, const std::string& shown);

// Opens a pipe or device for writing; no link is followed at the path's end. `seen`: what stat(2)
// said of it. Throws Failure: usage for another user's in a directory as above
// (fs.protected_fifos), input_output if it cannot be opened or is no longer what was seen.
Descriptor open_stream(const std::string& path, const struct stat& seen, const std::string& shown);

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
