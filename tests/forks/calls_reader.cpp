// Readers of sealed files, and messages in updates.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "calls.h"

namespace forks {
namespace {

constexpr uint8_t key[32] = {7};
constexpr warpseal_secret secret = {WARPSEAL_SECRET_KEY, key, sizeof key};

warpseal_file_options bare() {
    warpseal_file_options options{};
    options.struct_bytes = sizeof options;
    options.format = WARPSEAL_FORMAT_COBBLESTONE;
    options.secrets = &secret;
    options.secret_count = 1;
    return options;
}

// Seals or opens `in` in two updates.
bool in_updates(warpseal_cobblestone* message, const Bytes& in, Bytes& out) {
    const size_t half = in.size() / 2;
    size_t wrote = 0, done = 0;
    out.assign(in.size() + 100000, 0);
    RIGHT(warpseal_cobblestone_update_bytes(message, half) <= out.size());
    RIGHT(warpseal_cobblestone_update(message, in.data(), half, out.data(), out.size(), &wrote) ==
          WARPSEAL_OK);
    done = wrote;
    RIGHT(warpseal_cobblestone_update(message, in.data() + half, in.size() - half,
                                      out.data() + done, out.size() - done, &wrote) == WARPSEAL_OK);
    done += wrote;
    RIGHT(warpseal_cobblestone_finish_bytes(message) <= out.size() - done);
    RIGHT(warpseal_cobblestone_finish(message, out.data() + done, out.size() - done, &wrote) ==
          WARPSEAL_OK);
    out.resize(done + wrote);
    return true;
}

bool sealed(warpseal_engine* engine, Bytes& out) {
    warpseal_cobblestone* made = nullptr;
    RIGHT(warpseal_cobblestone_create_seal(engine, key, sizeof key, nullptr, 0, &made) ==
          WARPSEAL_OK);
    const Owned<warpseal_cobblestone> seal(made);
    return in_updates(made, text_of_readers(), out);
}

bool reads(const warpseal_reader* reader) {
    const Bytes text = text_of_readers();
    RIGHT(warpseal_reader_size(reader) == text.size());
    for (const size_t offset : {size_t{0}, size_t{5}, text.size() - 9}) {
        Bytes out(text.size());
        size_t got = 0;
        RIGHT(warpseal_reader_read_at(reader, offset, out.data(), out.size(), &got, nullptr) ==
              WARPSEAL_OK);
        RIGHT(got == text.size() - offset);
        RIGHT(std::equal(text.begin() + static_cast<ptrdiff_t>(offset), text.end(), out.begin()));
    }
    return true;
}

// The engine has no GPU.
bool no_device_reads(warpseal_engine* engine, const warpseal_reader* reader, int descriptor) {
    const warpseal_file_options options = bare();
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    uint8_t byte = 0;
    size_t got = 9;
    RIGHT(warpseal_reader_read_at_device(reader, 0, &byte, 1, nullptr, &got, nullptr) ==
              WARPSEAL_NO_DEVICE &&
          got == 0);
    RIGHT(warpseal_file_open_device(engine, descriptor, &options, 0, &byte, 1, nullptr, &got,
                                    &result) == WARPSEAL_NO_DEVICE);
    RIGHT(warpseal_file_seal_device(engine, &byte, 1, nullptr, descriptor, &options, &result) ==
          WARPSEAL_NO_DEVICE);
    return byte == 0;
}

int64_t read_memory(void* user, uint64_t offset, void* out, size_t bytes) {
    const Bytes& from = *static_cast<const Bytes*>(user);
    const size_t some = std::min<size_t>(bytes, from.size() - static_cast<size_t>(offset));
    std::memcpy(out, from.data() + offset, some);
    return static_cast<int64_t>(some);
}

}  // namespace

Bytes text_of_readers() {
    Bytes text(400000);
    for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<uint8_t>(i * 7 + i / 256);
    return text;
}

// The file needs no descriptor once it is open: memory holds it.
bool ParentReader::make(warpseal_engine* engine) {
    const warpseal_file_options options = bare();
    warpseal_reader* made = nullptr;
    RIGHT(sealed(engine, file));
    RIGHT(warpseal_reader_open_callback(engine, read_memory, &file, file.size(), &options, &made,
                                        nullptr) == WARPSEAL_OK);
    reader.reset(made);
    warpseal_cobblestone* begun = nullptr;
    RIGHT(warpseal_cobblestone_create_seal(engine, key, sizeof key, nullptr, 0, &begun) ==
          WARPSEAL_OK);
    message.reset(begun);
    return true;
}

bool readers(const Scene& scene) {
    Bytes file;
    RIGHT(sealed(scene.engine, file));
    const int descriptor = memfd_create("forks", MFD_CLOEXEC);
    RIGHT(write(descriptor, file.data(), file.size()) == static_cast<ssize_t>(file.size()) &&
          lseek(descriptor, 0, SEEK_SET) == 0);
    const warpseal_file_options options = bare();
    warpseal_reader* reader = nullptr;
    RIGHT(warpseal_reader_open(scene.engine, descriptor, &options, &reader, nullptr) ==
          WARPSEAL_OK);
    const bool right = reads(reader) && no_device_reads(scene.engine, reader, descriptor);
    warpseal_reader_close(reader);
    close(descriptor);
    RIGHT(right);
    return scene.parent == nullptr || reads(scene.parent->reading.reader.get());
}

bool messages_in_updates(const Scene& scene) {
    Bytes file, text;
    RIGHT(sealed(scene.engine, file));
    warpseal_cobblestone* made = nullptr;
    RIGHT(warpseal_cobblestone_create_open(scene.engine, key, sizeof key, nullptr, 0, &made) ==
          WARPSEAL_OK);
    const Owned<warpseal_cobblestone> open(made);
    RIGHT(in_updates(made, file, text) && text == text_of_readers());
    if (!scene.in_child || scene.parent == nullptr) return true;
    // The child must not go on with a message of its parent.
    size_t wrote = 0;
    RIGHT(warpseal_cobblestone_update(scene.parent->reading.message.get(), text.data(), 1,
                                      file.data(), file.size(),
                                      &wrote) == WARPSEAL_INVALID_ARGUMENT);
    RIGHT(std::strstr(warpseal_last_error_message(), "fork") != nullptr);
    return true;
}

}  // namespace forks
