// Armor of age files: base64 in lines of 64 characters between two marker lines.
#pragma once

#include <optional>
#include <string>

#include "cli/age/payload/sink.h"
#include "cli/age/payload/source.h"

namespace warpseal::cli::age {

constexpr char armor_begin[] = "-----BEGIN AGE ENCRYPTED FILE-----";
constexpr char armor_end[] = "-----END AGE ENCRYPTED FILE-----";

// Reads the file within an armor. White space may surround the armor, and lines may end in CR LF.
class ArmorSource final : public Source {
public:
    explicit ArmorSource(BufferedSource& text) : text_(text) {}
    size_t read(uint8_t* to, size_t most) override;

private:
    // Reads a line without its end. Returns false at the end of input.
    bool read_line(std::string& line);
    void read_begin();
    void read_end();
    void decode_line();

    enum class State { before, within, after };
    BufferedSource& text_;
    State state_ = State::before;
    bool short_line_ = false;  // the last line of the base64 was read
    Octets bytes_;
    size_t taken_ = 0;
};

// An armor may follow white space; a header may not.
bool is_armored(BufferedSource& source);

// An age file, in an armor or not.
struct AgeSource {
    explicit AgeSource(Source& from) : text(from), armor(text) {
        if (is_armored(text)) within.emplace(armor);
    }
    BufferedSource& binary() { return within ? *within : text; }
    BufferedSource text;
    ArmorSource armor;
    std::optional<BufferedSource> within;
};

// Writes an armor around what it is given. `finish` ends it.
class ArmorSink final : public Sink {
public:
    explicit ArmorSink(Sink& text);
    void write(View bytes) override;
    void finish() override;

private:
    void write_lines(View bytes);
    Sink& text_;
    Octets rest_;  // of a line
};

}  // namespace warpseal::cli::age
