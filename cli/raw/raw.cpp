// `warpseal raw encrypt` and `warpseal raw decrypt`: a cipher and mode under a given key and IV,
// for data exchanged with other programs.
#include "cli/raw/raw.h"

#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/files/file_command.h"
#include "cli/support/ciphers.h"
#include "cli/support/format.h"
#include "cli/support/secrets.h"
#include "cli/support/words/suggest.h"

namespace warpseal::cli {
namespace {

// SP 800-67 3.5 for TDEA; the birthday bound (sweet32.info) applies to any 64-bit block. The limit
// is for a key, but data of other calls under the same key is unknown here.
constexpr uint64_t sweet32_blocks = uint64_t{1} << 20;
constexpr size_t unit_number_bytes = 16;

struct RawChoice {
    std::string cipher_mode, iv, aad_file;
    SecretChoice key;
    std::string input = "-";
    OutputChoice output;
    EngineChoice engine;
    Progress::Style progress = Progress::Style::automatic;
    uint64_t unit_bytes = 0;
    bool no_padding = false, legacy = false, beyond_sweet32 = false;
};

struct CipherMode {
    warpseal_cipher_info cipher;
    warpseal_mode mode;
};

CipherMode find_cipher_mode(const std::string& name) {
    for (const warpseal_cipher_info& cipher : all_ciphers())
        for (const warpseal_mode mode : modes_of(cipher))
            if (name == std::string(cipher.name) + "-" + full_mode_name(cipher, mode))
                return {cipher, mode};
    throw Failure(
        ExitCode::unsupported,
        cli::format(
            "there is no '{}' for raw data: `warpseal list` shows the ciphers and modes; CFB is "
            "named with its bits, cfb128 or cfb64.{}",
            name, did_you_mean(name, cipher_mode_names())));
}

void check_choice(const RawChoice& choice, const CipherMode& what) {
    const std::string& name = choice.cipher_mode;
    if (what.mode == WARPSEAL_ECB)
        throw Failure(
            ExitCode::unsupported,
            "ECB is not for data: equal blocks stay equal for all to see. Use another mode.");
    if (what.mode == WARPSEAL_CMAC)
        throw Failure(ExitCode::unsupported,
                      "CMAC is a tag and encrypts nothing. Use another mode.");
    if (what.cipher.legacy && !choice.legacy)
        throw Failure(
            ExitCode::usage,
            cli::format("{} is for old data alone: say --legacy if that is what you have.",
                        what.cipher.name));
    if (choice.no_padding && what.mode != WARPSEAL_CBC)
        throw Failure(ExitCode::usage, "--no-padding goes with cbc only.");
    if ((choice.unit_bytes != 0) != (what.mode == WARPSEAL_XTS))
        throw Failure(ExitCode::usage,
                      what.mode == WARPSEAL_XTS
                          ? cli::format("{} needs --data-unit-bytes: 512 or 4096 for a disk.", name)
                          : "--data-unit-bytes goes with xts only.");
    const bool aead = what.mode == WARPSEAL_GCM || what.mode == WARPSEAL_CCM;
    if (!choice.aad_file.empty() && !aead)
        throw Failure(ExitCode::usage, "--aad-file goes with gcm and ccm only.");
    if (choice.aad_file == "-" && choice.input == "-")
        throw Failure(ExitCode::usage, "--aad-file - and the input cannot both be standard input.");
    if (choice.key.key_count() != 1)
        throw Failure(ExitCode::usage, "give one key, with -k FILE or --key-command.");
    check_standard_input(choice.key, choice.input == "-" || choice.aad_file == "-");
}

// IVs are never padded or truncated. Another length means that the caller expects another mode or
// has lost bytes.
void check_iv(const RawJob& job) {
    const size_t bytes = job.iv.size();
    const auto want = [&](bool right, const std::string& what) {
        if (!right)
            throw Failure(ExitCode::usage, cli::format("--iv has {} bytes, where {} takes {}.",
                                                       bytes, job.name, what));
    };
    switch (job.mode) {
        case WARPSEAL_GCM: return want(bytes >= 1, "one or more, usually 12");
        case WARPSEAL_CCM: return want(bytes >= 7 && bytes <= 13, "7 to 13");
        case WARPSEAL_XTS:
            return want(bytes == unit_number_bytes,
                        "16: the first data unit's number, least significant byte first");
        default:
            return want(bytes == job.cipher.block_bytes, std::to_string(job.cipher.block_bytes));
    }
}

// Returns the bytes from the descriptor's position to its end, UINT64_MAX if they are not known.
uint64_t bytes_to_read(int input) {
    struct stat about;
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (position < 0 || fstat(input, &about) != 0 || !S_ISREG(about.st_mode)) return UINT64_MAX;
    return static_cast<uint64_t>(std::max<off_t>(about.st_size - position, 0));
}

struct KeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};

ExitCode run(const RawChoice& choice, bool encrypt, Session& session) {
    const CipherMode what = find_cipher_mode(choice.cipher_mode);
    check_choice(choice, what);
    RawJob job{choice.cipher_mode,
               what.cipher,
               what.mode,
               encrypt,
               what.mode == WARPSEAL_CBC && !choice.no_padding,
               choice.unit_bytes,
               from_hexadecimal(choice.iv, "--iv"),
               UINT64_MAX};
    if (what.cipher.block_bytes == 8 && !choice.beyond_sweet32) job.most_blocks = sweet32_blocks;
    check_iv(job);

    const Descriptor input = open_input(choice.input);
    Output output(choice.output.path, choice.output.force,
                  encrypt ? mode_encrypted : mode_decrypted);
    refuse_inputs(output, input.get(), choice.key);
    RawOutput out(output);
    std::optional<WholeInput> aad;
    if (!choice.aad_file.empty()) {
        const Descriptor file = open_input(choice.aad_file);
        output.refuse_same_file(file.get());
        aad.emplace(file.get(), "'" + choice.aad_file + "'", 0, out);
    }
    const bool xts = job.mode == WARPSEAL_XTS;
    SecretBytes secret = read_one_key(choice.key, job.cipher.key_bytes * (xts ? 2 : 1));
    output.remove_abandoned(session);
    const EngineHandle engine = create_engine(choice.engine, session);
    warpseal_key* made = nullptr;
    require_raw(job, (xts ? warpseal_key_create_xts : warpseal_key_create)(
                         engine.get(), job.cipher.name, secret.data(), secret.size, &made));
    const std::unique_ptr<warpseal_key, KeyDelete> key(made);
    { const SecretBytes wiped = std::move(secret); }  // The engine's key is enough.

    if (!job.aead())
        remark(session, cli::format("{} is unauthenticated: whoever can change what was encrypted "
                                    "can change what comes out.",
                                    job.name));
    const uint64_t total = bytes_to_read(input.get());
    uint64_t read = 0;
    Progress progress(choice.progress, session);
    (void)Progress::callback(&progress, 0, total);
    if (job.aead())
        run_raw_whole(job, key.get(), aad ? &*aad : nullptr, input.get(), out);
    else
        run_raw_chunks(
            job, engine.get(), key.get(),
            [&](uint8_t* to, size_t most) {
                const size_t got = read_some(input.get(), to, most, "the input", out);
                read += got;
                (void)Progress::callback(&progress, read, total);
                return got;
            },
            out);
    output.commit();
    warpseal_file_result result{};
    result.plaintext_bytes = encrypt && !job.aead() ? read : out.written_bytes();
    result.file_bytes = out.written_bytes();
    progress.done(result);
    return ExitCode::ok;
}

void add_direction(CLI::App& raw, const char* name, bool encrypt, Session& session) {
    auto choice = std::make_shared<RawChoice>();
    CLI::App* command = raw.add_subcommand(name, encrypt ? "Encrypt raw data" : "Decrypt raw data");
    add_progress_option(*command, choice->progress, session);
    command
        ->add_option(
            "-c,--cipher", choice->cipher_mode,
            "aes-256-ctr, aria-128-cbc, camellia-256-xts, …: cipher and mode of `warpseal list`")
        ->type_name("CIPHER-MODE")
        ->transform(any_case())
        ->required();
    command
        ->add_option(
            "-k,--key-file", choice->key.key_files,
            "the key itself, raw, hexadecimal or base64 (xts: data key, then tweak key); private "
            "(mode 0600); - is standard input")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        ->add_option("--key-command", choice->key.key_commands,
                     "the key: what this shell command prints")
        ->type_name("COMMAND")
        ->allow_extra_args(false);
    command
        ->add_option(
            "--iv", choice->iv,
            "the IV, counter block or nonce; xts: the number of the first data unit, 16 bytes")
        ->type_name("HEX")
        ->required();
    command
        ->add_option("--aad-file", choice->aad_file,
                     "gcm and ccm: data to authenticate beside the input")
        ->type_name("FILE")
        ->check([](const std::string& path) {
            return path.empty() ? "it names no file; without data to authenticate, leave it out"
                                : "";
        });
    command
        ->add_option("--data-unit-bytes", choice->unit_bytes,
                     "xts: the length of a data unit (a disk's sector)")
        ->type_name("N")
        ->check(CLI::Range(uint64_t{16}, uint64_t{16} << 20).description(""));
    command->add_flag("--no-padding", choice->no_padding,
                      "cbc: whole blocks as they are, no PKCS#7 padding");
    command->add_flag("--legacy", choice->legacy,
                      "allow a cipher that is for old data alone (`warpseal list` marks them)");
    if (encrypt)
        command->add_flag("--beyond-sweet32", choice->beyond_sweet32,
                          "64-bit blocks: encrypt more than 2^20 of them (8 MiB) in this call; "
                          "earlier calls under the key are not counted");
    add_engine_options(*command, choice->engine);
    add_output_options(*command, choice->output);
    command->add_option("input", choice->input, "file to read; - or nothing: standard input")
        ->type_name("INPUT");
    command->footer(
        "Only gcm and ccm authenticate: their 16-byte tag follows the ciphertext, and nothing is "
        "released before it verified; the whole\n"
        "message is held in memory. cbc, cfb, ctr, ofb and xts are unauthenticated: whoever "
        "changes the ciphertext changes the plaintext,\n"
        "and nothing notices.\n"
        "Never use an IV twice under one key. For files of your own, `warpseal encrypt` takes care "
        "of all that.\n"
        "Exit code 19 means bad padding, 21 a weak key.");
    command->callback([choice, encrypt, &session] {
        session.command = [choice, encrypt, &session] { return run(*choice, encrypt, session); };
    });
}

}  // namespace

