// Unpacks a tar stream into a tree. Refuses what would lead out of it.
#pragma once

#include <functional>

#include "cli/tar/tree.h"

namespace warpseal::cli::tar {

class Unpacker {
public:
    // Reads from `in`. `check_top` may refuse a name directly below the tree's root; it is called
    // before the first entry of that name.
    Unpacker(int in, Tree& tree, std::function<void(const std::string&)> check_top);
    // Reads up to the end of the stream. Throws Failure: refused_entry, or unsupported for what is
    // no tar stream.
    void run();
    uint64_t entries() const { return entries_; }

private:
    void unpack(archive_entry* entry);
    void unpack_file(archive_entry* entry, const std::vector<std::string>& names,
                     const std::string& shown);
    void unpack_hard_link(archive_entry* entry, const std::vector<std::string>& names,
                          const std::string& shown);
    bool next(archive_entry*& entry);
    size_t read_some();
    static la_ssize_t read_in(archive* reader, void* unpacker, const void** data);

    const int in_;
    Tree& tree_;
    const std::function<void(const std::string&)> check_top_;
    ReaderHandle reader_;
    std::vector<uint8_t> buffer_;
    uint64_t header_bytes_left_ = 0;
    bool bounded_ = false, header_too_long_ = false;
    uint64_t entries_ = 0;
    std::string top_;  // the last name that check_top_ saw
};

}  // namespace warpseal::cli::tar
