// Decrypts or verifies an age file.
#include <fmt/core.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

#include "cli/age/file_key.h"
#include "cli/age/format/armor.h"
#include "cli/age/range.h"
#include "cli/age/task.h"

namespace warpseal::cli {

using namespace age;

void add_identity_option(CLI::App& command, AgeChoice& choice) {
    command
        .add_option(
            "-i,--identity", choice.identities,
            "file of age identities or of an SSH private key, private (mode 0600); - is standard "
            "input; may be given several times")
        ->type_name("IDENTITYFILE")
        ->allow_extra_args(false);
}

void add_age_decrypt_options(CLI::App& command, AgeChoice& choice) {
    add_identity_option(command, choice);
    add_plugin_option(command, choice);
}

ExitCode run_age_decrypt(FileTask file_task, const FileChoice& file, const AgeChoice& choice,
                         int input, const OutputChoice* output_choice, const Range* range,
                         Session& session) {
    check_choice(file_task, file, choice);
    if (range) refuse_streams(input, file);
    refuse_shared_stream(input, choice.identities, "-i");
    Identities identities = read_identities(choice);
    std::optional<Output> output;
    if (output_choice) {
        output.emplace(*output_choice, mode_decrypted);
        if (output_choice->preserve) output->preserve(input);
        refuse_inputs(*output, input, file.secrets);
        for (const std::string& path : choice.identities)
            path == "-" ? output->refuse_same_file(STDIN_FILENO) : output->refuse_same_file(path);
        output->remove_abandoned(session);
    }
    Task task(file_task, file, output ? &*output : nullptr, session);
    std::optional<OutputSink> written;
    if (output) written.emplace(*output);
    NoSink none;
    uint64_t text_bytes = 0, file_bytes = 0;
    task.run(
        [&] {
            DescriptorSource descriptor(input);
            const uint64_t total = remaining_bytes(input);
            const uint64_t begin = total > 0 ? position_of(input) : 0;
            AgeSource read(descriptor);
            BufferedSource& source = read.binary();
            const Header header = read_header(source);
            const Secret file_key = file_key_of(header, file, choice, identities, session);
            identities = {};
            if (range) {
                const Secret key = payload_key(file_key, source);
                if (read.within)
                    throw Failure(ExitCode::unsupported,
                                  "--range does not read an armor: decrypt it as a whole.");
                const uint64_t header_bytes = read.text.taken();
                text_bytes =
                    open_range({input, begin + header_bytes, total - std::min(total, header_bytes)},
                               key, *range, file, *written, thread_count(file, range->length),
                               [&](uint64_t bytes) { return task.progress(bytes); });
                file_bytes = total;
                return;
            }
            Payload payload(Direction::open, payload_key(file_key, source), source,
                            written ? static_cast<Sink&>(*written) : none, task.progress(total));
            const uint64_t begun = read.text.taken();
            const bool positioned = total >= begun && total > 0 && !read.within;
            if (positioned) payload.read_at(input, begin + begun, total - begun);
            if (output && !output->is_stream()) payload.write_at(output->descriptor(), 0);
            payload.run(thread_count(file, total));
            text_bytes = payload.text_bytes();
            file_bytes = positioned ? total : read.text.taken();
        },
        written ? &*written : nullptr);
    if (output) output->commit();
    if (range) say_if_shortened(*range, text_bytes, session);
    task.say_done(text_bytes, file_bytes, session);
    return ExitCode::ok;
}

}  // namespace warpseal::cli
