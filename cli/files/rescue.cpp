// `warpseal rescue`: writes what verifies of a damaged file, with a list of its holes.
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "c_api/internal_slot_keys.h"
#include "cli/age/age.h"
#include "cli/commands.h"
#include "cli/files/file_command.h"
#include "cli/foreign/foreign.h"
#include "cli/support/format.h"
#include "cli/support/stream.h"

namespace warpseal::cli {
namespace {

constexpr char rescued_ending[] = ".rescued";
constexpr const char* sealed_endings[] = {".ws", ".age", ".floe"};

struct RescueChoice {
    FileChoice file;
    AgeChoice age;  // identities
    std::string output;
    std::string holes;  // empty: the output's name and ".json"

    std::string holes_path() const { return holes.empty() ? output + ".json" : holes; }
};

// Writes the list of holes as JSON while they are found, so that memory does not depend on their
// number.
class HoleList {
public:
    explicit HoleList(Output& output) : output_(output) {}

    // Callback for warpseal_rescue; `list` is a HoleList*. Returns non-zero if writing failed.
    static int callback(void* list, const warpseal_file_hole* hole) {
        HoleList& its = *static_cast<HoleList*>(list);
        try {
            its.add(*hole);
            return 0;
        } catch (...) {
            its.thrown_ = std::current_exception();
            return 1;
        }
    }
    // Throws the failure that made callback() return non-zero.
    void throw_failure() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }
    void finish(const warpseal_rescue& rescue, const warpseal_file_result& result) {
        nlohmann::ordered_json rest{
            {"hole_bytes", rescue.hole_bytes},
            {"authentic_bytes", result.plaintext_bytes},
            {"output_bytes", result.output_bytes},
            {"end", rescue.end_found != 0 ? "found" : "missing"},
            {"bytes_after_end", rescue.bytes_after_end},
        };
        const std::string members = rest.dump(2);
        text_ += cli::format("{}],{}\n", count_ == 0 ? beginning : "\n  ", members.substr(1));
        flush();
    }

private:
    static constexpr char beginning[] = "{\n  \"version\": 1,\n  \"holes\": [";
    static constexpr size_t buffer_bytes = 65536;

    void add(const warpseal_file_hole& hole) {
        const bool cut = hole.reason == WARPSEAL_HOLE_CUT_OR_CHANGED;
        const nlohmann::ordered_json one{{"offset", hole.offset},
                                         {"bytes", hole.bytes},
                                         {"reason", cut ? "cut or changed" : "not authentic"}};
        text_ += cli::format("{}\n    {}", count_++ == 0 ? beginning : ",", one.dump());
        if (text_.size() >= buffer_bytes) flush();
    }
    void flush() {
        output_.write(reinterpret_cast<const uint8_t*>(text_.data()), text_.size());
        text_.clear();
    }

