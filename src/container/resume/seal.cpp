// Sealing into an output that a later call can continue. The chunks of a window are written after
// the keyed hash of their tags is on the disk. So a later call knows of each window if it may have
// been written, and if the input still has the same text there.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "container/bytes.h"
#include "container/opening.h"
#include "container/resume/journal.h"
#include "container/resume/resume.h"
#include "container/resume/windows.h"

namespace warpseal::container {
namespace {

constexpr char recipients_label[] = "recipients";

// Keys and place of the chunks, of a new output or of one that is continued.
struct Begun {
    const PayloadKey* payload = nullptr;
    const Secret<hmac_bytes>* journal_key = nullptr;
    uint64_t head_bytes = 0;
};

class SealRun {
public:
    explicit SealRun(FileCall& call) : call_(call), resumption_(*call.resumption) {}
    warpseal_status run();

private:
    Fault& fault() { return call_.fault; }
    bool is_there() const { return call_.resumption->continued; }
    // False: it is begun anew, for the reason in resumption_.not_continued.
    bool give_up(const char* reason) {
        resumption_.not_continued.say(WARPSEAL_IO, "%s", reason);
        return false;
    }

    warpseal_status find_subject();
    // Opens the unfinished output, and sets `usable` if it is one of this input and these keys.
    warpseal_status reopen(uint64_t bytes, bool& usable);
    warpseal_status open_it(const ReadAt& read, bool& usable);
    bool has_no_head(const ReadAt& read);
    bool has_same_slots(const ReadAt& read, SlotKeys& keys);
    warpseal_status begin();
    void set_recipients(const Secret<hmac_bytes>& key);
    void use(const PayloadKey& payload, const Secret<hmac_bytes>& journal_key, uint64_t head_bytes);

    warpseal_status seal_all();
    warpseal_status seal_window(Windows& windows, Journal& journal, uint64_t window);
    warpseal_status write_new(Windows& windows, Journal& journal, uint64_t window,
                              const uint8_t* record);
    warpseal_status finish();
    warpseal_status sync(Journal& journal);
    warpseal_status discard(const char* reason);

