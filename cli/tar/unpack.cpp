// Reads a tar stream by libarchive. Everything an entry says is checked here.
#include "cli/tar/unpack.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/support/format.h"
#include "cli/tar/names.h"

namespace warpseal::cli::tar {
namespace {

constexpr size_t unpacked_at_once = 1 << 18;
// libarchive may read this much for one entry's headers and map of holes. It bounds the memory for
// them. A pax header may have 1 MiB in libarchive, and several precede an entry.
constexpr uint64_t most_header_bytes = 8 << 20;

[[noreturn]] void fail_damaged(archive* reader) {
    fail(ExitCode::unsupported,
         cli::format("the text inside is no whole tar archive: {}. Without --tar it is written as "
                     "it is.",
                     reason(reader)));
}

// In the locale C, names in UTF-8 come as they are, with a warning.
bool is_about_names(archive* reader) {
    return reason(reader).find("can't be converted") != std::string::npos;
}

const char* unusable_kind(mode_t type) {
    switch (type) {
        case AE_IFCHR:
        case AE_IFBLK: return "a device";
        case AE_IFIFO: return "a named pipe";
        case AE_IFSOCK: return "a socket";
        default: return "of an unknown kind";
    }
}

Attributes attributes_of(archive_entry* entry) {
    return {static_cast<mode_t>(archive_entry_perm(entry)),
            {archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)}};
}

void write_at(int file, const uint8_t* data, size_t bytes, int64_t offset,
              const std::string& shown) {
    while (bytes > 0) {
        const ssize_t wrote = pwrite(file, data, bytes, offset);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) fail_system("write", shown, wrote < 0 ? errno : EIO);
        data += wrote;
        bytes -= static_cast<size_t>(wrote);
        offset += wrote;
    }
}

}  // namespace

Unpacker::Unpacker(int in, Tree& tree, std::function<void(const std::string&)> check_top)
    : in_(in),
      tree_(tree),
      check_top_(std::move(check_top)),
      reader_(archive_read_new()),
      buffer_(unpacked_at_once) {
    if (!reader_) throw std::bad_alloc();
    if (archive_read_support_format_tar(reader_.get()) != ARCHIVE_OK)
        fail(ExitCode::error, cli::format("cannot read archives: {}.", reason(reader_.get())));
}

size_t Unpacker::read_some() {
    for (;;) {
        const ssize_t got = read(in_, buffer_.data(), buffer_.size());
        if (got >= 0) return static_cast<size_t>(got);
        if (errno != EINTR) fail_system("read", "the decrypted text", errno);
    }
}

la_ssize_t Unpacker::read_in(archive* reader, void* unpacker, const void** data) {
    Unpacker& its = *static_cast<Unpacker*>(unpacker);
    ssize_t got = -1;
    do {
        got = read(its.in_, its.buffer_.data(), its.buffer_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) archive_set_error(reader, errno, "%s", strerror(errno));
    *data = its.buffer_.data();
    if (got <= 0 || !its.bounded_) return got;
    its.header_too_long_ = static_cast<uint64_t>(got) > its.header_bytes_left_;
    if (its.header_too_long_) {
        archive_set_error(reader, EFBIG, "the header of an entry is too long");
        return -1;
    }
    its.header_bytes_left_ -= static_cast<uint64_t>(got);
    return got;
}

bool Unpacker::next(archive_entry*& entry) {
    stop_if_interrupted();
    bounded_ = true;
    header_bytes_left_ = most_header_bytes;
    const int status = archive_read_next_header(reader_.get(), &entry);
    bounded_ = false;
    if (status == ARCHIVE_EOF) return false;
    if (header_too_long_)
        fail(ExitCode::limit_exceeded,
             cli::format("the header of an entry is longer than {} MiB.", most_header_bytes >> 20));
    if (status != ARCHIVE_OK && (status != ARCHIVE_WARN || !is_about_names(reader_.get())))
        fail_damaged(reader_.get());
    return true;
}

void Unpacker::run() {
    if (archive_read_open(reader_.get(), this, nullptr, read_in, nullptr) != ARCHIVE_OK)
        fail_damaged(reader_.get());
    for (archive_entry* entry = nullptr; next(entry); ++entries_) unpack(entry);
    tree_.finish();
    while (read_some() > 0) stop_if_interrupted();
}

void Unpacker::unpack(archive_entry* entry) {
    const char* const path = archive_entry_pathname(entry);
    const std::string shown = path != nullptr ? path : "";
    std::vector<std::string> names;
    if (const std::string why = split_path(shown, names); !why.empty()) refuse(shown, why);
    const mode_t type = archive_entry_filetype(entry);
    const bool hard_link = archive_entry_hardlink(entry) != nullptr;
    if (names.empty()) {  // "./", the directory that the archive is unpacked into
        if (type != AE_IFDIR || hard_link) refuse(shown, "its name is that of a directory");
        return;
    }
    if (std::exchange(top_, names[0]) != names[0]) check_top_(names[0]);
    if (hard_link) return unpack_hard_link(entry, names, shown);
    switch (type) {
        case AE_IFREG: return unpack_file(entry, names, shown);
        case AE_IFDIR: return tree_.make_directory(names, attributes_of(entry), shown);
        case AE_IFLNK: {
            const char* const text = archive_entry_symlink(entry);
            const std::string target = text != nullptr ? text : "";
            if (const std::string why = leads_out(target, names.size() - 1); !why.empty())
                refuse(shown, cli::format("it is a link to '{}': {}", target, why));
            return tree_.make_symbolic_link(names, target, attributes_of(entry).modified, shown);
        }
        default: refuse(shown, cli::format("it is {}", unusable_kind(type)));
    }
}

void Unpacker::unpack_hard_link(archive_entry* entry, const std::vector<std::string>& names,
                                const std::string& shown) {
    const std::string target = archive_entry_hardlink(entry);
    std::vector<std::string> target_names;
    if (const std::string why = split_path(target, target_names); !why.empty())
        refuse(shown, cli::format("it is a hard link to '{}', and {}", target, why));
    if (target_names.empty())
        refuse(shown, cli::format("it is a hard link to the directory '{}'", target));
    if (archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) > 0)
        refuse(shown, "it is a hard link with content of its own");
    tree_.make_hard_link(names, target_names, shown);
}

void Unpacker::unpack_file(archive_entry* entry, const std::vector<std::string>& names,
                           const std::string& shown) {
    const Descriptor file = tree_.make_file(names, shown);
    const auto size = static_cast<uint64_t>(archive_entry_size(entry));
    for (;;) {
        stop_if_interrupted();
        const void* data = nullptr;
        size_t bytes = 0;
        la_int64_t offset = 0;
        const int status = archive_read_data_block(reader_.get(), &data, &bytes, &offset);
        if (status == ARCHIVE_EOF) break;
        if (status != ARCHIVE_OK) fail_damaged(reader_.get());
        if (offset < 0 || static_cast<uint64_t>(offset) > size ||
            bytes > size - static_cast<uint64_t>(offset))
            refuse(shown, "it has more content than its header says");
        write_at(file.get(), static_cast<const uint8_t*>(data), bytes, offset, shown);
    }
    tree_.finish_file(file.get(), size, attributes_of(entry), shown);
}

}  // namespace warpseal::cli::tar
