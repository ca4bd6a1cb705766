// Reads key files and passphrases without leaving copies in stream buffers.
#include "cli/support/secrets.h"

#include <fcntl.h>
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
#include <optional>
#include <utility>

#include "cli/support/format.h"
#include "cli/support/interrupt.h"
#include "cli/support/keys/key_file.h"
#include "cli/support/output.h"

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
                          cli::format("cannot read {}: {}.", shown, strerror(errno)));
        if (got == 0) break;
        secret.size += static_cast<size_t>(got);
    }
    return secret;
}

// A read-only file of a group that this process belongs to, as secrets are mounted in containers.
bool is_for_own_group(const struct stat& about) {
    if ((about.st_mode & 07777) != 0440) return false;
    std::vector<gid_t> groups(static_cast<size_t>(std::max(getgroups(0, nullptr), 0)));
    const int count = getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(static_cast<size_t>(std::max(count, 0)));
    groups.push_back(getegid());
    return std::find(groups.begin(), groups.end(), about.st_gid) != groups.end();
}

// "-" is standard input.
SecretBytes read_key_file(const std::string& path, const std::vector<size_t>& lengths) {
    if (path != "-") {
        const std::string shown = "key file '" + path + "'";
        return decode_key(read_all(open_private(path, shown).get(), shown), lengths, shown);
    }
    const std::string shown = "the key on standard input";
    if (isatty(STDIN_FILENO))
        throw Failure(ExitCode::usage, "-k - does not read from a terminal, which shows the key.");
    return decode_key(read_all(open_input("-").get(), shown), lengths, shown);
}

SecretBytes read_key_command(const std::string& command, const std::vector<size_t>& lengths) {
    return decode_key(output_of_command(command), lengths, "the key that --key-command printed");
}

// Checks that a passphrase is one line, as a typed one is.
SecretBytes one_line(SecretBytes secret, const std::string& shown) {
    if (secret.size == SecretBytes::page_bytes)
        throw Failure(ExitCode::usage, cli::format("{} is too long: at most {} bytes.", shown,
                                                   SecretBytes::page_bytes - 1));
    if (secret.size > 0 && secret.data()[secret.size - 1] == '\n') {
        --secret.size;
        if (secret.size > 0 && secret.data()[secret.size - 1] == '\r') --secret.size;
    }
    if (secret.size == 0) throw Failure(ExitCode::usage, cli::format("{} is empty.", shown));
    if (memchr(secret.data(), '\n', secret.size))
        throw Failure(ExitCode::usage, cli::format("{} has more than one line.", shown));
    return secret;
}

void write_terminal(int terminal, const char* text) {
    if (write(terminal, text, strlen(text)) < 0)
        throw Failure(ExitCode::input_output, "cannot write to the terminal.");
}

// Reads one line from the terminal. In canonical mode, read(2) returns a whole line.
SecretBytes ask(int terminal, const std::string& prompt) {
    write_terminal(terminal, prompt.c_str());
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
                          cli::format("cannot read the terminal: {}.", strerror(errno)));
        if (got == 0) break;
        secret.size += static_cast<size_t>(got);
    }
    return secret;
}

// The terminal while it is asked for lines, without echo if they are `hidden`. Other threads wait.
class Asking {
public:
    explicit Asking(bool is_hidden)
        : lock_(mutex()),
          is_hidden_(is_hidden),
          terminal_(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
        termios shown;
        if (!terminal_ || tcgetattr(terminal_.get(), &shown) != 0)
            throw Failure(ExitCode::usage,
                          "there is no terminal to ask for a passphrase: use --passphrase-file, "
                          "--passphrase-fd or -k.");
        termios hidden = shown;
        hidden.c_lflag |= ICANON;
        if (is_hidden_) hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        // A suspended program would leave the terminal without echo.
        hidden.c_cc[VSUSP] = _POSIX_VDISABLE;
        restore_.emplace(terminal_.get(), shown);
        if (tcsetattr(terminal_.get(), TCSAFLUSH, &hidden) != 0)
            throw Failure(ExitCode::input_output, "cannot turn the terminal's echo off.");
    }
    SecretBytes line(const std::string& prompt) {
        SecretBytes typed = ask(terminal_.get(), prompt);
        if (is_hidden_) write_terminal(terminal_.get(), "\n");  // which was not echoed
        return typed;
    }

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    const std::lock_guard<std::mutex> lock_;
    const bool is_hidden_;
    const Descriptor terminal_;
    std::optional<TerminalSettings> restore_;
};

