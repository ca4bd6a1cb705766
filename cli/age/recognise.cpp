// Tells age files by their first bytes, which stay in the input.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "cli/age/age.h"
#include "cli/age/armor.h"

namespace warpseal::cli {
namespace {

constexpr std::string_view binary_begin = "age-encryption.org/";
constexpr std::string_view text_begin = age::armor_begin;
constexpr size_t most_bytes = 2048;  // with white space before an armor

enum class Guess { no, yes, unknown };

// `unknown`: more bytes could make it an age file.
Guess guess(std::string_view bytes) {
    if (bytes.substr(0, binary_begin.size()) == binary_begin) return Guess::yes;
    if (binary_begin.substr(0, bytes.size()) == bytes) return Guess::unknown;
    const size_t white = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
    const std::string_view text = bytes.substr(white);
    if (text.substr(0, text_begin.size()) == text_begin) return Guess::yes;
    return text_begin.substr(0, text.size()) == text ? Guess::unknown : Guess::no;
}

// Copies what a pipe holds without taking it.
size_t peek_pipe(int pipe_end, char* to, size_t bytes) {
    int copy[2];
    if (pipe2(copy, O_CLOEXEC) != 0) return 0;
    const Descriptor in(copy[0]), out(copy[1]);
    const ssize_t copied = tee(pipe_end, out.get(), bytes, SPLICE_F_NONBLOCK);
    if (copied <= 0) return 0;
    const ssize_t got = read(in.get(), to, static_cast<size_t>(copied));
    return got > 0 ? static_cast<size_t>(got) : 0;
}

bool pipe_begins_as_age(int input) {
    char bytes[most_bytes];
    constexpr int wait_milliseconds = 10;
    for (;;) {
        age::throw_if_interrupted();
        pollfd ready{input, POLLIN, 0};
        if (poll(&ready, 1, wait_milliseconds) <= 0) continue;
        const Guess found = guess({bytes, peek_pipe(input, bytes, sizeof bytes)});
        if (found != Guess::unknown) return found == Guess::yes;
        if ((ready.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return false;
        usleep(wait_milliseconds * 1000);  // The writer has not written all of the beginning.
    }
}

}  // namespace

bool is_age(const FileChoice& file, const AgeChoice& choice) {
    if (file.age || choice.any()) return true;
    if (file.format != WARPSEAL_FORMAT_WARPSEAL || !file.secrets.key_files.empty()) return false;
    if (file.input == "-" && file.secrets.passphrase_descriptor == STDIN_FILENO) return false;
    // Opening a named pipe a second time would lose its writer.
    struct stat about;
    if (file.input != "-" && (stat(file.input.c_str(), &about) != 0 || !S_ISREG(about.st_mode)))
        return false;
    const Descriptor input = open_input(file.input);
    if (fstat(input.get(), &about) != 0) return false;
    if (S_ISFIFO(about.st_mode)) return pipe_begins_as_age(input.get());
    const off_t position = lseek(input.get(), 0, SEEK_CUR);
    char bytes[most_bytes];
    const ssize_t got = position < 0 ? -1 : pread(input.get(), bytes, sizeof bytes, position);
    return got > 0 && guess({bytes, static_cast<size_t>(got)}) == Guess::yes;
}

}  // namespace warpseal::cli
