// `warpseal keygen`: writes 32 random bytes to a private file.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>

#include "cli/commands.h"
#include "cli/support/output.h"
#include "cli/support/secrets.h"

namespace warpseal::cli {
namespace {

constexpr size_t key_bytes = 32;

struct KeygenChoice {
    std::string path;
    bool force = false;
};

ExitCode run(const KeygenChoice& choice, Session& session) {
    Output output(choice.path, choice.force, 0600);
    if (output.is_stream() && isatty(output.descriptor()))
        throw Failure(ExitCode::usage, "refused to write a key to the terminal: name a file.");
    output.remove_abandoned(session);
    SecretBytes key;
    key.size = key_bytes;
    if (warpseal_random(key.data(), key.size) != WARPSEAL_OK)
        throw Failure(ExitCode::error,
                      "the operating system's random source failed: no key was made.");
    for (size_t done = 0; done < key.size;) {
        const ssize_t put = write(output.descriptor(), key.data() + done, key.size - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            throw Failure(ExitCode::input_output,
                          fmt::format("cannot write {}: {}.", output.shown(), strerror(errno)));
        done += static_cast<size_t>(put);
    }
    output.commit();
    if (!output.is_stream())
        remark(session, fmt::format("new key in {}: keep a copy, nothing opens without it.",
                                    output.shown()));
    return ExitCode::ok;
}

}  // namespace

void add_keygen(CLI::App& program, Session& session) {
    auto choice = std::make_shared<KeygenChoice>();
    CLI::App* command =
        program.add_subcommand("keygen", "Make a key file: 32 random bytes, mode 0600");
    command->add_option("-o,--output,keyfile", choice->path, "file to write; - for standard output")
        ->type_name("KEYFILE")
        ->required()
        ->check(Output::refused_path);
    command->add_flag("-f,--force", choice->force,
                      "replace an existing key file: what it sealed is lost without a copy");
    command->footer("Example:\n  warpseal keygen -o my.key");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(*choice, session); };
    });
}

}  // namespace warpseal::cli
