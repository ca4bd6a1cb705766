// `warpseal random`: random bytes to a file or a stream.
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "cli/commands.h"
#include "cli/files/file_command.h"
#include "cli/support/format.h"
#include "cli/support/output.h"
#include "cli/support/stream.h"
#include "warpseal/drbg.h"

namespace warpseal::cli {
namespace {

constexpr size_t random_chunk_bytes = size_t{16} << 20;
constexpr size_t line_bytes = 32;  // of --hex

struct RandomChoice {
    EngineChoice engine;
    OutputChoice output;
    std::optional<uint64_t> bytes;  // without: until the reader closes the pipe
    bool hex = false;
};

struct DrbgDelete {
    void operator()(warpseal_drbg* drbg) const { warpseal_drbg_destroy(drbg); }
};

void require(warpseal_status status) {
    if (status != WARPSEAL_OK)
        throw Failure(exit_code_of(status),
                      cli::format("cannot make random bytes: {}", warpseal_status_text(status)));
}

// Host memory of the engine, zeroized on release.
class Chunk {
public:
    Chunk(warpseal_engine* engine, size_t bytes) : engine_(engine) {
        if (warpseal_host_alloc(engine, bytes, &memory_) != WARPSEAL_OK) throw std::bad_alloc();
    }
    ~Chunk() { warpseal_host_free(engine_, memory_); }
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }

private:
    warpseal_engine* engine_;
    void* memory_ = nullptr;
};

// Text of --hex, zeroized on release.
class HexLines {
public:
    explicit HexLines(size_t bytes) : text_(2 * bytes + bytes / line_bytes + 1) {}
    ~HexLines() { warpseal_wipe(text_.data(), text_.size()); }
    HexLines(const HexLines&) = delete;
    HexLines& operator=(const HexLines&) = delete;

    // Returns the number of characters. Every line ends with a newline, also the last one.
    size_t write(const uint8_t* bytes, size_t count) {
        constexpr char digits[] = "0123456789abcdef";
        size_t at = 0;
        for (size_t i = 0; i < count; ++i) {
            text_[at++] = static_cast<uint8_t>(digits[bytes[i] >> 4]);
            text_[at++] = static_cast<uint8_t>(digits[bytes[i] & 15]);
            if ((i + 1) % line_bytes == 0 || i + 1 == count) text_[at++] = '\n';
        }
        return at;
    }
    const uint8_t* data() const { return text_.data(); }

private:
    std::vector<uint8_t> text_;
};

// Endless output ends when its reader goes away; a file would fill the disk.
void check_endless(const RandomChoice& choice, const Output& output) {
    struct stat about {};
    const bool file =
        !output.is_stream() || (fstat(output.descriptor(), &about) == 0 && S_ISREG(about.st_mode));
    if (!choice.bytes && file)
        throw Failure(ExitCode::usage,
                      cli::format("without BYTES the output has no end, and {} is a file: say how "
                                  "many, as in `warpseal random 1GiB`.",
                                  output.shown()));
}

ExitCode run(const RandomChoice& choice, Session& session) {
    // Text may go to the terminal: standard output by its own name is not refused there.
    const bool to_standard_output = choice.output.path.empty();
    Output output(choice.hex && to_standard_output ? "-" : choice.output.path, choice.output.force,
                  mode_decrypted);
    check_endless(choice, output);
    output.remove_abandoned(session);
    RawOutput out(output);
    const EngineHandle engine = create_engine(choice.engine, session);
    warpseal_drbg* made = nullptr;
    require(warpseal_drbg_create(engine.get(), nullptr, &made));
    const std::unique_ptr<warpseal_drbg, DrbgDelete> drbg(made);
    uint64_t left = choice.bytes.value_or(random_chunk_bytes);
    const size_t most = std::clamp<uint64_t>(left, 1, random_chunk_bytes);
    const Chunk chunk(engine.get(), most);
    std::optional<HexLines> lines;
    if (choice.hex) lines.emplace(most);
    while (left != 0) {
        const size_t some = std::min<uint64_t>(left, most);
        require(warpseal_drbg_fill(drbg.get(), chunk.data(), some));
        const uint8_t* const data = lines ? lines->data() : chunk.data();
        const size_t bytes = lines ? lines->write(chunk.data(), some) : some;
        if (choice.bytes) {
            out.write(data, bytes);
            left -= some;
        } else if (!out.write_until_closed(data, bytes)) {
            return ExitCode::ok;
        }
    }
    output.commit();
    return ExitCode::ok;
}

}  // namespace

void add_random(CLI::App& program, Session& session) {
    auto choice = std::make_shared<RandomChoice>();
    CLI::App* command = program.add_subcommand(
        "random", "Write random bytes: CTR_DRBG of SP 800-90A, seeded by the operating system");
    command
        ->add_option("bytes", choice->bytes,
                     "how many: 32, 64KiB, 10GiB; without, until the reader closes the pipe")
        ->transform(size_value())
        ->type_name("BYTES");
    command->add_flag("--hex", choice->hex, "hexadecimal digits, 64 on a line");
    add_engine_options(*command, choice->engine);
    add_output_options(*command, choice->output);
    command->footer(
        "A new file has mode 0600. Binary data is not written to a terminal.\n"
        "Examples:\n"
        "  warpseal random --hex 32\n"
        "  warpseal random 10GiB -o noise.bin\n"
        "  warpseal random | head -c 1000000 | ent");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(*choice, session); };
    });
}

}  // namespace warpseal::cli
