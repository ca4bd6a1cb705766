// Files: sealing, opening, rescue, key slots, information.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "handles.h"
#include "warpseal/slots.h"
#include "works.h"

namespace works {
namespace {

uint8_t sealed[most_bytes + 100000], damaged[sizeof sealed + 100], read_back[sizeof damaged];
size_t sealed_bytes = 0;

// A file without a name.
class MemoryFile {
public:
    MemoryFile() : descriptor_(memfd_create("", MFD_CLOEXEC)) {}
    MemoryFile(const uint8_t* bytes, size_t count) : MemoryFile() {
        if (pwrite(descriptor_, bytes, count, 0) != static_cast<ssize_t>(count))
            complain("the test", "cannot write its input");
    }
    ~MemoryFile() { (void)close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    int get() const { return descriptor_; }
    // Copies what it contains to read_back.
    size_t read() const {
        const ssize_t bytes = pread(descriptor_, read_back, sizeof read_back, 0);
        if (bytes < 0) complain("the test", "cannot read an output");
        return static_cast<size_t>(bytes);
    }

private:
    const int descriptor_;
};

const warpseal_secret secrets[] = {{WARPSEAL_SECRET_KEY, secret, 32},
                                   {WARPSEAL_SECRET_PASSPHRASE, "passphrase", 10}};

// A pair of texts for one recipient.
constexpr char recipient_text[] = "age140wn03u8329te2ruznm3mhgl973pwtlq7kevav8ydvd7usdhes2q987e7v";
constexpr char identity_text[] =
    "AGE-SECRET-KEY-1WURK6ZNNRZJH60QKC9E9RVNXGKS2PG9Q5ZS2PG9Q5ZS2PG9Q5ZSQH2QWQ4";
const warpseal_secret recipient = {WARPSEAL_SECRET_RECIPIENT, recipient_text,
                                   sizeof recipient_text - 1};
const warpseal_secret identity = {WARPSEAL_SECRET_IDENTITY, identity_text,
                                  sizeof identity_text - 1};

warpseal_file_options options_with(const warpseal_secret* first, size_t count) {
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.secrets = first, options.secret_count = count;
    options.argon2_passes = 1, options.argon2_memory_kib = 64;
    return options;
}

// Opening tries the passphrase.
warpseal_file_options opening() {
    warpseal_file_options options = options_with(secrets + 1, 1);
    options.argon2_passes = options.argon2_memory_kib = 0;
    return options;
}

warpseal_file_result empty_result() {
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    return result;
}

// The plaintext of a failed call is a prefix.
void must_be_a_prefix(const char* function, const MemoryFile& opened, bool whole) {
    const size_t bytes = opened.read();
    if (bytes > text_bytes || (whole && bytes != text_bytes) ||
        std::memcmp(read_back, text, bytes) != 0)
        complain(function, "the output is no prefix of the text");
}

warpseal_status open_file(const Engine& engine, const uint8_t* bytes, size_t count,
                          const warpseal_file_options& options = opening()) {
    const MemoryFile in(bytes, count), opened;
    warpseal_file_result result = empty_result();
    const warpseal_status status = checked("warpseal_file_open", {}, [&] {
        return warpseal_file_open(engine.get(), in.get(), opened.get(), &options, &result);
    });
    must_be_a_prefix("warpseal_file_open", opened, status == WARPSEAL_OK);
    if ((result.message[0] == 0) != (status == WARPSEAL_OK))
        complain("warpseal_file_open", "a failure without a message");
    return status;
}

// A sealed text must open.
warpseal_status seal_and_open(const warpseal_file_options& seal_options,
                              const warpseal_file_options& open_options) {
    const Engine engine(3);
    const MemoryFile plain(text, text_bytes), output;
    warpseal_file_result result = empty_result();
    return Steps({engine.status})
        .then("warpseal_file_seal",
              [&] {
                  return warpseal_file_seal(engine.get(), plain.get(), output.get(), &seal_options,
                                            &result);
              })
        .run([&] {
            const size_t bytes = output.read();
            return open_file(engine, read_back, bytes, open_options);
        });
}

warpseal_status seal_file() { return seal_and_open(options_with(secrets, 2), opening()); }

warpseal_status seal_for_recipient() {
    return seal_and_open(options_with(&recipient, 1), options_with(&identity, 1));
}

warpseal_status open_prepared() {
    const Engine engine(3);
    return Steps({engine.status}).run([&] { return open_file(engine, sealed, sealed_bytes); });
}

// A changed chunk, and bytes after the end: a rescue that fails is never finished, and one that
// does not finds the hole and the end.
warpseal_status rescue_file() {
    const Engine engine(3);
    const MemoryFile in(damaged, sealed_bytes + 40), rescued;
    const warpseal_file_options options = opening();
    warpseal_file_result result = empty_result();
    warpseal_rescue report = {};
    report.struct_bytes = sizeof report;
    return Steps({engine.status}).then("warpseal_file_rescue", [&] {
        const warpseal_status status =
            warpseal_file_rescue(engine.get(), in.get(), rescued.get(), &options, &report, &result);
        if (report.finished == 0) return status;
        if (status != WARPSEAL_NOT_AUTHENTIC || report.hole_count != 1 || report.end_found != 1 ||
            rescued.read() != text_bytes)
            complain("warpseal_file_rescue", "a wrong result");
        return WARPSEAL_OK;
    });
}

warpseal_status file_information() {
    const MemoryFile in(sealed, sealed_bytes);
    warpseal_file_info info = {};
    info.struct_bytes = sizeof info;
    warpseal_file_result result = empty_result();
    return Steps().then("warpseal_file_info_read",
                        [&] { return warpseal_file_info_read(in.get(), &info, &result); });
}

// The file opens before, during and after a change, with a secret that the change keeps.
warpseal_status slots_change() {
    const Engine engine(3);
    const MemoryFile file(sealed, sealed_bytes);
    const warpseal_file_options options = options_with(secrets, 2);
    warpseal_slots_change change = {};
    change.struct_bytes = sizeof change;
    change.add = secrets + 1, change.add_count = 1;
    warpseal_file_result result = empty_result();
    return Steps({engine.status})
        .then("warpseal_file_slots_change",
              [&] {
                  return warpseal_file_slots_change(engine.get(), file.get(), &options, &change,
                                                    &result);
              })
        .run([&] {
            if (change.slot_count != 3 || change.in_force != 1)
                complain("warpseal_file_slots_change", "a wrong result");
            const size_t bytes = file.read();
            return open_file(engine, read_back, bytes);
        });
}

}  // namespace

warpseal_status files() {
    return Steps()
        .run(seal_file)
        .run(seal_for_recipient)
        .run(open_prepared)
        .run(rescue_file)
        .run(slots_change)
        .run(file_information);
}

void prepare_files() {
    const Engine engine(3);
    const MemoryFile plain(text, text_bytes), output;
    const warpseal_file_options options = options_with(secrets, 2);
    warpseal_file_result result = empty_result();
    if (warpseal_file_seal(engine.get(), plain.get(), output.get(), &options, &result) !=
        WARPSEAL_OK)
        complain("prepare_files", "a call fails");
    sealed_bytes = output.read();
    std::copy(read_back, read_back + sealed_bytes, sealed);
    std::copy(sealed, sealed + sealed_bytes, damaged);
    std::fill(damaged + sealed_bytes / 2, damaged + sealed_bytes / 2 + 40, uint8_t{0});
    if (files() != WARPSEAL_OK) complain("prepare_files", "a call fails");
}

}  // namespace works
