// Readers of sealed files, and messages in updates.
#include "warpseal/reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "handles.h"
#include "warpseal/cobblestone.h"
#include "warpseal/error.h"
#include "works.h"

namespace works {
namespace {

constexpr size_t update_bytes = 300000;

uint8_t sealed[most_bytes + 100000], opened[most_bytes];
size_t sealed_bytes;

void must_have_a_message(const char* function, warpseal_status status) {
    if (status != WARPSEAL_OK && warpseal_last_error_message()[0] == 0)
        complain(function, "a failure without a message");
}

class Message {
public:
    using Create = decltype(&warpseal_cobblestone_create_seal);

    Message(const Engine& engine, const char* function, Create create) : status(engine.status) {
        if (status != WARPSEAL_OK) return;
        status = checked(function, {},
                         [&] { return create(engine.get(), secret, 32, nullptr, 0, &message_); });
        must_have_a_message(function, status);
        if ((status == WARPSEAL_OK) != (message_ != nullptr))
            complain(function, "a handle after a failure, or none");
    }
    ~Message() {
        called("warpseal_cobblestone_destroy", [&] { warpseal_cobblestone_destroy(message_); });
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    // Updates, then the end. After a failure nothing of the update is written.
    warpseal_status whole(const uint8_t* in, size_t bytes, uint8_t* out, size_t capacity,
                          size_t& done) {
        size_t wrote = 0;
        done = 0;
        for (size_t at = 0; at < bytes && status == WARPSEAL_OK; at += update_bytes) {
            const size_t some = std::min(update_bytes, bytes - at);
            const size_t planned = warpseal_cobblestone_update_bytes(message_, some);
            status = checked("warpseal_cobblestone_update", {{out + done, planned}}, [&] {
                return warpseal_cobblestone_update(message_, in + at, some, out + done,
                                                   capacity - done, &wrote);
            });
            done += wrote;
        }
        must_have_a_message("warpseal_cobblestone_update", status);
        if (status != WARPSEAL_OK) return status;
        const size_t planned = warpseal_cobblestone_finish_bytes(message_);
        status = checked("warpseal_cobblestone_finish", {{out + done, planned}}, [&] {
            return warpseal_cobblestone_finish(message_, out + done, capacity - done, &wrote);
        });
        done += wrote;
        must_have_a_message("warpseal_cobblestone_finish", status);
        return status;
    }

    warpseal_status status;

private:
    warpseal_cobblestone* message_ = nullptr;
};

warpseal_status seal_text(const Engine& engine) {
    Message message(engine, "warpseal_cobblestone_create_seal", warpseal_cobblestone_create_seal);
    return message.whole(text, text_bytes, sealed, sizeof sealed, sealed_bytes);
}

int64_t read_sealed(void*, uint64_t offset, void* out, size_t bytes) {
    const size_t some = std::min<size_t>(bytes, sealed_bytes - static_cast<size_t>(offset));
    std::memcpy(out, sealed + offset, some);
    return static_cast<int64_t>(some);
}

class Reader {
public:
    // descriptor: of the sealed file; -1: a callback reads it.
    Reader(const Engine& engine, int descriptor) {
        const warpseal_secret key = {WARPSEAL_SECRET_KEY, secret, 32};
        warpseal_file_options options = {};
        options.struct_bytes = sizeof options;
        options.format = WARPSEAL_FORMAT_COBBLESTONE;
        options.secrets = &key, options.secret_count = 1;
        const char* const function =
            descriptor < 0 ? "warpseal_reader_open_callback" : "warpseal_reader_open";
        status = checked(function, {}, [&] {
            return descriptor < 0
                       ? warpseal_reader_open_callback(engine.get(), read_sealed, nullptr,
                                                       sealed_bytes, &options, &reader_, nullptr)
                       : warpseal_reader_open(engine.get(), descriptor, &options, &reader_,
                                              nullptr);
        });
        must_have_a_message(function, status);
        if ((status == WARPSEAL_OK) != (reader_ != nullptr))
            complain(function, "a handle after a failure, or none");
    }
    ~Reader() {
        called("warpseal_reader_close", [&] { warpseal_reader_close(reader_); });
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    warpseal_status read_all() const {
        size_t got = 0;
        return Steps({status})
            .then("warpseal_reader_read_at", {{opened, sizeof opened}},
                  [&] {
                      return warpseal_reader_read_at(reader_, 0, opened, sizeof opened, &got,
                                                     nullptr);
                  })
            .and_if_all_did([&] {
                if (got != text_bytes || std::memcmp(opened, text, got) != 0)
                    complain("warpseal_reader_read_at", "a wrong text");
            });
    }

    warpseal_status status;

private:
    warpseal_reader* reader_ = nullptr;
};

}  // namespace

warpseal_status reader() {
    const Engine engine(3);
    return Steps({engine.status})
        .run([&] { return seal_text(engine); })
        .run([&] { return Reader(engine, -1).read_all(); })
        .run([&] {
            const int descriptor = memfd_create("", MFD_CLOEXEC);
            if (pwrite(descriptor, sealed, sealed_bytes, 0) != static_cast<ssize_t>(sealed_bytes))
                complain("the test", "cannot write its input");
            const warpseal_status status = Reader(engine, descriptor).read_all();
            (void)close(descriptor);
            return status;
        });
}

warpseal_status updates() {
    const Engine engine(3);
    size_t got = 0;
    return Steps({engine.status})
        .run([&] { return seal_text(engine); })
        .run([&] {
            Message message(engine, "warpseal_cobblestone_create_open",
                            warpseal_cobblestone_create_open);
            return message.whole(sealed, sealed_bytes, opened, sizeof opened, got);
        })
        .and_if_all_did([&] {
            if (got != text_bytes || std::memcmp(opened, text, got) != 0)
                complain("warpseal_cobblestone_update", "a wrong text");
        });
}

}  // namespace works
