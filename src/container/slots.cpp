// Opens the header, makes the new list of slots, and writes one copy after the other so that one of
// them is whole at any moment.
#include "container/slots.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "container/call.h"
#include "container/header/tries.h"
#include "container/opening.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

// Advisory lock against other writers of the header.
class FileLock {
public:
    explicit FileLock(int fd) : fd_(fd) {}
    ~FileLock() {
        if (held_) (void)flock(fd_, LOCK_UN);
    }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    warpseal_status take(Fault& fault) {
        int failed = 0;
        do {
            failed = flock(fd_, LOCK_EX | LOCK_NB);
        } while (failed != 0 && errno == EINTR);
        held_ = failed == 0;
        if (held_) return WARPSEAL_OK;
        return fault.say_system(errno, errno == EWOULDBLOCK ? "another program has locked the file"
                                                            : "the file cannot be locked");
    }

private:
    const int fd_;
    bool held_ = false;
};

warpseal_status check_descriptor(int fd, Fault& fault) {
    struct stat about;
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &about) != 0)
        return fault.say_system(errno, "asking for the file's kind failed");
    if (!S_ISREG(about.st_mode))
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "keys are changed in place, which takes a regular file");
    if ((flags & O_ACCMODE) != O_RDWR || (flags & O_APPEND) != 0)
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "the file is not open for reading and writing at any position");
    return WARPSEAL_OK;
}

class SlotsChange {
public:
    SlotsChange(Engine& engine, int fd, const warpseal_file_options& options,
                warpseal_slots_change& change, SlotKeys* keys)
        : engine_(engine),
          fd_(fd),
          options_(options),
          change_(change),
          keys_(keys),
          silent_(nullptr, nullptr),
          source_(fd, silent_, Access::random),
          sink_(fd, Order::any, silent_) {}

    warpseal_status run();

    Fault fault;
    bool header_copies_differ() const { return header_copies_differ_; }
    uint64_t written_bytes() const { return sink_.bytes(); }

private:
    warpseal_status check();
    warpseal_status open_header();
    warpseal_status choose_removed();
    warpseal_status find_opened();
    bool visit_opened(const Try& next, Fault& error);
    bool stays_open() const;
    warpseal_status check_result();
    warpseal_status make_slots(std::vector<uint8_t>& slots);
    warpseal_status add_slots(std::vector<uint8_t>& slots);
    warpseal_status write_both(uint32_t slot_count, const std::vector<uint8_t>& slots,
                               const char* after_one);
    warpseal_status write_one(int index, const std::vector<uint8_t>& copy,
                              std::vector<uint8_t>& back);
    warpseal_status sync();
    warpseal_status repair();

    const HeaderCopy& in_force() const { return header_.copies[in_force_]; }
    bool is_removed(uint32_t i) const {
        return removed_[i] || (change_.remove_opened != 0 && opened_[i]);
    }

    Engine& engine_;
    const int fd_;
    const warpseal_file_options& options_;
    warpseal_slots_change& change_;
    SlotKeys* const keys_;
    Progress silent_;
    Source source_;
    Sink sink_;
    Header header_;
    Secret<data_key_bytes> data_key_;
    int in_force_ = 0;
    bool header_copies_differ_ = false;
    Try opened_by_;                          // what gave the data key
    bool opened_[WARPSEAL_MAX_SLOTS] = {};   // slots in force that a secret is known to open
    bool removed_[WARPSEAL_MAX_SLOTS] = {};  // slots in force that the caller named
    std::string unwrapper_reason_;           // the first
};

bool same(Bytes a, Bytes b) { return a.size == b.size && memcmp(a.data, b.data, a.size) == 0; }

warpseal_status SlotsChange::open_header() {
    const ReadAt read = [this](uint64_t offset, void* out, size_t bytes, size_t& got, Fault& why) {
        return source_.read(offset, out, bytes, got, why);
    };
    if (read_header(read, header_, fault) != WARPSEAL_OK ||
        unlock(engine_, header_, options_.secrets, options_.secret_count, data_key_, in_force_,
               fault, argon2_budget, keys_, &opened_by_) != WARPSEAL_OK)
        return fault.status;
    header_copies_differ_ = !header_.copies_equal();
    if (in_force().generation == UINT64_MAX)
        return fault.say(WARPSEAL_LIMIT_EXCEEDED, "the header was rewritten too many times");
    return WARPSEAL_OK;
}

