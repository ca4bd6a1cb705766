// The directory tree that an archive is unpacked into, before its files get their names.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "cli/tar/archive.h"

namespace warpseal::cli::tar {

struct Attributes {
    mode_t mode;
    timespec modified;
};

// Makes directories, files and links below a directory that only this program uses. Follows no
// link. Memory: one open directory for each level of the entry at hand. `shown` is the entry's path
// for messages.
class Tree {
public:
    // `root` stays open. `removed` are the mode bits that no file or directory gets.
    Tree(int root, mode_t removed);

    void make_directory(const std::vector<std::string>& names, const Attributes& attributes,
                        const std::string& shown);
    // The new file is readable and writable for its owner alone, until finish_file.
    Descriptor make_file(const std::vector<std::string>& names, const std::string& shown);
    void finish_file(int file, uint64_t bytes, const Attributes& attributes,
                     const std::string& shown) const;
    void make_symbolic_link(const std::vector<std::string>& names, const std::string& target,
                            const timespec& modified, const std::string& shown);
    // `target` must be a file that is in the tree already.
    void make_hard_link(const std::vector<std::string>& names,
                        const std::vector<std::string>& target, const std::string& shown);
    // Gives the last directories their attributes.
    void finish() { leave(1); }

private:
    struct Level {
        std::string name, shown;
        Descriptor directory;
        std::optional<Attributes> attributes;  // set when it is left
    };
    int enter(const std::vector<std::string>& names, size_t count, const std::string& shown);
    Level open_level(const std::string& name, const std::string& shown) const;
    void leave(size_t levels);
    mode_t kept(mode_t mode) const { return mode & 0777 & ~removed_; }

    const mode_t removed_;
    std::vector<Level> levels_;  // the first is the root
};

// Refuses an entry: exit code refused_entry. `why` follows "cannot unpack 'PATH': ".
[[noreturn]] void refuse(const std::string& shown, const std::string& why);

}  // namespace warpseal::cli::tar
