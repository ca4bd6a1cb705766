// Runs a plugin. Its input and output never block, so that one that does not read ends as an error.
#include "cli/age/plugin/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "cli/age/crypto.h"
#include "cli/age/format/header.h"
#include "cli/age/payload/source.h"
#include "cli/support/format.h"
#include "cli/support/interrupt.h"

namespace warpseal::cli::age::plugin {
namespace {

// A plugin that may ask a person has no such limit.
constexpr std::chrono::seconds silence_limit{60};
constexpr std::chrono::seconds end_limit{1};
// The process is looked at this often, because another may hold its pipes.
constexpr std::chrono::milliseconds look_limit{500};
constexpr size_t max_message_bytes = max_header_bytes;
constexpr size_t max_messages_for_a_file = 2 * max_stanzas;
constexpr size_t max_said_bytes = 4096;
constexpr size_t read_bytes = 65536;
constexpr size_t grease_bytes = 6;

std::mutex& one_plugin() {
    static std::mutex one;
    return one;
}

// Empty and relative entries of PATH stand for the working directory and are skipped.
std::string find_on_path(const std::string& program) {
    const char* const path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(':'), rest.size());
        const bool is_absolute = rest[0] == '/';
        std::string file = cli::format("{}/{}", rest.substr(0, end), program);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        struct stat about;
        if (is_absolute && stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
            access(file.c_str(), X_OK) == 0)
            return file;
    }
    throw Failure(ExitCode::unsupported,
                  cli::format("there is no program {} on PATH: install that age plugin.", program));
}

struct Pipe {
    Descriptor reading, writing;
};
Pipe new_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void make_nonblocking(const Descriptor& descriptor) {
    const int flags = fcntl(descriptor.get(), F_GETFL);
    if (flags < 0 || fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK) != 0)
        throw std::system_error(errno, std::generic_category());
}

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connection::Connection(const std::string& name, const char* state_machine, size_t files)
    : lock_(one_plugin()),
      program_("age-plugin-" + name),
      has_terminal_(has_terminal()),
      messages_left_((files + 1) * max_messages_for_a_file) {
    throw_if_interrupted();
    try {
        start(find_on_path(program_), state_machine);
    } catch (const std::system_error& error) {
        throw Failure(ExitCode::input_output,
                      cli::format("{} cannot be started: {}.", program_, error.code().message()));
    }
}

void Connection::start(const std::string& path, const char* state_machine) {
    Pipe input = new_pipe(), output = new_pipe(), errors = new_pipe();
    for (const Descriptor* ours : {&input.writing, &output.reading, &errors.reading})
        make_nonblocking(*ours);
    child_.emplace(ChildProgram{path,
                                {program_, cli::format("--age-plugin={}", state_machine)},
                                input.reading.get(),
                                output.writing.get(),
                                errors.writing.get(),
                                "/",
                                true});
    input_ = std::move(input.writing);
    output_ = std::move(output.reading);
    stderr_ = std::move(errors.reading);
}

void Connection::send(const std::vector<std::string_view>& arguments, View body) {
    write_stanza(arguments, body, [this](std::string_view part) { append(outgoing_, view(part)); });
}

void Connection::send_grease() {
    const Secret random = random_secret(2 * grease_bytes);
    const View bytes = random;
    send({"grease-" + hexadecimal(bytes.data(), grease_bytes), "\\"}, bytes.last(grease_bytes));
}

void Connection::close() {
    input_ = Descriptor();
    (void)child_->ends_within(end_limit);
}

void Connection::flush() {
    while (sent_bytes_ < outgoing_.size() && !input_closed_ && !output_ended_) {
        const size_t before = sent_bytes_;
        const auto end = Clock::now() + silence_limit;
        while (sent_bytes_ == before && !input_closed_ && !output_ended_) {
            if (Clock::now() >= end) fail("does not read what it is sent");
            if (incoming_.size() - taken_bytes_ > max_message_bytes)
                fail("sends more than a message before it has read what it is sent");
            exchange(end);
        }
    }
    outgoing_.clear();
    sent_bytes_ = 0;
}

Stanza Connection::receive() {
    flush();
    if (messages_left_-- == 0) fail("sends more messages than it has stanzas to send");
    size_t message_bytes = 0;
    std::string first_line;
    receive_line(first_line, message_bytes);
    return read_stanza(
        first_line, [&](std::string& line) { receive_line(line, message_bytes); },
        {[this](const std::string& what) { fail("sends what is no stanza: " + what); },
         [this](const std::string& what) { fail("sends " + what); }});
}