warpseal_status SlotsChange::choose_removed() {
    for (size_t i = 0; i < change_.remove_count; ++i) {
        const uint32_t number = change_.remove[i];
        if (number >= in_force().slot_count)
            return fault.say(WARPSEAL_INVALID_ARGUMENT,
                             "the file has %u key slots, and no slot %llu", in_force().slot_count,
                             ull{number} + 1);
        removed_[number] = true;
    }
    return WARPSEAL_OK;
}

bool SlotsChange::stays_open() const {
    for (uint32_t i = 0; i < in_force().slot_count; ++i)
        if (opened_[i] && !is_removed(i)) return true;
    return false;
}

// Returns true if no further try is needed, or after an error.
bool SlotsChange::visit_opened(const Try& next, Fault& error) {
    if (next.refusal == Refusal::budget) {
        error.say(WARPSEAL_LIMIT_EXCEEDED,
                  "trying all passphrases exceeds the limit of Argon2id work for one file: give "
                  "fewer");
        return true;
    }
    if (next.refusal != Refusal::none) return false;  // No reader opens it with a passphrase.
    const bool known =
        next.secret == opened_by_.secret && same(next.slot->whole, opened_by_.slot->whole);
    if (!known) {
        Secret<data_key_bytes> other;
        Fault here;
        open_slot(engine_, header_.fixed.bytes, *next.slot, *next.secret, other, here, keys_,
                  parameters_of_type(header_, next.slot->type));
        // An unwrapper that fails opens nothing. Its reason is said if no slot stays open.
        if (is_unwrapper_secret(*next.secret) && leaves_other_slots(here.status)) {
            if (unwrapper_reason_.empty()) unwrapper_reason_ = here.message;
            return false;
        }
        if (here.status == WARPSEAL_WRONG_KEY || here.status == WARPSEAL_NOT_AUTHENTIC)
            return false;
        error = here;
        if (here.status != WARPSEAL_OK) return true;
        // One with another data key opens nothing.
        if (change_.remove_opened == 0 &&
            !equal_secret(other.data(), data_key_.data(), data_key_bytes))
            return false;
    }
    for (uint32_t i = 0; i < in_force().slot_count; ++i)  // Equal slots are tried once.
        opened_[i] = opened_[i] || same(in_force().slots[i].whole, next.slot->whole);
    return change_.remove_opened == 0 && stays_open();
}

// Finds the slots in force that the secrets open: all of them if they are to be removed, otherwise
// one that stays.
warpseal_status SlotsChange::find_opened() {
    for (uint32_t i = 0; i < in_force().slot_count; ++i)
        opened_[i] = same(in_force().slots[i].whole, opened_by_.slot->whole);
    if (change_.remove_opened == 0 && stays_open()) return WARPSEAL_OK;
    Header alone = header_;
    alone.copies[1 - in_force_].well_formed = false;
    Fault error;
    visit_tries(alone, options_.secrets, options_.secret_count, argon2_budget,
                [&](const Try& next) { return visit_opened(next, error); });
    if (error.status != WARPSEAL_OK) {
        fault = error;
        return fault.status;
    }
    for (uint32_t i = 0; i < in_force().slot_count; ++i)
        if (opened_[i]) return WARPSEAL_OK;
    const bool unfinished = header_.copies[1 - in_force_].generation > in_force().generation;
    return fault.say(WARPSEAL_WRONG_KEY,
                     "the key or passphrase opens only an %s copy of the header, which an "
                     "interrupted change left: the %s key opens the file",
                     unfinished ? "unfinished" : "outdated", unfinished ? "older" : "newer");
}

