// Walks directories without following links, and writes what it finds by libarchive.
#include "cli/tar/pack.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "cli/support/format.h"
#include "cli/tar/names.h"

namespace warpseal::cli::tar {
namespace {

constexpr size_t packed_at_once = 1 << 18;
constexpr int pax_block_bytes = 512;  // the last block is filled up to a multiple
// Beyond that many holes the rest of a file is written with its zeros. It bounds the entry's
// header.
constexpr size_t most_regions = 4096;
constexpr uint64_t stat_block_bytes = 512;  // st_blocks, inode(7)

constexpr int open_flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

bool is_same(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_unchanged(const struct stat& a, const struct stat& b) {
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

[[noreturn]] void fail_changed(const std::string& path, const char* how) {
    fail(ExitCode::input_output, cli::format("'{}' {} while it was read.", path, how));
}

[[noreturn]] void fail_open(const std::string& path, int error) {
    if (error == ENOENT || error == ELOOP || error == ENOTDIR)
        fail_changed(path, "was removed or replaced");
    fail_system("open", path, error);
}

const char* kind(mode_t mode) {
    if (S_ISFIFO(mode)) return "a pipe";
    return S_ISSOCK(mode) ? "a socket" : "a device";
}

std::vector<std::string> sorted_names(const std::string& shown, int directory) {
    std::vector<std::string> names = names_in(directory, shown);
    stop_if_interrupted();
    std::sort(names.begin(), names.end());
    return names;
}

EntryHandle new_entry(const std::string& path, const struct stat& about) {
    EntryHandle entry(archive_entry_new());
    if (!entry) throw std::bad_alloc();
    archive_entry_copy_pathname(entry.get(), path.c_str());
    archive_entry_set_mode(entry.get(), about.st_mode);
    archive_entry_set_mtime(entry.get(), about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    archive_entry_set_uid(entry.get(), about.st_uid);
    archive_entry_set_gid(entry.get(), about.st_gid);
    archive_entry_set_size(entry.get(), 0);
    return entry;
}

}  // namespace

Packer::Packer(int out, LeftOut left_out, const Session& session)
    : out_(out),
      left_out_(std::move(left_out)),
      session_(session),
      utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)),
      writer_(archive_write_new()),
      buffer_(packed_at_once) {
    // libarchive writes names that are UTF-8 as such in a locale of UTF-8, and others as they are.
    // The thread that packs has that locale alone.
    if (utf8_ != nullptr) uselocale(utf8_);
    archive* const writer = writer_.get();
    if (writer == nullptr) throw std::bad_alloc();
    if (archive_write_set_format_pax(writer) != ARCHIVE_OK ||
        archive_write_add_filter_none(writer) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(writer, packed_at_once) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(writer, pax_block_bytes) != ARCHIVE_OK ||
        archive_write_open2(writer, this, nullptr, write_out, nullptr, nullptr) != ARCHIVE_OK)
        fail(ExitCode::error, cli::format("cannot begin the archive: {}.", reason(writer)));
}

Packer::~Packer() {
    if (!finished_) archive_write_fail(writer_.get());  // or its release would end the archive
    if (utf8_ == nullptr) return;
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(utf8_);
}

la_ssize_t Packer::write_out(archive*, void* packer, const void* data, size_t bytes) {
    Packer& its = *static_cast<Packer*>(packer);
    for (size_t done = 0; done < bytes;) {
        const ssize_t wrote = write(its.out_, static_cast<const char*>(data) + done, bytes - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) {
            its.other_end_closed_ = true;
            return -1;
        }
        done += static_cast<size_t>(wrote);
    }
    return static_cast<la_ssize_t>(bytes);
}

void Packer::finish() {
    finished_ = true;
    const bool closed = archive_write_close(writer_.get()) == ARCHIVE_OK;
    if (other_end_closed_) throw OtherEndClosed();
    if (!closed)
        fail(ExitCode::error, cli::format("cannot end the archive: {}.", reason(writer_.get())));
    finish_input(out_);
}

void Packer::write_header(const Place& place, archive_entry* entry) {
    // A warning says that a name is not UTF-8. It is in the header as it is.
    const int status = archive_write_header(writer_.get(), entry);
    if (other_end_closed_) throw OtherEndClosed();
    if (status < ARCHIVE_WARN)
        fail(ExitCode::unsupported,
             cli::format("cannot pack '{}': {}.", place.shown, reason(writer_.get())));
}

void Packer::write_data(const Place& place, const uint8_t* data, size_t bytes) {
    while (bytes > 0) {
        const la_ssize_t wrote = archive_write_data(writer_.get(), data, bytes);
        if (other_end_closed_) throw OtherEndClosed();
        if (wrote <= 0)
            fail(ExitCode::error,
                 cli::format("cannot pack '{}': {}.", place.shown, reason(writer_.get())));
        data += wrote;
        bytes -= static_cast<size_t>(wrote);
    }
}

void Packer::check_place(const Place& place) const {
    if (place.path.size() > most_path_bytes)
        fail(ExitCode::limit_exceeded, cli::format("the path of '{}' is longer than {} bytes.",
                                                   place.shown, most_path_bytes));
    if (place.levels >= most_levels)
        fail(ExitCode::limit_exceeded,
             cli::format("'{}' has more than {} levels of directories.", place.shown, most_levels));
}

void Packer::add(const Named& named) {
    // The target of a link of the command line is what the user means.
    const Descriptor opened(open(named.path.c_str(), open_flags));
    struct stat about;
    if (!opened) fail_system("open", named.path, errno);
    if (fstat(opened.get(), &about) != 0) fail_system("read", named.path, errno);
    const Place place{AT_FDCWD, named.path, named.path, named.name, 0};
    if (S_ISDIR(about.st_mode)) return add_directory(place, opened, about);
    if (!S_ISREG(about.st_mode))
        fail(ExitCode::usage, cli::format("'{}' is {}: --tar packs files, directories and links.",
                                          named.path, kind(about.st_mode)));
    add_file(place, opened.get(), about);
}

bool Packer::is_left_out(const Place& place, const struct stat& about) const {
    if (left_out_.file && left_out_.file->device == about.st_dev &&
        left_out_.file->inode == about.st_ino)
        return true;
    struct stat directory;
    return left_out_.directory &&
           (place.name == left_out_.name || is_temporary_name(place.name.c_str())) &&
           fstat(place.directory, &directory) == 0 &&
           directory.st_dev == left_out_.directory->device &&
           directory.st_ino == left_out_.directory->inode;
}

void Packer::add_entry(const Place& place) {
    stop_if_interrupted();
    check_place(place);
    struct stat about, opened;
    const char* const name = place.name.c_str();
    if (fstatat(place.directory, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        fail_open(place.shown, errno);
    if (is_left_out(place, about))
        return remark(session_, cli::format("left out '{}': it is the output.", place.shown));
    if (S_ISLNK(about.st_mode)) return add_link(place, about);
    if (!S_ISDIR(about.st_mode) && !S_ISREG(about.st_mode))
        return remark(session_,
                      cli::format("left out '{}': it is {}.", place.shown, kind(about.st_mode)));
    const Descriptor file(openat(place.directory, name, open_flags | O_NOFOLLOW));
    if (!file) fail_open(place.shown, errno);
    if (fstat(file.get(), &opened) != 0) fail_system("read", place.shown, errno);
    if (!is_same(about, opened)) fail_changed(place.shown, "was removed or replaced");
    if (S_ISDIR(about.st_mode))
        add_directory(place, file, opened);
    else
        add_file(place, file.get(), opened);
}

void Packer::add_directory(const Place& place, const Descriptor& directory,
                           const struct stat& about) {
    write_header(place, new_entry(place.path, about).get());
    for (const std::string& name : sorted_names(place.shown, directory.get()))
        add_entry({directory.get(), name,
                   place.shown + (place.shown.back() == '/' ? "" : "/") + name,
                   place.path + "/" + name, place.levels + 1});
    struct stat now;
    if (fstat(directory.get(), &now) != 0) fail_system("read", place.shown, errno);
    const bool has_output = left_out_.directory && left_out_.directory->device == now.st_dev &&
                            left_out_.directory->inode == now.st_ino;
    if (!has_output && !is_unchanged(about, now)) fail_changed(place.shown, "was changed");
}

void Packer::add_link(const Place& place, const struct stat& about) {
    std::string target(PATH_MAX, '\0');
    const ssize_t length =
        readlinkat(place.directory, place.name.c_str(), target.data(), target.size());
    if (length < 0) fail_open(place.shown, errno);
    target.resize(static_cast<size_t>(length));
    if (const std::string why = leads_out(target, place.levels); !why.empty())
        remark(session_, cli::format("'{}' is a link to '{}': {}. `warpseal decrypt --tar` will "
                                     "refuse the archive; without --tar, tar takes it.",
                                     place.shown, target, why));
    const EntryHandle entry = new_entry(place.path, about);
    archive_entry_copy_symlink(entry.get(), target.c_str());
    write_header(place, entry.get());
}

bool Packer::add_hard_link(const Place& place, const struct stat& about) {
    if (about.st_nlink < 2) return false;
    const std::pair<dev_t, ino_t> identity{about.st_dev, about.st_ino};
    const auto [first, is_new] = linked_.try_emplace(identity, Linked{place.path, about.st_nlink});
    const std::string target = first->second.path;
    if (--first->second.left == 0) linked_.erase(first);
    if (is_new) return false;
    const EntryHandle entry = new_entry(place.path, about);
    archive_entry_copy_hardlink(entry.get(), target.c_str());
    write_header(place, entry.get());
    return true;
}

std::vector<Packer::Region> Packer::data_regions(int file, const struct stat& about) const {
    const auto size = static_cast<uint64_t>(about.st_size);
    if (static_cast<uint64_t>(about.st_blocks) * stat_block_bytes >= size) return {};
    std::vector<Region> regions;
    for (uint64_t at = 0; at < size;) {
        const off_t data = lseek(file, static_cast<off_t>(at), SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;  // a hole up to the end
        const off_t hole = data < 0 ? -1 : lseek(file, data, SEEK_HOLE);
        if (hole < 0) return {};  // the file system does not tell
        const bool last = regions.size() + 1 == most_regions;
        const uint64_t begin = static_cast<uint64_t>(data),
                       end = last ? size : std::min(static_cast<uint64_t>(hole), size);
        if (begin >= end) break;
        regions.push_back({begin, end - begin});
        at = end;
    }
    if (regions.size() == 1 && regions[0].bytes == size) return {};
    if (regions.empty()) regions.push_back({0, 0});
    return regions;
}

void Packer::add_file(const Place& place, int file, const struct stat& about) {
    check_place(place);
    if (add_hard_link(place, about)) return;
    const EntryHandle entry = new_entry(place.path, about);
    archive_entry_set_size(entry.get(), about.st_size);
    regions_ = data_regions(file, about);
    for (const Region& region : regions_)
        archive_entry_sparse_add_entry(entry.get(), static_cast<la_int64_t>(region.offset),
                                       static_cast<la_int64_t>(region.bytes));
    write_header(place, entry.get());
    write_content(place, file, about);
    struct stat now;
    if (fstat(file, &now) != 0) fail_system("read", place.shown, errno);
    if (now.st_size > about.st_size) fail_changed(place.shown, "became longer");
    if (!is_unchanged(about, now)) fail_changed(place.shown, "was changed");
    // Files of procfs and of some servers.
    if (pread(file, buffer_.data(), 1, about.st_size) > 0)
        fail(ExitCode::input_output,
             cli::format("'{}' has more content than its size says: pack a copy of it.",
                         place.shown));
}

void Packer::write_zeros(const Place& place, uint64_t bytes) {
    std::fill(buffer_.begin(), buffer_.end(), uint8_t{0});
    while (bytes > 0) {
        stop_if_interrupted();
        const size_t now = std::min<uint64_t>(bytes, buffer_.size());
        write_data(place, buffer_.data(), now);
        bytes -= now;
    }
}

// libarchive takes the zeros of holes too, and does not write them.
void Packer::write_content(const Place& place, int file, const struct stat& about) {
    const auto size = static_cast<uint64_t>(about.st_size);
    const std::vector<Region> all{{0, size}};
    uint64_t at = 0;
    for (const Region& region : regions_.empty() ? all : regions_) {
        write_zeros(place, region.offset - at);
        for (at = region.offset; at < region.offset + region.bytes;) {
            stop_if_interrupted();
            const size_t wanted =
                std::min<uint64_t>(region.offset + region.bytes - at, buffer_.size());
            const ssize_t got = pread(file, buffer_.data(), wanted, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail_system("read", place.shown, errno);
            if (got == 0) fail_changed(place.shown, "became shorter");
            write_data(place, buffer_.data(), static_cast<size_t>(got));
            at += static_cast<uint64_t>(got);
        }
    }
    write_zeros(place, size - at);
}

}  // namespace warpseal::cli::tar