void Connection::receive_line(std::string& line, size_t& message_bytes) {
    size_t looked_at = 0;  // of the bytes that were not taken
    std::optional<Clock::time_point> end;
    // The plugin may wait for a person, but not within a message.
    if (!has_terminal_ || message_bytes > 0) end = Clock::now() + silence_limit;
    for (;;) {
        const auto from = incoming_.begin() + static_cast<std::ptrdiff_t>(taken_bytes_ + looked_at);
        const auto found = std::find(from, incoming_.end(), '\n');
        const size_t line_end = static_cast<size_t>(found - incoming_.begin());
        if (message_bytes + line_end - taken_bytes_ > max_message_bytes)
            fail(cli::format("sends a stanza of more than {} bytes", max_message_bytes));
        if (found != incoming_.end()) {
            const auto begin = incoming_.begin() + static_cast<std::ptrdiff_t>(taken_bytes_);
            line.append(begin, found);
            message_bytes += line_end + 1 - taken_bytes_;
            taken_bytes_ = line_end + 1;
            return;
        }
        if (output_ended_) fail(how_it_ended());
        const bool is_late = end && Clock::now() >= *end;
        looked_at = incoming_.size() - taken_bytes_;
        exchange(end);
        if (is_late && !output_ended_ && incoming_.size() - taken_bytes_ == looked_at) {
            if (child_->ends_within(Child::Time::zero())) fail(how_it_ended());
            fail(input_closed_ ? "has closed its input" : "does not answer");
        }
        if (!end && incoming_.size() > taken_bytes_) end = Clock::now() + silence_limit;
        // One that does not read any more, or has ended, has a last moment to say why.
        if (!output_ended_ && (!end || *end > Clock::now() + end_limit) &&
            (input_closed_ || child_->ends_within(Child::Time::zero())))
            end = Clock::now() + end_limit;
    }
}

void Connection::exchange(const std::optional<Clock::time_point>& end) {
    using Milliseconds = std::chrono::milliseconds;
    Milliseconds left = look_limit;
    if (end)
        left = std::min(
            left, std::chrono::duration_cast<Milliseconds>(*end - Clock::now()) + Milliseconds{1});
    const int wait = static_cast<int>(std::max<Milliseconds::rep>(left.count(), 0));
    const short sends = sent_bytes_ < outgoing_.size() ? POLLOUT : 0;
    // poll(2) ignores negative descriptors.
    pollfd ready[] = {{interrupt_descriptor(), POLLIN, 0},
                      {output_ended_ ? -1 : output_.get(), POLLIN, 0},
                      {stderr_.get(), POLLIN, 0},
                      {input_closed_ ? -1 : input_.get(), sends, 0}};
    if (poll(ready, std::size(ready), wait) < 0 && errno != EINTR)
        fail(cli::format("cannot be waited for: {}", strerror(errno)));
    throw_if_interrupted();
    if (ready[1].revents != 0) read_output();
    if (ready[2].revents != 0) read_errors();
    if ((ready[3].revents & POLLERR) != 0)
        input_closed_ = true;
    else if (ready[3].revents != 0)
        write_input();
}

void Connection::read_output() {
    incoming_.erase(incoming_.begin(),
                    incoming_.begin() + static_cast<std::ptrdiff_t>(taken_bytes_));
    taken_bytes_ = 0;
    const size_t before = incoming_.size();
    incoming_.resize(before + read_bytes);
    const ssize_t got = read(output_.get(), incoming_.data() + before, read_bytes);
    const int error = errno;
    incoming_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) output_ended_ = true;
    if (got < 0 && !would_wait(error))
        fail(cli::format("cannot be read: {}", std::strerror(error)));
}

// Keeps the first bytes, which say most.
void Connection::read_errors() {
    char bytes[4096];
    const ssize_t got = read(stderr_.get(), bytes, sizeof bytes);
    if (got > 0)
        said_.append(bytes,
                     std::min<size_t>(static_cast<size_t>(got), max_said_bytes - said_.size()));
    else if (got == 0 || !would_wait(errno))
        stderr_ = Descriptor();
}

void Connection::write_input() {
    const ssize_t wrote =
        write(input_.get(), outgoing_.data() + sent_bytes_, outgoing_.size() - sent_bytes_);
    if (wrote >= 0)
        sent_bytes_ += static_cast<size_t>(wrote);
    else if (errno == EPIPE)
        input_closed_ = true;
    else if (!would_wait(errno))
        fail(cli::format("cannot be written to: {}", std::strerror(errno)));
}

std::string Connection::how_it_ended() {
    if (!child_->ends_within(end_limit)) return "has closed its output";
    const int status = child_->status();
    if (WIFSIGNALED(status)) {
        // Ctrl-C reaches both processes. The plugin may end before the signal is noticed here.
        const int signal_number = WTERMSIG(status);
        if (has_terminal_ && (signal_number == SIGINT || signal_number == SIGQUIT))
            throw Failure(ExitCode(128 + signal_number), "interrupted.");
        return cli::format("was ended by signal {}", signal_number);
    }
    return cli::format("ended with exit code {} before it was done", WEXITSTATUS(status));
}

void Connection::add_error(const std::string& text) {
    if (errors_.size() < max_said_bytes) errors_ += (errors_.empty() ? "" : "; ") + text;
}

void Connection::fail(const std::string& what) {
    while (stderr_) {  // what it has written so far
        pollfd ready{stderr_.get(), POLLIN, 0};
        if (poll(&ready, 1, 0) <= 0 || said_.size() >= max_said_bytes) break;
        read_errors();
    }
    std::string text = has_errors() ? cli::format("{} reports: {}.", program_, errors_)
                                    : cli::format("{} {}.", program_, what);
    std::replace(said_.begin(), said_.end(), '\n', ' ');
    if (!said_.empty()) text += cli::format(" It wrote to stderr: {}", said_);
    throw Failure(ExitCode::input_output, text);
}

size_t Connection::index(const std::string& text, size_t end, const char* of) {
    size_t number = end;
    const bool is_number = !text.empty() && text.size() < 10 && (text == "0" || text[0] != '0') &&
                           text.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) number = std::stoul(text);
    if (number >= end) fail(cli::format("names {} that it was not given", of));
    return number;
}

}  // namespace warpseal::cli::age::plugin