// Checks the result before a passphrase costs time.
warpseal_status SlotsChange::check_result() {
    size_t bytes = 0, count = change_.add_count;
    uint64_t all_work = 0;
    RecipientKinds kinds;
    bool recipient = false;
    for (uint32_t i = 0; i < in_force().slot_count; ++i) {
        const Slot& slot = in_force().slots[i];
        if (is_removed(i)) {
            ++change_.removed_count;
            continue;
        }
        ++count;
        bytes += slot.whole.size;
        kinds.add(slot.type, slot.parameters);
        if (slot.type == WARPSEAL_SECRET_PASSPHRASE && within_bounds(passphrase_cost(slot)))
            all_work += work(passphrase_cost(slot));
    }
    const Argon2Cost cost = argon2_cost(options_);
    bool passphrase = false;
    for (size_t i = 0; i < change_.add_count; ++i) {
        bytes += slot_bytes_of(change_.add[i]);
        kinds.add_new(change_.add[i]);
        recipient |= is_public_key_secret(change_.add[i]) || is_stanza_secret(change_.add[i]);
        if (change_.add[i].type != WARPSEAL_SECRET_PASSPHRASE) continue;
        passphrase = true;
        all_work += work(cost);
    }
    if (count == 0)
        return fault.say(WARPSEAL_INVALID_ARGUMENT,
                         "the last key slot of a file cannot be removed: add another key first");
    if (change_.add_count == 0 && !stays_open())
        return fault.say(
            WARPSEAL_INVALID_ARGUMENT,
            "the given key or passphrase would not open the file any more%s%.150s",
            unwrapper_reason_.empty() ? ": give one whose slot stays" : "; another slot failed: ",
            unwrapper_reason_.c_str());
    const size_t room = slot_room(header_.fixed.copy_bytes);
    if (count > WARPSEAL_MAX_SLOTS || bytes > room)
        return fault.say(WARPSEAL_LIMIT_EXCEEDED,
                         "the key slots are full: %zu of at most %d slots, %zu of %zu bytes: "
                         "remove one, or seal the contents again",
                         count, WARPSEAL_MAX_SLOTS, bytes, room);
    if (passphrase && all_work > argon2_work_max)
        return fault.say(WARPSEAL_LIMIT_EXCEEDED,
                         "the passphrase slots together would ask for more Argon2id work than the "
                         "file format allows: remove one, or take a lower cost");
    // A mixed file of another writer stays as it is, but no recipient is added to it.
    if (recipient && kinds.check(fault) != WARPSEAL_OK) return fault.status;
    change_.slot_count = static_cast<uint32_t>(count);
    return WARPSEAL_OK;
}

warpseal_status SlotsChange::add_slots(std::vector<uint8_t>& slots) {
    for (size_t i = 0; i < change_.add_count; ++i) {
        const size_t at = slots.size();
        size_t bytes = 0;
        slots.resize(at + slot_bytes_of(change_.add[i]));
        if (seal_slot(engine_, header_.fixed.bytes, change_.add[i], argon2_cost(options_),
                      data_key_, slots.data() + at, bytes, fault, keys_) != WARPSEAL_OK)
            return fault.status;
    }
    return WARPSEAL_OK;
}

warpseal_status SlotsChange::make_slots(std::vector<uint8_t>& slots) {
    bool added = false;
    for (uint32_t i = 0; i < in_force().slot_count; ++i) {
        const Bytes whole = in_force().slots[i].whole;
        if (!is_removed(i)) {
            slots.insert(slots.end(), whole.data, whole.data + whole.size);
        } else if (change_.remove_opened != 0 && opened_[i] && !added) {
            if (add_slots(slots) != WARPSEAL_OK) return fault.status;
            added = true;
        }
    }
    return added ? WARPSEAL_OK : add_slots(slots);
}

warpseal_status SlotsChange::sync() {
    while (fsync(fd_) != 0)
        if (errno != EINTR) return fault.say_system(errno, "syncing the file failed");
    return WARPSEAL_OK;
}

// back: as large as the copy, for reading it again.
warpseal_status SlotsChange::write_one(int index, const std::vector<uint8_t>& copy,
                                       std::vector<uint8_t>& back) {
    const uint64_t offset = static_cast<uint64_t>(header_.copy(index) - header_.bytes.data());
    if (sink_.write(offset, copy.data(), copy.size(), fault) != WARPSEAL_OK ||
        sync() != WARPSEAL_OK)
        return fault.status;
    size_t got = 0;
    if (source_.read(offset, back.data(), back.size(), got, fault) != WARPSEAL_OK)
        return fault.status;
    if (got == copy.size() && back == copy) return WARPSEAL_OK;
    return fault.say(WARPSEAL_IO, "the header does not read back as it was written");
}

