// Options of shards, and their checks.
#include "cli/shards/shards.h"

#include <CLI/CLI.hpp>

#include <charconv>

#include "cli/shards/steps.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

// Parses I/N with 1 <= I <= N. Returns the error, or "".
std::string parse_shard(const std::string& text, ShardChoice& choice) {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, choice.shard);
    bool good = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
    if (good) {
        const auto second = std::from_chars(first.ptr + 1, end, choice.of);
        good = second.ec == std::errc() && second.ptr == end;
    }
    if (good && choice.shard >= 1 && choice.shard <= choice.of) return "";
    return cli::format(
        "'{}' is no shard: give I/N, such as 3/8 for the third of eight; the first is 1", text);
}

void refuse(bool given, const std::string& text) {
    if (given) throw Failure(ExitCode::usage, text);
}

void check_choice(const ShardChoice& choice) {
    const int steps = (choice.shards != 0) + (choice.of != 0) + (choice.join ? 1 : 0);
    refuse(choice.plan.empty(),
           "shards share a plan: give --plan FILE. `warpseal encrypt --plan FILE --shards N` makes "
           "it.");
    refuse(steps != 1,
           "--plan goes with one of --shards N (makes the plan), --shard I/N (seals a part) and "
           "--join (makes the file of all parts).");
}

void check_others(const ShardChoice& choice, const ManyChoice& many, const FileChoice& file,
                  const SealChoice& seal, const OutputChoice& output) {
    refuse(file.format != WARPSEAL_FORMAT_WARPSEAL || file.age ||
               file.foreign.format != ForeignFormat::none,
           "shards are for Warpseal files only: leave --format out.");
    ManyChoice others = many;
    others.inputs.clear();
    refuse(others.is_used() || many.tar || output.preserve,
           "--plan does not go with options of many files, --tar or --preserve.");
    refuse(!choice.join && many.inputs.size() > 1, "--plan, --shards and --shard take one input.");
    refuse(!choice.join && output.force,
           "--force goes with --join only: a plan or a part that is there is kept.");
    refuse(choice.shards != 0 && !output.path.empty(),
           "the plan is the output: give --plan FILE alone, without -o.");
    refuse(choice.shards == 0 && (!seal.suite.empty() || seal.argon2_memory_mib ||
                                  seal.argon2_passes || file.secrets.public_keys()),
           "-c, -r, -R and --argon2-… go with --shards: the plan has them.");
    refuse(!file.secrets.passphrase() && file.secrets.key_count() == 0,
           "shards open the plan with a key: give -k KEYFILE or a passphrase, beside recipients "
           "too. `warpseal key remove` takes it off the joined file.");
    refuse(choice.join && (output.path.empty() || output.path == "-"),
           "--join checks the file before it appears: name it with -o.");
    refuse(choice.of != 0 && output.path == "-", "a part is a file: name it, or leave -o out.");
}

}  // namespace

void add_shard_options(CLI::App& command, ShardChoice& choice) {
    command
        .add_option("--plan", choice.plan,
                    "plan of a file that is sealed in shards, by several processes or machines")
        ->type_name("FILE")
        ->check([](const std::string& path) { return path.empty() ? "it names no file" : ""; });
    command.add_option("--shards", choice.shards, "make the plan, for N shards of the input")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 20));
    command
        .add_option_function<std::string>(
            "--shard", [&choice](const std::string& text) { (void)parse_shard(text, choice); },
            "seal shard I of N of the input to a part, by default named PLAN.I")
        ->type_name("I/N")
        ->check([](const std::string& text) {
            ShardChoice shard;
            return parse_shard(text, shard);
        });
    command.add_flag("--join", choice.join,
                     "make the sealed file of all parts, by default PLAN.1 to PLAN.N");
}

ExitCode run_shards(const ShardChoice& choice, const ManyChoice& many, const FileChoice& file,
                    const SealChoice& seal, const OutputChoice& output, Session& session) {
    check_choice(choice);
    check_others(choice, many, file, seal, output);
    if (choice.shards != 0) return make_plan(choice, file, seal, session);
    if (choice.of != 0) return seal_shard(choice, file, output, session);
    return join_parts(choice, many, file, output, session);
}

}  // namespace warpseal::cli
