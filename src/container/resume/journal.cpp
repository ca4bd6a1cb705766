// Layout of the journal: output, zeros up to a whole block, records, zeros, last block.
#include "container/resume/journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "container/bytes.h"

namespace warpseal::container {
namespace {

// Content of the last block: mark, then direction, lengths and input (8 bytes each), recipients,
// MAC.
constexpr char mark[] = "WARPSEAL RESUME\n";
constexpr size_t mark_bytes = sizeof mark - 1;
constexpr size_t lengths_at = mark_bytes, input_at = lengths_at + 4 * 8,
                 recipients_at = input_at + sizeof JournalSubject::input,
                 mac_at = recipients_at + sizeof JournalSubject::recipients;
static_assert(mac_at + hmac_bytes <= Journal::block_bytes);

constexpr uint64_t whole_blocks(uint64_t bytes) {
    return (bytes + Journal::block_bytes - 1) / Journal::block_bytes * Journal::block_bytes;
}

// Reads all bytes, or fails.
warpseal_status read_all(int descriptor, uint64_t offset, void* out, size_t bytes,
                         Progress& progress, Fault& fault) {
    Source source(descriptor, progress, Access::random);
    size_t got = 0;
    if (source.read(offset, out, bytes, got, fault) != WARPSEAL_OK) return fault.status;
    if (got == bytes) return WARPSEAL_OK;
    return fault.say(WARPSEAL_IO, "the unfinished output was cut meanwhile");
}

}  // namespace

bool Journal::ends_in_one(int descriptor, uint64_t file_bytes) {
    char found[mark_bytes];
    return file_bytes > block_bytes &&
           pread(descriptor, found, sizeof found, static_cast<off_t>(file_bytes - block_bytes)) ==
               static_cast<ssize_t>(sizeof found) &&
           memcmp(found, mark, sizeof found) == 0;
}

Journal::Journal(int descriptor, const JournalSubject& subject, const Secret<hmac_bytes>& key,
                 Progress& progress)
    : descriptor_(descriptor), subject_(subject), key_(key), progress_(progress) {}

uint64_t Journal::records_at() const { return whole_blocks(subject_.output_bytes); }

uint64_t Journal::file_bytes() const {
    return whole_blocks(records_at() + subject_.windows * record_bytes) + block_bytes;
}

void Journal::make_block(uint8_t block[block_bytes]) const {
    memset(block, 0, block_bytes);
    memcpy(block, mark, mark_bytes);
    put64(block + lengths_at, subject_.direction == Direction::encrypt ? 1 : 2);
    put64(block + lengths_at + 8, subject_.output_bytes);
    put64(block + lengths_at + 16, subject_.windows);
    put64(block + lengths_at + 24, record_bytes);
    for (size_t i = 0; i < sizeof subject_.input / sizeof subject_.input[0]; ++i)
        put64(block + input_at + 8 * i, subject_.input[i]);
    memcpy(block + recipients_at, subject_.recipients, sizeof subject_.recipients);
    const Bytes message = {block, mac_at};
    hmac({key_.data(), key_.size()}, {&message, 1}, block + mac_at);
}

warpseal_status Journal::create(Fault& fault) {
    uint8_t block[block_bytes];
    make_block(block);
    // The file gets its length and the mark in one call, so that it is never taken for another.
    Sink sink(descriptor_, Order::any, progress_);
    return sink.write(file_bytes() - block_bytes, block, sizeof block, fault);
}

warpseal_status Journal::check(Fault& why, Fault& fault) {
    struct stat about;
    if (fstat(descriptor_, &about) != 0)
        return fault.say_system(errno, "asking for the unfinished output's length failed");
    uint8_t found[block_bytes], wanted[block_bytes];
    if (read_all(descriptor_, static_cast<uint64_t>(about.st_size) - block_bytes, found,
                 sizeof found, progress_, fault) != WARPSEAL_OK)
        return fault.status;
    make_block(wanted);
    const auto differs = [&](size_t from, size_t to) {
        return memcmp(found + from, wanted + from, to - from) != 0;
    };
    const Bytes message = {found, mac_at};
    Secret<hmac_bytes> mac;
    hmac({key_.data(), key_.size()}, {&message, 1}, mac.data());
    if (!equal_secret(mac.data(), found + mac_at, hmac_bytes))
        why.say(WARPSEAL_IO, "it belongs to another file, or it is damaged");
    else if (differs(input_at, recipients_at) || differs(lengths_at, input_at))
        why.say(WARPSEAL_IO, "the input was changed, moved or given other permissions since then");
    else if (differs(recipients_at, mac_at))
        why.say(WARPSEAL_IO, "its recipients were others");
    else if (static_cast<uint64_t>(about.st_size) != file_bytes())
        why.say(WARPSEAL_IO, "its length was changed");
    return WARPSEAL_OK;
}

warpseal_status Journal::read(uint64_t window, uint8_t record[record_bytes], Fault& fault) {
    return read_all(descriptor_, records_at() + window * record_bytes, record, record_bytes,
                    progress_, fault);
}

warpseal_status Journal::write(uint64_t window, const uint8_t record[record_bytes], Fault& fault) {
    Sink sink(descriptor_, Order::any, progress_);
    return sink.write(records_at() + window * record_bytes, record, record_bytes, fault);
}

warpseal_status Journal::sync(Fault& fault) const {
    while (fdatasync(descriptor_) != 0)
        if (errno != EINTR) return fault.say_system(errno, "syncing the unfinished output failed");
    return WARPSEAL_OK;
}

}  // namespace warpseal::container