// after_one: what is true where only the first copy is written, for the message.
warpseal_status SlotsChange::write_both(uint32_t slot_count, const std::vector<uint8_t>& slots,
                                        const char* after_one) {
    // After the first write nothing is allocated, so that no copy is written without the other.
    std::vector<uint8_t> copy(header_.fixed.copy_bytes), back(copy.size());
    write_copy(header_.bytes.data(), header_.fixed, in_force().generation + 1, slot_count,
               {slots.data(), slots.size()}, data_key_, copy.data());
    if (options_.secrets_used != nullptr) options_.secrets_used(options_.secrets_user);
    // The copy in force may be from a run that was killed before its sync.
    if (sync() != WARPSEAL_OK || write_one(1 - in_force_, copy, back) != WARPSEAL_OK)
        return fault.status;
    change_.in_force = 1;
    if (write_one(in_force_, copy, back) == WARPSEAL_OK) return WARPSEAL_OK;
    const Fault why = fault;
    std::snprintf(fault.message, sizeof fault.message,
                  "%s, but the second header copy is not written: %.160s", after_one, why.message);
    return fault.status;
}

// Slot numbers came from a copy that is not in force, so they may mean other slots.
warpseal_status SlotsChange::repair() {
    std::vector<uint8_t> slots;
    const HeaderCopy& copy = in_force();
    for (uint32_t i = 0; i < copy.slot_count; ++i)
        slots.insert(slots.end(), copy.slots[i].whole.data,
                     copy.slots[i].whole.data + copy.slots[i].whole.size);
    const uint32_t slot_count = copy.slot_count;
    (void)write_both(slot_count, slots, "nothing was removed");
    change_.in_force = 0;  // The change that was asked for is not.
    if (fault.status != WARPSEAL_OK) return fault.status;
    return fault.say(WARPSEAL_NOT_AUTHENTIC,
                     "the newer copy of the header was damaged, so that the slots have other "
                     "numbers. The header is repaired now: list the slots again");
}

// Checks what does not depend on the file.
warpseal_status SlotsChange::check() {
    if (check_options(options_, SecretUse::open, fault) != WARPSEAL_OK) return fault.status;
    if (is_bare(options_))
        return fault.say(WARPSEAL_INVALID_ARGUMENT, "a cobblestone message has no key slots");
    for (size_t i = 0; i < change_.add_count; ++i)
        if (check_secret(change_.add[i], SecretUse::seal, fault) != WARPSEAL_OK)
            return fault.status;
    if (change_.add_count > WARPSEAL_MAX_SLOTS)
        return fault.say(WARPSEAL_LIMIT_EXCEEDED, "a file has at most %d key slots",
                         WARPSEAL_MAX_SLOTS);
    return check_cost(argon2_cost(options_), 0, fault);
}

warpseal_status SlotsChange::run() {
    FileLock lock(fd_);
    if (check() != WARPSEAL_OK || check_descriptor(fd_, fault) != WARPSEAL_OK ||
        lock.take(fault) != WARPSEAL_OK || open_header() != WARPSEAL_OK)
        return fault.status;
    // A key that opens only the damaged copy would not open the repaired file.
    if (change_.remove_count != 0 && header_.newest() != in_force_)
        return find_opened() == WARPSEAL_OK ? repair() : fault.status;
    std::vector<uint8_t> slots;
    if (choose_removed() != WARPSEAL_OK || find_opened() != WARPSEAL_OK ||
        check_result() != WARPSEAL_OK || make_slots(slots) != WARPSEAL_OK)
        return fault.status;
    return write_both(change_.slot_count, slots, "the change is in force");
}

}  // namespace

warpseal_status change_slots(Engine& engine, int fd, const warpseal_file_options& options,
                             warpseal_slots_change& change, warpseal_file_result& result,
                             SlotKeys* keys) {
    SlotsChange call(engine, fd, options, change, keys);
    try {
        (void)call.run();
    } catch (const std::bad_alloc&) {
        call.fault.say(WARPSEAL_OUT_OF_MEMORY, "out of memory");
    }
    result.header_copies_differ = call.header_copies_differ() ? 1 : 0;
    result.output_bytes = call.written_bytes();
    result.system_error = call.fault.system_error;
    memcpy(result.message, call.fault.message, sizeof result.message);
    if (call.fault.status != WARPSEAL_OK && change.in_force == 0)
        change.removed_count = change.slot_count = 0;
    return call.fault.status;
}

}  // namespace warpseal::container
