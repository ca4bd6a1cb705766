// Opening into an output that a later call can continue. A record of the journal is the keyed hash
// of a window's tags. The text of the window is authentic if sealing it again gives the same tags.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "container/opening.h"
#include "container/resume/journal.h"
#include "container/resume/resume.h"
#include "container/resume/windows.h"

namespace warpseal::container {
namespace {

using ull = unsigned long long;

class OpenRun {
public:
    explicit OpenRun(FileCall& call) : call_(call), resumption_(*call.resumption) {}
    warpseal_status run();

private:
    Fault& fault() { return call_.fault; }

    warpseal_status open_input();
    warpseal_status prepare(Journal& journal);
    warpseal_status open_all(Journal& journal);
    warpseal_status open_window(Windows& windows, Journal& journal, uint64_t window);
    // True if the text of that window is there, and authentic.
    warpseal_status is_kept(Windows& windows, Journal& journal, uint64_t window, bool& kept);

    FileCall& call_;
    Resumption& resumption_;
    Opened opened_;
    JournalSubject subject_;
};

warpseal_status OpenRun::open_input() {
    const ReadAt read = [this](uint64_t offset, void* out, size_t count, size_t& got, Fault& why) {
        return call_.source.read(offset, out, count, got, why);
    };
    const warpseal_status status =
        open_head(call_.engine, call_.options, read, opened_, fault(), call_.keys);
    call_.head_bytes = opened_.head_bytes;
    call_.header_copies_differ = opened_.header_copies_differ;
    if (status != WARPSEAL_OK) return status;
    const uint64_t bytes = call_.source.bytes() - call_.head_bytes;
    const uint64_t text_bytes = text_bytes_of(bytes);
    if (text_bytes == UINT64_MAX)
        return fault().say(WARPSEAL_TRUNCATED,
                           "the file ends early, at byte %llu: %llu bytes of its last chunk are "
                           "there, and that has at least %zu",
                           ull{call_.source.bytes()}, ull{bytes % chunk_bytes}, tag_bytes);
    if (text_bytes > max_text_bytes)
        return fault().say(WARPSEAL_LIMIT_EXCEEDED, "more than %llu chunks", ull{max_chunks});
    subject_.direction = Direction::decrypt;
    subject_.output_bytes = text_bytes;
    subject_.windows = window_count_of(text_bytes);
    return WARPSEAL_OK;
}

// Checks the unfinished output, or makes one.
warpseal_status OpenRun::prepare(Journal& journal) {
    struct stat about;
    if (fstat(resumption_.out_fd, &about) != 0)
        return fault().say_system(errno, "asking for the unfinished output's length failed");
    const auto bytes = static_cast<uint64_t>(about.st_size);
    if (bytes != 0) {
        if (!Journal::ends_in_one(resumption_.out_fd, bytes)) return refuse_other_file(call_);
        if (journal.check(resumption_.not_continued, fault()) != WARPSEAL_OK) return fault().status;
        resumption_.continued = resumption_.not_continued.status == WARPSEAL_OK;
        if (resumption_.continued) return WARPSEAL_OK;
        if (ftruncate(resumption_.out_fd, 0) != 0)
            return fault().say_system(errno, "emptying the unfinished output failed");
    }
    return journal.create(fault());
}

// Sealed in memory alone: what comes out is compared, and not released.
warpseal_status OpenRun::is_kept(Windows& windows, Journal& journal, uint64_t window, bool& kept) {
    uint8_t record[Journal::record_bytes], found[Journal::record_bytes];
    static constexpr uint8_t none[Journal::record_bytes] = {};
    kept = false;
    if (journal.read(window, found, fault()) != WARPSEAL_OK) return fault().status;
    if (memcmp(found, none, sizeof found) == 0) return WARPSEAL_OK;
    Source there(resumption_.out_fd, call_.progress, Access::random);
    if (windows.seal(window, there, 0, fault()) != WARPSEAL_OK) return fault().status;
    windows.record(opened_.journal_key, record);
    kept = equal_secret(found, record, sizeof found);
    return WARPSEAL_OK;
}

warpseal_status OpenRun::open_window(Windows& windows, Journal& journal, uint64_t window) {
    if (resumption_.continued) {
        bool kept = false;
        if (is_kept(windows, journal, window, kept) != WARPSEAL_OK) return fault().status;
        if (kept) {
            resumption_.kept_bytes += windows.text_bytes();
            return WARPSEAL_OK;
        }
    }
    uint8_t record[Journal::record_bytes];
    if (windows.open(window, call_.source, call_.head_bytes, fault()) != WARPSEAL_OK)
        return fault().status;
    windows.record(opened_.journal_key, record);
    if (windows.write(call_.sink, 0, fault()) != WARPSEAL_OK) return fault().status;
    return journal.write(window, record, fault());
}

warpseal_status OpenRun::open_all(Journal& journal) {
    Windows windows(call_.engine, *opened_.suite, opened_.payload, subject_.output_bytes,
                    Direction::decrypt);
    if (windows.allocate(fault()) != WARPSEAL_OK) return fault().status;
    for (uint64_t window = 0; window < windows.count(); ++window) {
        if (open_window(windows, journal, window) != WARPSEAL_OK) return fault().status;
        call_.done.text_bytes += windows.text_bytes();
        call_.done.target = windows.target();
        if (call_.progress.add(windows.text_bytes()))
            return fault().say(WARPSEAL_CANCELLED, "cancelled");
    }
    call_.done.written_bytes = call_.done.text_bytes;
    call_.done.read_bytes = sealed_bytes_of(call_.done.text_bytes);
    if (call_.source.finish(fault()) != WARPSEAL_OK) return fault().status;
    resumption_.output_bytes = subject_.output_bytes;
    return call_.sink.finish(subject_.output_bytes, fault());
}

warpseal_status OpenRun::run() {
    if (check_options(call_.options, SecretUse::open, fault()) != WARPSEAL_OK)
        return fault().status;
    if (!call_.source.positional())
        return fault().say(WARPSEAL_INVALID_ARGUMENT,
                           "the input is no regular file, or it is empty");
    if (open_input() != WARPSEAL_OK) return fault().status;
    call_.secrets_used();
    call_.progress.expect(subject_.output_bytes);
    Journal journal(resumption_.out_fd, subject_, opened_.journal_key, call_.progress);
    if (prepare(journal) != WARPSEAL_OK) return fault().status;
    return open_all(journal);
}

}  // namespace

warpseal_status open_resumable(FileCall& call) { return OpenRun(call).run(); }

}  // namespace warpseal::container
