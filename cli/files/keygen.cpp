// `warpseal keygen`: writes 32 random bytes, or an identity of age, to a private file.
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>

#include "cli/age/keygen.h"
#include "cli/commands.h"
#include "cli/support/format.h"
#include "cli/support/output.h"
#include "cli/support/secrets.h"

namespace warpseal::cli {
namespace {

constexpr size_t key_bytes = 32;

struct KeygenChoice {
    std::string path;
    bool force = false;
    bool age = false, post_quantum = false, ntru = false;
    std::string identities;  // -y
};

ExitCode run_age(const KeygenChoice& choice, Session& session) {
    const bool print = !choice.identities.empty();
    if (print &&
        (choice.age || choice.post_quantum || choice.ntru || choice.force || !choice.path.empty()))
        throw Failure(ExitCode::usage, "-y prints recipients and goes with no other option.");
    if (print) return print_age_recipients(choice.identities, session);
    if (choice.force)
        throw Failure(ExitCode::usage, "an identity never replaces a file: leave -f out.");
    return run_age_keygen(choice.path,
                          choice.ntru           ? IdentityKind::ntru
                          : choice.post_quantum ? IdentityKind::post_quantum
                                                : IdentityKind::x25519,
                          session);
}

ExitCode run(const KeygenChoice& choice, Session& session) {
    if (choice.path.empty() && choice.identities.empty())
        throw Failure(ExitCode::usage, "--output is required: name the file to write.");
    if (choice.ntru && (choice.age || choice.post_quantum))
        throw Failure(ExitCode::usage,
                      "--ntru makes an identity that is not of age: leave --age and --pq out.");
    if (choice.age || choice.post_quantum || choice.ntru || !choice.identities.empty())
        return run_age(choice, session);
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
                          cli::format("cannot write {}: {}.", output.shown(), strerror(errno)));
        done += static_cast<size_t>(put);
    }
    output.commit();
    if (!output.is_stream())
        remark(session, cli::format("new key in {}: keep a copy, nothing opens without it.",
                                    output.shown()));
    return ExitCode::ok;
}

}  // namespace

void add_keygen(CLI::App& program, Session& session) {
    auto choice = std::make_shared<KeygenChoice>();
    CLI::App* command = program.add_subcommand(
        "keygen", "Make a key file: 32 random bytes, or an age identity; mode 0600");
    command->add_option("-o,--output,keyfile", choice->path, "file to write; - for standard output")
        ->type_name("KEYFILE")
        ->check(Output::refused_path);
    command->add_flag("-f,--force", choice->force,
                      "replace an existing key file: what it sealed is lost without a copy");
    command->add_flag("--age", choice->age,
                      "make an identity of age; -i of decrypt and verify takes the file");
    command->add_flag("--pq,--post-quantum", choice->post_quantum,
                      "make an identity of age for ML-KEM-768 with X25519, age1pq1…");
    command->add_flag("--ntru", choice->ntru,
                      "make an identity of NTRU-HPS-4096-821 with X25519, for Warpseal files "
                      "alone");
    command
        ->add_option("-y,--recipients-of", choice->identities,
                     "print the recipients of this file of age identities instead")
        ->type_name("IDENTITYFILE");
    command->footer(
        "Examples:\n"
        "  warpseal keygen -o my.key\n"
        "  warpseal keygen --age -o identity.txt");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(*choice, session); };
    });
}

}  // namespace warpseal::cli
