// Progress of a file operation on stderr, updated at most twenty times a second.
#include "cli/support/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/support/format.h"
#include "cli/support/run/file_run.h"

namespace warpseal::cli {
namespace {

constexpr uint64_t unknown = UINT64_MAX;

// The rate of the bar is that of the last seconds.
constexpr std::chrono::seconds recent_time(5);

size_t terminal_columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void print_line(const nlohmann::ordered_json& line) {
    // Paths may hold arbitrary bytes; JSON must be valid UTF-8.
    print_error(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::string clock_time(double seconds) {
    const auto whole = static_cast<uint64_t>(std::min(seconds, 359999.0));
    return whole >= 3600 ? cli::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                         : cli::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(Style style, const Session& session)
    : style_(style),
      file_(session.file),
      bar_(style == Style::automatic && !session.quiet && (file_ == nullptr || file_->alone) &&
           isatty(STDERR_FILENO)) {}

Progress::~Progress() { erase(); }

int Progress::callback(void* progress, uint64_t done_bytes, uint64_t total_bytes) {
    auto& self = *static_cast<Progress*>(progress);
    const Clock::time_point now = Clock::now();
    if (now >= self.next_) {
        self.next_ = now + std::chrono::milliseconds(50);
        self.show(done_bytes, total_bytes);
    }
    return interrupted_by();
}

double Progress::seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::derive_key(bool from_passphrase, std::function<void()> used) {
    secrets_used_ = std::move(used);
    derives_ = from_passphrase;
    if (bar_ && derives_) draw("deriving the key from the passphrase");
}

void Progress::key_is_ready(void* progress) {
    auto& self = *static_cast<Progress*>(progress);
    if (self.secrets_used_) self.secrets_used_();
    if (!std::exchange(self.derives_, false)) return;
    self.erase();
    self.key_seconds_ = self.seconds();
    self.recent_ = {{Clock::now(), 0}};
}

// Bytes a second since the oldest time that is kept.
double Progress::rate(uint64_t done_bytes) {
    const Clock::time_point now = Clock::now();
    while (recent_.size() > 1 && now - recent_.front().first > recent_time) recent_.pop_front();
    const auto [time, bytes] = recent_.front();
    recent_.emplace_back(now, done_bytes);
    const double elapsed = std::chrono::duration<double>(now - time).count();
    return elapsed > 0 && done_bytes > bytes ? static_cast<double>(done_bytes - bytes) / elapsed
                                             : 0;
}

void Progress::show(uint64_t done_bytes, uint64_t total_bytes) {
    if (bar_) return show_bar(done_bytes, total_bytes);
    if (style_ != Style::json || (file_ != nullptr && !file_->alone)) return;
    nlohmann::ordered_json line{{"event", "progress"},
                                {"done_bytes", done_bytes},
                                {"total_bytes", nullptr},
                                {"seconds", seconds()}};
    if (total_bytes != unknown) line["total_bytes"] = total_bytes;
    print(line);
}

void Progress::show_bar(uint64_t done_bytes, uint64_t total_bytes) {
    const double rate = this->rate(done_bytes);
    std::string text;
    double share = -1;
    if (total_bytes == unknown || total_bytes == 0) {
        text = cli::format("{}, {}/s, {}", human_bytes(done_bytes),
                           human_bytes(static_cast<uint64_t>(rate)), clock_time(seconds()));
    } else {
        share = std::min(1.0, static_cast<double>(done_bytes) / static_cast<double>(total_bytes));
        const double left =
            rate > 0 ? static_cast<double>(total_bytes - std::min(done_bytes, total_bytes)) / rate
                     : 0;
        text = cli::format("{:3.0f} %, {} of {}, {}/s, {} left", share * 100,
                           human_bytes(done_bytes), human_bytes(total_bytes),
                           human_bytes(static_cast<uint64_t>(rate)), clock_time(left));
    }
    const size_t columns = terminal_columns();
    if (share >= 0 && columns > text.size() + 14) {
        const size_t width = std::min<size_t>(40, columns - text.size() - 4);
        const auto filled = static_cast<size_t>(share * static_cast<double>(width));
        text = cli::format("[{}{}] {}", std::string(filled, '#'), std::string(width - filled, '.'),
                           text);
    }
    draw(std::move(text));
}

void Progress::draw(std::string text) {
    const size_t columns = terminal_columns();
    if (text.size() >= columns) text.resize(columns - 1);
    print_error("\r\033[K" + text);
    drawn_ = true;
}

void Progress::erase() {
    if (!drawn_) return;
    print_error("\r\033[K");
    drawn_ = false;
}

void Progress::done(const warpseal_file_result& result) {
    erase();
    if (file_ != nullptr) {
        file_->plaintext_bytes = result.plaintext_bytes;
        file_->file_bytes = result.file_bytes;
    }
    if (style_ != Style::json) return;
    nlohmann::ordered_json line{{"event", "done"},
                                {"plaintext_bytes", result.plaintext_bytes},
                                {"file_bytes", result.file_bytes},
                                {"seconds", seconds()},
                                {"target", result.target ? result.target : ""},
                                {"key_seconds", key_seconds_}};
    print(line);
}

void Progress::print(nlohmann::ordered_json& line) const {
    if (file_ != nullptr) line["file"] = file_->input;
    print_line(line);
}

std::string json_string(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void print_failed_event(ExitCode code, const std::string& message, const std::string& file) {
    std::string line = cli::format(R"({{"event":"failed","exit_code":{},"message":{})",
                                   static_cast<int>(code), json_string(message));
    if (!file.empty()) line += ",\"file\":" + json_string(file);
    print_error(line + "}\n");
}

}  // namespace warpseal::cli