    RawOutput output_;
    std::string text_;
    uint64_t count_ = 0;
    std::exception_ptr thrown_;
};

bool ends_in(const std::string& text, const char* ending) {
    const std::string_view end = ending;
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::filesystem::path whole_path(const std::string& path) {
    std::error_code error;
    const std::filesystem::path whole =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    return error ? std::filesystem::path(path) : whole;  // Opening the path reports the error.
}

std::string refused_output(const std::string& path) {
    return ends_in(path, rescued_ending)
               ? ""
               : cli::format("it must end in {}, so that nobody takes it for the original",
                             rescued_ending);
}

// A rescued file and its list never get the name that decrypt would give the original.
void refuse_names(const RescueChoice& choice) {
    const std::filesystem::path output = whole_path(choice.output);
    const std::filesystem::path holes = whole_path(choice.holes_path());
    if (output == holes)
        throw Failure(ExitCode::usage, cli::format("'{}' cannot be the list of holes too: give "
                                                   "--holes another name.",
                                                   choice.output));
    const std::string& input = choice.file.input;
    const auto ending = std::find_if(std::begin(sealed_endings), std::end(sealed_endings),
                                     [&](const char* one) { return ends_in(input, one); });
    if (ending == std::end(sealed_endings)) return;
    const std::filesystem::path original =
        whole_path(input.substr(0, input.size() - strlen(*ending)));
    for (const std::filesystem::path& path : {output, holes})
        if (path == original)
            throw Failure(ExitCode::usage,
                          cli::format("'{}' is the name of the original of '{}', and a rescued "
                                      "file never gets it: give another name.",
                                      path.string(), input));
}

void refuse_stream(const Output& output) {
    if (output.is_stream())
        throw Failure(ExitCode::usage,
                      cli::format("{} is a pipe or a device: name a file, as a rescued file and "
                                  "its list belong together.",
                                  output.shown()));
}

void require_file(const Descriptor& input, const FileChoice& choice) {
    struct stat about;
    if (fstat(input.get(), &about) == 0 && S_ISREG(about.st_mode)) return;
    throw Failure(ExitCode::usage,
                  cli::format("{} is a pipe or a device: save it to a file first, because a rescue "
                              "reads parts of it again.",
                              shown(choice)));
}

// The list gets its name first: a rescued file is never without it.
void commit(Output& list, Output& output) {
    list.sync();
    output.sync();
    Uninterrupted shield;
    list.finish(true);
    try {
        output.finish(true);
    } catch (...) {
        list.take_back();
        throw;
    }
}

std::string summary(const RescueChoice& choice, const warpseal_file_result& result) {
    return cli::format(
        "'{}' is not the whole file: {}. Holes are filled with zeros; '{}' lists them. Take the "
        "file from its source or a backup if there is one.",
        choice.output, result.message, choice.holes_path());
}

void say_what_else(const RescueChoice& choice, const warpseal_rescue& rescue,
                   const warpseal_file_result& result) {
    if (rescue.bytes_after_end != 0)
        complain(cli::format("{} bytes follow the end of {} and were left out.",
                             rescue.bytes_after_end, shown(choice.file)));
    if (result.header_copies_differ != 0)
        complain(
            cli::format("the two copies of the header of {} differ: one is damaged, or a "
                        "change of its keys was not finished. It was opened with the other.",
                        shown(choice.file)));
}

// One file that is rescued.
struct RescueCall {
    FileChoice file;
    const AgeChoice& age;
    int input;
    Output& output;
    Progress& progress;
    Session& session;
    warpseal_rescue report{};
    warpseal_file_result result{};
};

warpseal_status rescue_own(RescueCall& call) {
    refuse_foreign_options(call.file);
    Secrets secrets = read_secrets(call.input, FileTask::rescue, call.file);
    const EngineHandle engine = create_engine(call.file.engine, call.session);
    const std::vector<uint8_t> context = from_hexadecimal(call.file.context, "--context");
    const warpseal_file_options options =
        file_options(call.file, {}, secrets, context, call.progress);
    return warpseal_internal_file_rescue(engine.get(), call.input, call.output.descriptor(),
                                         &options, &call.report, &call.result);
}

warpseal_status rescue_any(RescueCall& call) {
    if (is_age(call.file, call.age, call.input)) {
        // An age file reads its identities itself, so that it can unlock them.
        call.file.secrets.identities = nullptr;
        return rescue_age(call.file, call.age, call.input, call.output, call.report, call.result,
                          call.session);
    }
    call.file.foreign.format = foreign_format(FileTask::rescue, call.file, call.input);
    if (call.file.foreign.format == ForeignFormat::none) return rescue_own(call);
    if (call.file.secrets.public_keys())
        throw Failure(ExitCode::usage,
                      cli::format("{} goes with Warpseal and age files only, and {} is another: "
                                  "leave it out.",
                                  call.age.identity_option(), shown(call.file)));
    return rescue_foreign(call.file, call.output, call.input, call.session, call.report,
                          call.result);
}

// A list that cannot be written ends the rescue, and is the failure to report.
warpseal_status rescue_with(RescueCall& call, HoleList& holes) {
    try {
        const warpseal_status status = rescue_any(call);
        holes.throw_failure();
        return status;
    } catch (const Failure&) {
        holes.throw_failure();
        throw;
    }
}

void refuse_needed_files(Output& output, int input, const RescueChoice& choice) {
    refuse_stream(output);
    refuse_inputs(output, input, choice.file.secrets);
    for (const std::string& path : choice.age.identities)
        path == "-" ? output.refuse_same_file(STDIN_FILENO) : output.refuse_same_file(path);
}

ExitCode run(RescueChoice& choice, Session& session) {
    if (!choice.file.age) add_identities(choice.age, choice.file.secrets, session);
    check_file_choice(choice.file);
    if (choice.age.any() && choice.file.format == WARPSEAL_FORMAT_COBBLESTONE)
        throw Failure(
            ExitCode::usage,
            cli::format("{} goes with Warpseal and age files only: leave it or --format out.",
                        choice.age.identity_option()));
    refuse_names(choice);
    const Descriptor input = open_input(choice.file.input);
    refuse_shared_identities(choice.age, input.get());
    require_file(input, choice.file);
    Output output(choice.output, mode_decrypted);
    Output list(choice.holes_path(), mode_decrypted);
    for (Output* one : {&output, &list}) refuse_needed_files(*one, input.get(), choice);
    for (const Output* one : {&output, &list}) one->remove_abandoned(session);

    Progress progress(choice.file.progress, session);
    HoleList holes(list);
    RescueCall call{choice.file, choice.age, input.get(), output, progress, session};
    call.report.struct_bytes = sizeof call.report;
    call.report.hole = HoleList::callback;
    call.report.hole_user = &holes;
    call.result.struct_bytes = sizeof call.result;
    const warpseal_status status = rescue_with(call, holes);
    if (call.report.finished == 0 || interrupted_by() != 0)
        throw_failure(FileTask::rescue, choice.file, status, call.result, &output);
    holes.finish(call.report, call.result);
    commit(list, output);
    say_what_else(choice, call.report, call.result);
    if (status != WARPSEAL_OK)
        throw Failure(ExitCode::rescued_in_part, summary(choice, call.result));
    const double seconds = progress.seconds();
    progress.done(call.result);
    if (!progress.is_json()) say_done(FileTask::rescue, choice.file, call.result, seconds, session);
    return ExitCode::ok;
}

}  // namespace

void add_rescue(CLI::App& program, Session& session) {
    auto choice = std::make_shared<RescueChoice>();
    CLI::App* command = program.add_subcommand(
        "rescue", "Write what is authentic of a damaged file, with zeros in the holes");
    add_file_options(*command, choice->file, session);
    add_age_decrypt_options(*command, choice->age);
    add_floe_options(*command, choice->file.foreign);
    command
        ->add_option("-o,--output", choice->output,
                     "file to write, appears when finished; its name ends in .rescued")
        ->type_name("OUTPUT.rescued")
        ->required()
        ->check(Output::refused_path)
        ->check(refused_output);
    command
        ->add_option("--holes", choice->holes,
                     "list of the holes to write, in JSON; else OUTPUT.rescued.json")
        ->type_name("FILE")
        ->check(Output::refused_path);
    command->footer(
        "Each chunk of 16 KiB that verifies is written at its offset. No other byte of the file "
        "is.\n"
        "Files of age and FLOE are rescued too, by chunks of 64 KiB and by segments.\n"
        "Exit code 0 means that the whole text was rescued, 27 that it has holes or that its end "
        "is missing.\n"
        "Other codes mean that nothing was written, as when both copies of the header are "
        "damaged.\n"
        "Example:\n"
        "  warpseal rescue -k my.key disk.img.ws -o disk.img.rescued");
    command->callback([choice, &session] {
        session.command = [choice, &session] { return run(*choice, session); };
    });
}

}  // namespace warpseal::cli
