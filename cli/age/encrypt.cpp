// Encrypts to an age file.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "cli/age/format/armor.h"
#include "cli/age/plugin/run.h"
#include "cli/age/recipients.h"
#include "cli/age/stanzas.h"
#include "cli/age/task.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

using namespace age;

// Appends the stanzas that are made without plugins.
void wrap_for(const std::vector<Recipient>& recipients, const Secret& passphrase,
              plugin::FileKey& file_key, Hybrid& hybrid) {
    for (const Recipient& recipient : recipients)
        if (recipient.type != KeyType::plugin)
            file_key.stanzas.push_back(wrap(recipient, file_key.key, hybrid));
    if (recipients.empty())
        file_key.stanzas.push_back(wrap_by_passphrase(passphrase, file_key.key));
}

// Writes the header and the nonce, and returns the payload's key.
Secret begin_file(const std::vector<Stanza>& stanzas, View file_key, Sink& sink) {
    if (stanzas.size() > max_stanzas)  // A plugin may make several for a recipient.
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("the header for all recipients has {} stanzas, and the limit is "
                                  "{}: give fewer recipients.",
                                  stanzas.size(), max_stanzas));
    const std::string header = write_header(stanzas, file_key);
    if (header.size() > max_header_bytes)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("the header for all recipients has {} bytes, and the limit is "
                                  "{}: give fewer recipients.",
                                  header.size(), max_header_bytes));
    const Secret nonce = random_secret(payload_nonce_bytes);
    sink.write(view(header));
    sink.write(nonce);
    return hkdf_sha256(file_key, nonce, view("payload"));
}

void refuse_secret_files(Output& output, int input, const FileChoice& file,
                         const AgeChoice& choice) {
    refuse_inputs(output, input, file.secrets);
    for (const std::string& path : choice.recipient_files)
        path == "-" ? output.refuse_same_file(STDIN_FILENO) : output.refuse_same_file(path);
}

}  // namespace

void add_recipient_options(CLI::App& command, AgeChoice& choice) {
    command
        .add_option("-r,--recipient", choice.recipients,
                    "seal for the owner of age1… or age1pq1…, of an SSH public key, or of a "
                    "plugin's recipient; may be given several times")
        ->type_name("RECIPIENT")
        ->allow_extra_args(false);
    command
        .add_option("-R,--recipients-file", choice.recipient_files,
                    "the same for the recipients in a file, one a line")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

void add_age_encrypt_options(CLI::App& command, AgeChoice& choice) {
    add_recipient_options(command, choice);
    add_plugin_option(command, choice);
    command.add_flag("-a,--armor", choice.armor, "write an age file as text");
}

ExitCode run_age_encrypt(const FileChoice& file, const AgeChoice& choice, int input,
                         const OutputChoice& output_choice, Session& session) {
    check_choice(FileTask::encrypt, file, choice);
    refuse_shared_stream(input, choice.recipient_files, "-R");
    const std::vector<Recipient> recipients = read_recipients(choice, session);
    for (const Recipient& recipient : recipients)
        if (recipient.type == KeyType::ntru)
            throw Failure(ExitCode::unsupported,
                          cli::format("{} is a recipient of Warpseal files only: leave --format "
                                      "age and -a out, or give an age1 or age1pq1 recipient.",
                                      recipient.shown));
    if (recipients.size() > max_stanzas)
        throw Failure(ExitCode::limit_exceeded,
                      cli::format("there are {} recipients, and a file takes at most {}.",
                                  recipients.size(), max_stanzas));
    if (recipients.empty() && !file.secrets.passphrase())
        throw Failure(ExitCode::usage,
                      "no recipient and no passphrase: give -r, -R, -j, -p, --passphrase-file or "
                      "--passphrase-fd.");
    Output output(output_choice, mode_encrypted);
    if (output_choice.preserve) output.preserve(input);
    refuse_secret_files(output, input, file, choice);
    Secret passphrase;
    if (recipients.empty()) passphrase = read_passphrase(file.secrets, true, session);
    output.remove_abandoned(session);
    if (file.input == "-" && isatty(input))
        remark(session, "reading from the terminal: end with Ctrl-D.");

    Task task(FileTask::encrypt, file, &output, session);
    OutputSink written(output);
    uint64_t text_bytes = 0, file_bytes = 0;
    task.run(
        [&] {
            Hybrid hybrid(file.engine, session);
            plugin::FileKey file_key = plugin::new_file_key(choice.run.get(), recipients);
            wrap_for(recipients, passphrase, file_key, hybrid);
            passphrase = {};
            std::unique_ptr<ArmorSink> armor;
            if (choice.armor) armor = std::make_unique<ArmorSink>(written);
            Sink& sink = armor ? static_cast<Sink&>(*armor) : written;
            DescriptorSource source(input);
            BufferedSource buffered(source);
            const uint64_t total = remaining_bytes(input);
            Payload payload(Direction::seal, begin_file(file_key.stanzas, file_key.key, sink),
                            buffered, sink, task.progress(total));
            if (total > 0) payload.read_at(input, position_of(input), total);
            const uint64_t begun = written.written();
            const bool positioned = !armor && !output.is_stream();
            if (positioned) payload.write_at(output.descriptor(), begun);
            payload.run(thread_count(file, total));
            sink.finish();
            text_bytes = payload.text_bytes();
            file_bytes = positioned ? begun + payload.output_bytes() : written.written();
        },
        &written);
    output.commit();
    task.say_done(text_bytes, file_bytes, session);
    return ExitCode::ok;
}

}  // namespace warpseal::cli
