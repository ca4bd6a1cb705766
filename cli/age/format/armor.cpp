// Reads and writes armors. Any text but white space around an armor is refused.
#include "cli/age/format/armor.h"

#include <algorithm>
#include <cstring>

#include "cli/age/format/text.h"
#include "cli/support/command.h"

namespace warpseal::cli::age {
namespace {

constexpr size_t line_bytes = 48;
constexpr size_t max_white_space = 1024;
constexpr std::string_view white_space = " \t\r\n";

[[noreturn]] void throw_bad_armor(const char* what) {
    throw Failure(ExitCode::not_authentic, std::string("its armor is malformed: ") + what + ".");
}

bool is_white(const std::string& line) {
    return line.find_first_not_of(white_space) == std::string::npos;
}

}  // namespace

bool ArmorSource::read_line(std::string& line) {
    line.clear();
    if (text_.peek() < 0) return false;
    for (int byte = text_.get(); byte >= 0 && byte != '\n'; byte = text_.get()) {
        if (line.size() > max_white_space) throw_bad_armor("a line is too long");
        line.push_back(static_cast<char>(byte));
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
}

void ArmorSource::read_begin() {
    std::string line;
    size_t skipped = 0;
    do {
        if (!read_line(line)) throw Failure(ExitCode::truncated, "its armor has no first line.");
        skipped += line.size() + 1;
        if (skipped > max_white_space) throw_bad_armor("too much white space comes before it");
    } while (is_white(line));
    if (line != armor_begin) throw_bad_armor("the first line is another");
    state_ = State::within;
}

void ArmorSource::read_end() {
    state_ = State::after;
    std::string line;
    for (size_t skipped = 0; read_line(line); skipped += line.size() + 1)
        if (!is_white(line) || skipped > max_white_space)
            throw_bad_armor("something follows its last line");
}

void ArmorSource::decode_line() {
    std::string line;
    if (!read_line(line)) throw Failure(ExitCode::truncated, "its armor has no last line.");
    if (line == armor_end) return read_end();
    if (short_line_) throw_bad_armor("a line within is short, or the last line is another");
    if (line.empty() || line.size() > line_characters ||
        !from_base64(line, Padding::required, bytes_))
        throw_bad_armor("a line is not base64");
    short_line_ = bytes_.size() < line_bytes;
}

size_t ArmorSource::read(uint8_t* to, size_t most) {
    if (state_ == State::before) read_begin();
    size_t done = 0;
    while (done < most && (taken_ < bytes_.size() || state_ == State::within)) {
        if (taken_ == bytes_.size()) {
            bytes_.clear();
            taken_ = 0;
            decode_line();
            continue;
        }
        const size_t count = std::min(most - done, bytes_.size() - taken_);
        std::memcpy(to + done, bytes_.data() + taken_, count);
        taken_ += count;
        done += count;
    }
    return done;
}

bool is_armored(BufferedSource& source) {
    const int first = source.peek();
    return first == '-' || first == ' ' || first == '\t' || first == '\r' || first == '\n';
}

ArmorSink::ArmorSink(Sink& text) : text_(text) {
    text_.write(view(armor_begin + std::string("\n")));
}

void ArmorSink::write_lines(View bytes) {
    std::string text;
    for (size_t at = 0; at < bytes.size(); at += line_bytes)
        text +=
            base64(bytes.subspan(at, std::min(line_bytes, bytes.size() - at)), Padding::required) +
            "\n";
    text_.write(view(text));
}

void ArmorSink::write(View bytes) {
    if (!rest_.empty()) {
        const size_t count = std::min(bytes.size(), line_bytes - rest_.size());
        append(rest_, bytes.first(count));
        bytes = bytes.subspan(count);
        if (rest_.size() < line_bytes) return;
        write_lines(rest_);
        rest_.clear();
    }
    const size_t whole = bytes.size() / line_bytes * line_bytes;
    if (whole > 0) write_lines(bytes.first(whole));
    append(rest_, bytes.subspan(whole));
}

void ArmorSink::finish() {
    if (!rest_.empty()) write_lines(rest_);
    text_.write(view(armor_end + std::string("\n")));
}

}  // namespace warpseal::cli::age
