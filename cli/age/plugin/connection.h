// A running age plugin: a child process that exchanges stanzas with this program.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "cli/age/format/stanza.h"
#include "cli/support/descriptor.h"
#include "cli/support/run/child.h"
#include "cli/support/secrets.h"

namespace warpseal::cli::age::plugin {

// Starts `age-plugin-NAME`, which is looked up on PATH alone. One plugin runs at a time, as two
// would ask for a PIN or a touch at once. All functions throw Failure: unsupported if the plugin is
// not installed, input_output if it fails, limit_exceeded, or after a stop signal.
class Connection {
public:
    // `files` is the number of files, which bounds the number of messages.
    Connection(const std::string& name, const char* state_machine, size_t files);

    const std::string& program() const { return program_; }  // for messages
    // Queues a stanza. `flush` sends what is queued.
    void send(const std::vector<std::string_view>& arguments, View body = {});
    void flush();
    // A stanza that means nothing, so that plugins learn to skip what they do not know.
    void send_grease();
    // The next stanza of the plugin, whose body may be secret.
    Stanza receive();
    // The text of an error that the plugin reports. It becomes part of each Failure.
    void add_error(const std::string& text);
    bool has_errors() const { return !errors_.empty(); }
    // Throws the Failure of this plugin, with what it wrote to stderr.
    [[noreturn]] void fail(const std::string& what);
    // Closes its input, and gives it a moment to end by itself.
    void close();
    // A number that the plugin sent, below `end`, or a Failure.
    size_t index(const std::string& text, size_t end, const char* of);

private:
    using Clock = std::chrono::steady_clock;
    void start(const std::string& path, const char* state_machine);
    void receive_line(std::string& line, size_t& message_bytes);
    // Waits until something can be read or written, and does it. `end`: time limit.
    void exchange(const std::optional<Clock::time_point>& end);
    void read_output();
    void read_errors();
    void write_input();
    std::string how_it_ended();

    const std::unique_lock<std::mutex> lock_;
    const std::string program_;
    const bool has_terminal_;
    Descriptor input_, output_, stderr_;  // the plugin's, our ends
    std::optional<Child> child_;
    Secret outgoing_;
    size_t sent_bytes_ = 0;  // of `outgoing_`
    Secret incoming_;
    size_t taken_bytes_ = 0;  // of `incoming_`
    bool input_closed_ = false, output_ended_ = false;
    size_t messages_left_;
    std::string said_, errors_;
};

}  // namespace warpseal::cli::age::plugin