SecretBytes ask_passphrase(const std::string& prompt, bool confirm) {
    Asking terminal(true);
    SecretBytes first = one_line(terminal.line(prompt + ": "), "the passphrase");
    if (!confirm) return first;
    const SecretBytes second = one_line(terminal.line(prompt + " again: "), "the passphrase");
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
    add_key_options(command, choice);
    add_passphrase_options(command, choice);
}

void add_key_options(CLI::App& command, SecretChoice& choice) {
    command
        .add_option("-k,--key", choice.key_files,
                    "key file: 32 bytes, raw, hexadecimal or base64, private (mode 0600); - is "
                    "standard input; may be given several times")
        ->type_name("KEYFILE")
        ->allow_extra_args(false);
    command
        .add_option("--key-command", choice.key_commands,
                    "key: what this shell command prints, as the client of a key service does")
        ->type_name("COMMAND")
        ->allow_extra_args(false);
}

void add_passphrase_options(CLI::App& command, SecretChoice& choice) {
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
    if (choice.shared == nullptr) {
        read_named(choice, format, confirm);
        return;
    }
    const std::lock_guard lock(choice.shared->mutex);
    is_copy_ = choice.shared->secrets != nullptr;
    read_shared(choice, format, confirm);
    for (const warpseal_secret& secret : choice.shared->secrets->list()) {
        SecretBytes copy(std::max(secret.byte_count, SecretBytes::page_bytes));
        memcpy(copy.data(), secret.bytes, secret.byte_count);
        copy.size = secret.byte_count;
        add(secret.type, std::move(copy));
    }
    owners_ = choice.shared->secrets->owners_;
}

void Secrets::read_shared(const SecretChoice& choice, warpseal_format format, bool confirm) {
    SharedSecrets& shared = *choice.shared;
    const auto once = [](bool is_done, std::optional<Failure>& failed, const auto& read) {
        if (is_done) return;
        if (failed) throw *failed;
        try {
            read();
        } catch (const Failure& failure) {
            failed = failure;
            throw;
        }
    };
    once(shared.secrets != nullptr, shared.failure, [&] {
        SecretChoice named = choice;
        named.shared = nullptr;
        named.identities = nullptr;
        shared.secrets = std::make_unique<Secrets>(named, format, confirm);
    });
    // The first file may be one of age, which takes none of these identities.
    once(shared.has_identities || !choice.identities, shared.identity_failure, [&] {
        shared.secrets->add(choice.identities(shared.secrets->list()));
        shared.has_identities = true;
    });
}

void Secrets::read_named(const SecretChoice& choice, warpseal_format format, bool confirm) {
    std::vector<size_t> lengths{32};
    // Key commands must not read the passphrase.
    if (choice.passphrase_descriptor > STDERR_FILENO)
        fcntl(choice.passphrase_descriptor, F_SETFD, FD_CLOEXEC);
    if (format == WARPSEAL_FORMAT_COBBLESTONE) lengths.insert(lengths.begin(), 16);
    for (const std::string& path : choice.key_files)
        add(WARPSEAL_SECRET_KEY, read_key_file(path, lengths));
    for (const std::string& command : choice.key_commands)
        add(WARPSEAL_SECRET_KEY, read_key_command(command, lengths));
    for (const std::string& text : choice.recipients) {
        SecretBytes bytes;
        memcpy(bytes.data(), text.data(), text.size());
        bytes.size = text.size();
        add(WARPSEAL_SECRET_RECIPIENT, std::move(bytes));
    }
    for (const std::string& path : choice.passphrase_files) {
        const std::string shown = "passphrase file '" + path + "'";
        add(WARPSEAL_SECRET_PASSPHRASE,
            one_line(read_all(open_private(path, shown).get(), shown), shown));
    }
    if (choice.passphrase_descriptor >= 0) {
        const std::string shown =
            cli::format("the passphrase on descriptor {}", choice.passphrase_descriptor);
        add(WARPSEAL_SECRET_PASSPHRASE,
            one_line(read_all(choice.passphrase_descriptor, shown), shown));
    }
    if (choice.ask) add(WARPSEAL_SECRET_PASSPHRASE, ask_passphrase(choice.prompt, confirm));
    if (choice.wrapped) add(choice.wrapped());
    if (choice.identities) add(choice.identities(list_));
}

