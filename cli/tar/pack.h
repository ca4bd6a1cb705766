// Packs files and directories into one pax stream.
#pragma once

#include <locale.h>
#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

#include "cli/support/output_directory.h"
#include "cli/tar/archive.h"

namespace warpseal::cli::tar {

// A file or directory of the command line, and the name that it gets in the archive.
struct Named {
    std::string path, name;
};

// The output is left out of the archive, under its name and as the file that is open.
struct LeftOut {
    std::optional<FileIdentity> directory, file;
    std::string name;
};

// Writes to a descriptor that reads the stream. Names are in order of their bytes. Memory: the
// names in the directories above the entry at hand, and files whose other hard links are still to
// come.
class Packer {
public:
    // Lives on one thread.
    Packer(int out, LeftOut left_out, const Session& session);
    ~Packer();
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;
    // Throws Failure for what cannot be read, or changes meanwhile. Throws OtherEndClosed.
    void add(const Named& named);
    void finish();

private:
    // An entry: its name in its directory, its paths for people and in the archive.
    struct Place {
        int directory;
        std::string name, shown, path;
        size_t levels;  // directories above it
    };
    void add_entry(const Place& place);
    void add_directory(const Place& place, const Descriptor& directory, const struct stat& about);
    void add_file(const Place& place, int file, const struct stat& about);
    void add_link(const Place& place, const struct stat& about);
    bool add_hard_link(const Place& place, const struct stat& about);
    void write_content(const Place& place, int file, const struct stat& about);
    void write_zeros(const Place& place, uint64_t bytes);
    void write_data(const Place& place, const uint8_t* data, size_t bytes);
    void write_header(const Place& place, archive_entry* entry);
    bool is_left_out(const Place& place, const struct stat& about) const;
    void check_place(const Place& place) const;
    static la_ssize_t write_out(archive* writer, void* packer, const void* data, size_t bytes);

    struct Region {
        uint64_t offset, bytes;
    };
    std::vector<Region> data_regions(int file, const struct stat& about) const;

    const int out_;
    const LeftOut left_out_;
    const Session& session_;
    const locale_t utf8_;  // null: the system has none
    bool other_end_closed_ = false, finished_ = false;
    WriterHandle writer_;
    std::vector<uint8_t> buffer_;
    std::vector<Region> regions_;  // of the file at hand; empty: all is data
    struct Linked {
        std::string path;
        nlink_t left;  // links to it that did not come yet
    };
    std::map<std::pair<dev_t, ino_t>, Linked> linked_;
};

}  // namespace warpseal::cli::tar