void require_raw(const RawJob& job, warpseal_status status) {
    if (status == WARPSEAL_OK) return;
    const char* next = status == WARPSEAL_BAD_PADDING
                           ? " Try another key or IV, or --no-padding if there is none."
                           : "";
    throw Failure(exit_code_of(status), cli::format("cannot {} with {}: {}{}", job.verb(), job.name,
                                                    warpseal_status_text(status), next));
}

void require_within_limit(const RawJob& job, uint64_t bytes) {
    const uint64_t block = job.cipher.block_bytes,
                   blocks = job.padding ? bytes / block + 1 : (bytes + block - 1) / block;
    if (blocks <= job.most_blocks) return;
    throw Failure(ExitCode::limit_exceeded,
                  cli::format("cannot encrypt with {}: a call takes at most {} blocks of {} bytes, "
                              "as many as are sound under one key, in all its "
                              "calls together: past that, equal blocks give plaintext away "
                              "(sweet32.info). Use a 128-bit block cipher, or say "
                              "--beyond-sweet32.",
                              job.name, job.most_blocks, block));
}

void add_raw(CLI::App& program, Session& session) {
    CLI::App* raw = program.add_subcommand(
        "raw", "Encrypt or decrypt data without a container, under a given key and IV");
    raw->require_subcommand(1);
    add_direction(*raw, "encrypt", true, session);
    add_direction(*raw, "decrypt", false, session);
}

}  // namespace warpseal::cli