void check_passphrase_descriptor(const SecretChoice& choice) {
    if (choice.passphrase_descriptor < 0) return;
    // The program's own descriptors are close-on-exec; descriptors that it was started with are
    // not.
    const int flags = fcntl(choice.passphrase_descriptor, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0)
        throw Failure(
            ExitCode::input_output,
            cli::format(
                "cannot read the passphrase on descriptor {}: it was not open when the program "
                "started. Open it in the shell: {}<FILE.",
                choice.passphrase_descriptor, choice.passphrase_descriptor));
}

void Secrets::wipe() {
    list_.clear();
    memory_.clear();
    owners_.clear();
}

bool Secrets::has_short_passphrase() const {
    if (is_copy_) return false;
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

void Secrets::add(std::vector<MadeSecret> made) {
    for (MadeSecret& secret : made) {
        add(secret.type, std::move(secret.bytes));
        if (secret.owner) owners_.push_back(std::move(secret.owner));
    }
}

void say_if_short(const Secrets& secrets, const Session& session) {
    if (secrets.has_short_passphrase())
        remark(session, cli::format("a passphrase of fewer than {} characters is soon guessed by "
                                    "who has the file: take a longer one.",
                                    Secrets::short_characters));
}

SecretBytes read_one_key(const SecretChoice& choice, size_t key_bytes) {
    if (choice.key_files.size() + choice.key_commands.size() != 1)
        throw Failure(ExitCode::usage, "give one key, with -k KEYFILE or --key-command.");
    return choice.key_files.empty() ? read_key_command(choice.key_commands[0], {key_bytes})
                                    : read_key_file(choice.key_files[0], {key_bytes});
}

void check_standard_input(const SecretChoice& choice, bool input) {
    const auto keys = std::count(choice.key_files.begin(), choice.key_files.end(), "-");
    const bool passphrase = choice.passphrase_descriptor == STDIN_FILENO;
    const auto others =
        std::count(choice.public_key_files.begin(), choice.public_key_files.end(), "-");
    if (others > 1 || (others == 1 && (keys > 0 || passphrase)))
        throw Failure(ExitCode::usage,
                      "standard input can hold one key, passphrase, identity file or recipients "
                      "file only.");
    if (keys + (input ? 1 : 0) + (passphrase ? 1 : 0) < 2) return;
    throw Failure(ExitCode::usage,
                  keys == 0 ? "--passphrase-fd 0 and the input cannot both be standard input."
                  : keys > 1 || passphrase
                      ? "standard input can hold one key or passphrase only."
                      : "-k - and the input cannot both be standard input: name the input file.");
}

Descriptor open_private(const std::string& path, const std::string& shown) {
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        throw Failure(ExitCode::input_missing,
                      cli::format("there is no {}: check the path.", shown));
    struct stat about;
    if (!file || fstat(file.get(), &about) != 0)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot open {}: {}.", shown, strerror(errno)));
    if (S_ISREG(about.st_mode) && is_for_own_group(about)) return file;
    if (S_ISREG(about.st_mode) && (about.st_mode & 077) != 0)
        throw Failure(
            ExitCode::usage,
            cli::format("{} is open to others (mode {:04o}): make it private with chmod 600.",
                        shown, static_cast<unsigned>(about.st_mode & 07777)));
    return file;
}

SecretBytes ask_line(const std::string& prompt, bool hidden) {
    SecretBytes line = Asking(hidden).line(prompt);
    if (line.size > 0 && line.data()[line.size - 1] == '\n') --line.size;
    if (line.size > 0 && line.data()[line.size - 1] == '\r') --line.size;
    return line;
}

bool has_terminal() {
    return static_cast<bool>(Descriptor(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)));
}

}  // namespace warpseal::cli
