// Reads key files and passphrases without leaving copies in stream buffers.
#include "cli/support/secrets.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "cli/support/interrupt.h"

namespace warpseal::cli {
namespace {

// Reads to the end of input or until the page is full. Throws Failure.
SecretBytes read_all(int descriptor, const std::string& shown) {
    SecretBytes secret;
    while (secret.size < SecretBytes::page_bytes) {
        const ssize_t got =
            read(descriptor, secret.data() + secret.size, SecretBytes::page_bytes - secret.size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Failure(ExitCode::input_output,
                          fmt::format("cannot read {}: {}.", shown, strerror(errno)));
        if (got == 0) break;
        secret.size += static_cast<size_t>(got);
    }
    return secret;
}

SecretBytes read_key_file(const std::string& path, warpseal_format format) {
    const std::string shown = "key file '" + path + "'";
    SecretBytes key = read_all(open_private(path, shown).get(), shown);
    const bool raw = format == WARPSEAL_FORMAT_COBBLESTONE;
    if (key.size == 32 || (raw && key.size == 16)) return key;
    throw Failure(ExitCode::usage,
                  fmt::format("{} has the wrong size: {}{} bytes, where {} are needed. `warpseal "
                              "keygen` makes key files.",
                              shown, key.size == SecretBytes::page_bytes ? "at least " : "",
                              key.size, raw ? "16 or 32" : "32"));
}

// Checks that a passphrase is one line, as a typed one is.
SecretBytes one_line(SecretBytes secret, const std::string& shown) {
    if (secret.size == SecretBytes::page_bytes)
        throw Failure(ExitCode::usage, fmt::format("{} is too long: at most {} bytes.", shown,
                                                   SecretBytes::page_bytes - 1));
    if (secret.size > 0 && secret.data()[secret.size - 1] == '\n') {
        --secret.size;
        if (secret.size > 0 && secret.data()[secret.size - 1] == '\r') --secret.size;
    }
    if (secret.size == 0) throw Failure(ExitCode::usage, fmt::format("{} is empty.", shown));
    if (memchr(secret.data(), '\n', secret.size))
        throw Failure(ExitCode::usage, fmt::format("{} has more than one line.", shown));
    return secret;
}

void write_terminal(int terminal, const char* text) {
    if (write(terminal, text, strlen(text)) < 0)
        throw Failure(ExitCode::input_output, "cannot write to the terminal.");
}

// Reads one line from the terminal. In canonical mode, read(2) returns a whole line.
SecretBytes ask(int terminal, const char* prompt) {
    write_terminal(terminal, prompt);
    SecretBytes secret;
    while (secret.size == 0 || secret.data()[secret.size - 1] != '\n') {
        pollfd ready[] = {{terminal, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            throw Failure(ExitCode::input_output, "cannot read the terminal.");
        if (const int signal_number = interrupted_by()) {
            write_terminal(terminal, "\n");
            throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
        }
        if (ready[0].revents == 0) continue;
        const ssize_t got =
            read(terminal, secret.data() + secret.size, SecretBytes::page_bytes - secret.size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Failure(ExitCode::input_output,
                          fmt::format("cannot read the terminal: {}.", strerror(errno)));
        if (got == 0) break;
        secret.size += static_cast<size_t>(got);
    }
    write_terminal(terminal, "\n");
    return one_line(std::move(secret), "the passphrase");
}

SecretBytes ask_passphrase(bool confirm) {
    Descriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
    termios shown;
    if (!terminal || tcgetattr(terminal.get(), &shown) != 0)
        throw Failure(ExitCode::usage,
                      "there is no terminal to ask for a passphrase: use --passphrase-file, "
                      "--passphrase-fd or -k.");
    termios hidden = shown;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    hidden.c_lflag |= ICANON;
    // A suspended program would leave the terminal without echo.
    hidden.c_cc[VSUSP] = _POSIX_VDISABLE;
    const TerminalSettings restore(terminal.get(), shown);
    if (tcsetattr(terminal.get(), TCSAFLUSH, &hidden) != 0)
        throw Failure(ExitCode::input_output, "cannot turn the terminal's echo off.");
    SecretBytes first = ask(terminal.get(), "Passphrase: ");
    if (!confirm) return first;
    const SecretBytes second = ask(terminal.get(), "Passphrase again: ");
    if (first.size != second.size || memcmp(first.data(), second.data(), first.size) != 0)
        throw Failure(ExitCode::usage, "the two passphrases differ: nothing was written.");
    return first;
}

}  // namespace

SecretBytes::SecretBytes(size_t capacity) : capacity_(capacity) {
    void* const memory =
        mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<uint8_t*>(memory);
    // Best effort: a low RLIMIT_MEMLOCK is not an error.
    (void)mlock(memory, capacity);
    (void)madvise(memory, capacity, MADV_DONTDUMP);
    (void)madvise(memory, capacity, MADV_WIPEONFORK);
}

SecretBytes::SecretBytes(SecretBytes&& other) noexcept
    : size(std::exchange(other.size, 0)),
      capacity_(other.capacity_),
      data_(std::exchange(other.data_, nullptr)) {}

SecretBytes::~SecretBytes() {
    if (!data_) return;
    warpseal_wipe(data_, capacity_);
    munmap(data_, capacity_);
}

void add_secret_options(CLI::App& command, SecretChoice& choice) {
    command
        .add_option("-k,--key", choice.key_files,
                    "key file: 32 bytes, private (mode 0600); may be given several times")
        ->type_name("KEYFILE")
        ->allow_extra_args(false);
    command.add_flag("-p,--passphrase", choice.ask, "ask for a passphrase on the terminal");
    command
        .add_option("--passphrase-file", choice.passphrase_files,
                    "passphrase: the one line of this file")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        .add_option("--passphrase-fd", choice.passphrase_descriptor,
                    "passphrase: the one line read from this open descriptor")
        ->type_name("N")
        ->check(CLI::Range(0, 1 << 20));
}

Secrets::Secrets(const SecretChoice& choice, warpseal_format format, bool confirm) {
    for (const std::string& path : choice.key_files)
        add(WARPSEAL_SECRET_KEY, read_key_file(path, format));
    for (const std::string& path : choice.passphrase_files) {
        const std::string shown = "passphrase file '" + path + "'";
        add(WARPSEAL_SECRET_PASSPHRASE,
            one_line(read_all(open_private(path, shown).get(), shown), shown));
    }
    if (choice.passphrase_descriptor >= 0) {
        const std::string shown =
            fmt::format("the passphrase on descriptor {}", choice.passphrase_descriptor);
        add(WARPSEAL_SECRET_PASSPHRASE,
            one_line(read_all(choice.passphrase_descriptor, shown), shown));
    }
    if (choice.ask) add(WARPSEAL_SECRET_PASSPHRASE, ask_passphrase(confirm));
}

void check_passphrase_descriptor(const SecretChoice& choice) {
    if (choice.passphrase_descriptor < 0) return;
    // The program's own descriptors are close-on-exec; descriptors that it was started with are
    // not.
    const int flags = fcntl(choice.passphrase_descriptor, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0)
        throw Failure(
            ExitCode::input_output,
            fmt::format(
                "cannot read the passphrase on descriptor {}: it was not open when the program "
                "started. Open it in the shell: {}<FILE.",
                choice.passphrase_descriptor, choice.passphrase_descriptor));
}

void Secrets::wipe() {
    list_.clear();
    memory_.clear();
}

bool Secrets::has_short_passphrase() const {
    return std::any_of(list_.begin(), list_.end(), [](const warpseal_secret& secret) {
        const auto* const text = static_cast<const uint8_t*>(secret.bytes);
        // Counts UTF-8 characters: all bytes except continuation bytes.
        const auto characters = std::count_if(text, text + secret.byte_count,
                                              [](uint8_t byte) { return (byte & 0xc0) != 0x80; });
        return secret.type == WARPSEAL_SECRET_PASSPHRASE &&
               static_cast<size_t>(characters) < short_characters;
    });
}

void Secrets::add(warpseal_secret_type type, SecretBytes bytes) {
    list_.push_back({type, bytes.data(), bytes.size});
    memory_.push_back(std::move(bytes));
}

SecretBytes read_raw_key(const std::string& path, size_t key_bytes) {
    const std::string shown = "key file '" + path + "'";
    SecretBytes key = read_all(open_private(path, shown).get(), shown);
    if (key.size == key_bytes) return key;
    throw Failure(
        ExitCode::usage,
        fmt::format("{} has the wrong size: {}{} bytes, where {} are needed.", shown,
                    key.size == SecretBytes::page_bytes ? "at least " : "", key.size, key_bytes));
}

Descriptor open_private(const std::string& path, const std::string& shown) {
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        throw Failure(ExitCode::input_missing,
                      fmt::format("there is no {}: check the path.", shown));
    struct stat about;
    if (!file || fstat(file.get(), &about) != 0)
        throw Failure(ExitCode::input_output,
                      fmt::format("cannot open {}: {}.", shown, strerror(errno)));
    if (S_ISREG(about.st_mode) && (about.st_mode & 077) != 0)
        throw Failure(
            ExitCode::usage,
            fmt::format("{} is open to others (mode {:04o}): make it private with chmod 600.",
                        shown, static_cast<unsigned>(about.st_mode & 07777)));
    return file;
}

bool has_terminal() {
    return static_cast<bool>(Descriptor(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)));
}

}  // namespace warpseal::cli