    FileCall& call_;
    Resumption& resumption_;
    const Suite* suite_ = nullptr;
    std::vector<warpseal_secret> opening_;  // secrets that open what they seal
    JournalSubject subject_;
    Opened opened_;
    Opened made_;
    Begun begun_;
};

// Recipients do not open what is sealed for them.
std::vector<warpseal_secret> opening_secrets(const warpseal_file_options& options) {
    std::vector<warpseal_secret> opening;
    for (size_t i = 0; i < options.secret_count; ++i)
        if (options.secrets[i].type != WARPSEAL_SECRET_RECIPIENT &&
            !is_stanza_secret(options.secrets[i]))
            opening.push_back(options.secrets[i]);
    return opening;
}

// Identifies the input and its state before anything is read from it.
warpseal_status SealRun::find_subject() {
    struct stat about;
    const off_t position = lseek(resumption_.in_fd, 0, SEEK_CUR);
    if (position < 0 || fstat(resumption_.in_fd, &about) != 0)
        return fault().say_system(errno, "asking for the input's length failed");
    const auto number = [](auto value) { return static_cast<uint64_t>(value); };
    const uint64_t input[] = {
        number(about.st_dev),         number(about.st_ino),          number(position),
        call_.source.bytes(),         number(about.st_mtim.tv_sec),  number(about.st_mtim.tv_nsec),
        number(about.st_ctim.tv_sec), number(about.st_ctim.tv_nsec),
    };
    static_assert(sizeof input == sizeof subject_.input);
    memcpy(subject_.input, input, sizeof input);
    subject_.windows = window_count_of(call_.source.bytes());
    return WARPSEAL_OK;
}

void SealRun::use(const PayloadKey& payload, const Secret<hmac_bytes>& journal_key,
                  uint64_t head_bytes) {
    begun_ = {&payload, &journal_key, head_bytes};
    call_.head_bytes = head_bytes;
    subject_.output_bytes = head_bytes + sealed_bytes_of(call_.source.bytes());
    set_recipients(journal_key);
}

// Public keys are hashed as texts. Keys and passphrases are compared with their slots instead: a
// hash would make guessing a passphrase cheap for who can open the file otherwise.
void SealRun::set_recipients(const Secret<hmac_bytes>& key) {
    std::vector<uint8_t> texts;
    for (size_t i = 0; i < call_.options.secret_count; ++i) {
        const warpseal_secret& secret = call_.options.secrets[i];
        // A stanza holds a file key. If the caller drew a new one, the file is begun anew.
        if (secret.type != WARPSEAL_SECRET_RECIPIENT && !is_stanza_secret(secret)) continue;
        const auto* const bytes = static_cast<const uint8_t*>(secret.bytes);
        uint8_t length[8];
        put64(length, secret.byte_count);
        texts.insert(texts.end(), length, length + sizeof length);
        texts.insert(texts.end(), bytes, bytes + secret.byte_count);
    }
    const Bytes parts[] = {text_bytes(recipients_label), {texts.data(), texts.size()}};
    hmac({key.data(), key.size()}, {parts, 2}, subject_.recipients);
}

// Compares the slots, which are in the order of the secrets, with those that a new file would have.
bool SealRun::has_same_slots(const ReadAt& read, SlotKeys& keys) {
    Header header;
    Fault ignored;
    if (read_header(read, header, ignored) != WARPSEAL_OK || opened_.header_copies_differ)
        return give_up("its header is damaged");
    const HeaderCopy& copy = header.copies[0];
    const Argon2Cost cost = argon2_cost(call_.options);
    bool same = copy.slot_count == call_.options.secret_count;
    for (uint32_t i = 0; same && i < copy.slot_count; ++i) {
        const warpseal_secret& secret = call_.options.secrets[i];
        const Slot& slot = copy.slots[i];
        same = slot.type == slot_type_of(secret);
        if (!same || secret.type == WARPSEAL_SECRET_RECIPIENT || is_stanza_secret(secret)) continue;
        if (secret.type == WARPSEAL_SECRET_PASSPHRASE) {
            const Argon2Cost its = passphrase_cost(slot);
            same = its.passes == cost.passes && its.memory_kib == cost.memory_kib;
            if (!same) continue;
        }
        Secret<data_key_bytes> data_key;
        Fault wrong;
        same = open_slot(call_.engine, header.fixed.bytes, slot, secret, data_key, wrong, &keys) ==
               WARPSEAL_OK;
    }
    return same || give_up("its keys were others");
}

// True if the run ended between the last block and the head. No key opens the zeros of a bare one.
bool SealRun::has_no_head(const ReadAt& read) {
    uint8_t head[payload_head_bytes];
    static constexpr uint8_t none[payload_head_bytes] = {};
    size_t got = 0;
    Fault ignored;
    return read(0, head, sizeof head, got, ignored) == WARPSEAL_OK && got == sizeof head &&
           memcmp(head, none, sizeof head) == 0;
}

// Continues with `usable` false if the output is one that nobody can continue.
warpseal_status SealRun::open_it(const ReadAt& read, bool& usable) {
    SlotKeys own;
    SlotKeys& keys = call_.keys != nullptr ? *call_.keys : own;
    warpseal_file_options options = call_.options;
    options.secrets = opening_.data();
    options.secret_count = opening_.size();
    Fault why;
    switch (open_head(call_.engine, options, read, opened_, why, &keys)) {
        case WARPSEAL_OK: break;
        case WARPSEAL_NOT_AUTHENTIC:
        case WARPSEAL_TRUNCATED:
        case WARPSEAL_UNSUPPORTED: usable = give_up("its header is damaged"); return WARPSEAL_OK;
        default:
            if (why.status == WARPSEAL_WRONG_KEY && has_no_head(read)) {
                usable = give_up("its header is missing");
                return WARPSEAL_OK;
            }
            fault() = why;
            return why.status;
    }
    if (opened_.suite != suite_)
        usable = give_up("its cipher is another");
    else
        usable = is_bare(call_.options) || has_same_slots(read, keys);
    return WARPSEAL_OK;
}

warpseal_status SealRun::reopen(uint64_t bytes, bool& usable) {
    usable = false;
    if (bytes == 0) return WARPSEAL_OK;
    if (!Journal::ends_in_one(resumption_.out_fd, bytes)) return refuse_other_file(call_);
    Source there(resumption_.out_fd, call_.progress, Access::random);
    const ReadAt read = [&there](uint64_t offset, void* out, size_t count, size_t& got,
                                 Fault& why) { return there.read(offset, out, count, got, why); };
    if (open_it(read, usable) != WARPSEAL_OK || !usable) return fault().status;
    use(opened_.payload, opened_.journal_key, opened_.head_bytes);
    Journal journal(resumption_.out_fd, subject_, *begun_.journal_key, call_.progress);
    if (journal.check(resumption_.not_continued, fault()) != WARPSEAL_OK) return fault().status;
    usable = resumption_.not_continued.status == WARPSEAL_OK;
    // A run that was killed may have left records that the disk does not have.
    return usable ? sync(journal) : WARPSEAL_OK;
}

warpseal_status SealRun::begin() {
    if (ftruncate(resumption_.out_fd, 0) != 0)
        return fault().say_system(errno, "emptying the unfinished output failed");
    std::vector<uint8_t> front;
    if (make_front(call_, *suite_, made_, front) != WARPSEAL_OK) return fault().status;
    use(made_.payload, made_.journal_key, made_.head_bytes);
    Journal journal(resumption_.out_fd, subject_, *begun_.journal_key, call_.progress);
    if (journal.create(fault()) != WARPSEAL_OK) return fault().status;
    return call_.sink.write(0, front.data(), front.size(), fault());
}

// The kernel may drop what it could not write, and not say so again: a later run would read records
// that the disk never had. So none continues after a failure.
warpseal_status SealRun::sync(Journal& journal) {
    if (journal.sync(fault()) == WARPSEAL_OK) return WARPSEAL_OK;
    if (ftruncate(resumption_.out_fd, 0) != 0)
        return fault().say_system(errno, "emptying the unfinished output failed");
    return fault().status;
}

// Empties an output that can neither be continued nor completed.
warpseal_status SealRun::discard(const char* reason) {
    if (ftruncate(resumption_.out_fd, 0) != 0)
        return fault().say_system(errno, "%s, and the unfinished output could not be emptied",
                                  reason);
    return fault().say(WARPSEAL_IO,
                       "%s: the unfinished output was discarded. Run the command again", reason);
}

warpseal_status SealRun::write_new(Windows& windows, Journal& journal, uint64_t window,
                                   const uint8_t* record) {
    if (is_there()) {
        Source there(resumption_.out_fd, call_.progress, Access::random);
        Windows::There found = Windows::There::other;
        if (windows.compare(there, call_.head_bytes, found, fault()) != WARPSEAL_OK)
            return fault().status;
        if (found != Windows::There::zeros)
            return discard("the unfinished output holds chunks that its journal does not know");
    }
    // The disk must know of the window before anybody can see a chunk of it.
    if (journal.write(window, record, fault()) != WARPSEAL_OK || sync(journal) != WARPSEAL_OK)
        return fault().status;
    return windows.write(call_.sink, call_.head_bytes, fault());
}

warpseal_status SealRun::seal_window(Windows& windows, Journal& journal, uint64_t window) {
    uint8_t record[Journal::record_bytes], found[Journal::record_bytes] = {};
    static constexpr uint8_t none[Journal::record_bytes] = {};
    if (windows.seal(window, call_.source, 0, fault()) != WARPSEAL_OK) return fault().status;
    windows.record(*begun_.journal_key, record);
    if (is_there() && journal.read(window, found, fault()) != WARPSEAL_OK) return fault().status;
    if (memcmp(found, none, sizeof found) == 0) return write_new(windows, journal, window, record);
    if (memcmp(found, record, sizeof found) != 0)
        return discard(
            "the input is not the one that was encrypted before, although its times are, or the "
            "journal is damaged");
    // The text is the one that was sealed before, so the chunks are too: none is a second one
    // under its nonce.
    Source there(resumption_.out_fd, call_.progress, Access::random);
    Windows::There written = Windows::There::other;
    if (windows.compare(there, call_.head_bytes, written, fault()) != WARPSEAL_OK)
        return fault().status;
    if (written != Windows::There::same)
        return windows.write(call_.sink, call_.head_bytes, fault());
    resumption_.kept_bytes += windows.text_bytes();
    return WARPSEAL_OK;
}

warpseal_status SealRun::seal_all() {
    Journal journal(resumption_.out_fd, subject_, *begun_.journal_key, call_.progress);
    Windows windows(call_.engine, *suite_, *begun_.payload, call_.source.bytes(),
                    Direction::encrypt);
    if (windows.allocate(fault()) != WARPSEAL_OK) return fault().status;
    for (uint64_t window = 0; window < windows.count(); ++window) {
        if (seal_window(windows, journal, window) != WARPSEAL_OK) return fault().status;
        call_.done.text_bytes += windows.text_bytes();
        call_.done.target = windows.target();
        if (call_.progress.add(windows.text_bytes()))
            return fault().say(WARPSEAL_CANCELLED, "cancelled");
    }
    return finish();
}

warpseal_status SealRun::finish() {
    call_.done.read_bytes = call_.done.text_bytes;
    call_.done.written_bytes = sealed_bytes_of(call_.done.text_bytes);
    if (call_.source.finish(fault()) != WARPSEAL_OK ||
        call_.source.check_unchanged(fault()) != WARPSEAL_OK)
        return fault().status;
    resumption_.output_bytes = subject_.output_bytes;
    return call_.sink.finish(subject_.output_bytes, fault());
}

warpseal_status SealRun::run() {
    struct stat about;
    bool usable = false;
    if (check_options(call_.options, SecretUse::seal, fault()) != WARPSEAL_OK ||
        check_sealing(call_.options, suite_, fault()) != WARPSEAL_OK)
        return fault().status;
    opening_ = opening_secrets(call_.options);
    if (opening_.empty())
        return fault().say(WARPSEAL_INVALID_ARGUMENT,
                           "recipients alone do not open an unfinished output");
    if (!call_.source.positional())
        return fault().say(WARPSEAL_INVALID_ARGUMENT,
                           "the input is no regular file, or it is empty");
    if (call_.source.bytes() > max_text_bytes)
        return fault().say(WARPSEAL_LIMIT_EXCEEDED, "the input is longer than a payload can be");
    if (fstat(resumption_.out_fd, &about) != 0)
        return fault().say_system(errno, "asking for the unfinished output's length failed");
    if (find_subject() != WARPSEAL_OK ||
        reopen(static_cast<uint64_t>(about.st_size), usable) != WARPSEAL_OK)
        return fault().status;
    resumption_.continued = usable;
    if (!usable && begin() != WARPSEAL_OK) return fault().status;
    call_.secrets_used();
    call_.progress.expect(call_.source.bytes());
    return seal_all();
}

}  // namespace

warpseal_status seal_resumable(FileCall& call) { return SealRun(call).run(); }

}  // namespace warpseal::container
