// Seals one shard to a part.
#include <fcntl.h>
#include <sys/stat.h>

#include "cli/shards/steps.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

// Returns true if a part of this shard has the output's name already: whole, as it was synced
// before it got the name.
bool is_done(const OpenPlan& plan, const std::string& path, uint32_t index) {
    const Descriptor there(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    uint32_t found = 0;
    warpseal_file_result result{};
    return there && check_part(plan, there.get(), found, result) == WARPSEAL_OK && found == index;
}

ExitCode say_already(const ShardChoice& choice, const std::string& path, Session& session) {
    remark(session,
           cli::format("shard {} of {} is in '{}' already.", choice.shard, choice.of, path));
    return ExitCode::ok;
}

ExitCode seal_new_part(const OpenPlan& plan, const ShardChoice& choice, const FileChoice& file,
                       const OutputChoice& output_choice, Session& session) {
    const Descriptor input = open_input(file.input);
    Output output(output_choice.path, mode_encrypted);
    refuse_inputs(output, input.get(), file.secrets);
    output.refuse_same_file(choice.plan);
    if (output.is_stream())
        throw Failure(ExitCode::usage, "a part is a file, and " + output.shown() + " is none.");
    output.remove_abandoned(session);
    Progress progress(file.progress, session);
    warpseal_file_options options{};
    options.struct_bytes = sizeof options;
    options.progress = Progress::callback;
    options.progress_user = &progress;
    options.any_order = 1;
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    const warpseal_status status = warpseal_internal_plan_seal_part(
        plan.plan.get(), choice.shard - 1, input.get(), output.descriptor(), &options, &result);
    if (status != WARPSEAL_OK || interrupted_by() != 0)
        throw_failure(FileTask::encrypt, file, status, result, &output);
    output.commit();
    const double seconds = progress.seconds();
    progress.done(result);
    if (!progress.is_json()) say_done(FileTask::encrypt, file, result, seconds, session);
    return ExitCode::ok;
}

}  // namespace

ExitCode seal_shard(const ShardChoice& choice, const FileChoice& file, OutputChoice output_choice,
                    Session& session) {
    Secrets secrets(file.secrets, WARPSEAL_FORMAT_WARPSEAL, false);
    const OpenPlan plan = open_plan(choice, file, secrets, session);
    secrets.wipe();
    if (choice.of != plan.shard_count())
        throw Failure(ExitCode::usage,
                      cli::format("the plan has {} shards: give --shard {}/{}.", plan.shard_count(),
                                  choice.shard, plan.shard_count()));
    if (output_choice.path.empty()) output_choice.path = part_name(choice, choice.shard);
    const uint32_t index = choice.shard - 1;
    if (is_done(plan, output_choice.path, index))
        return say_already(choice, output_choice.path, session);
    try {
        return seal_new_part(plan, choice, file, output_choice, session);
    } catch (const Failure& failure) {
        // Another process may have sealed the shard meanwhile.
        if (failure.code != ExitCode::output_exists || !is_done(plan, output_choice.path, index))
            throw;
    }
    return say_already(choice, output_choice.path, session);
}

}  // namespace warpseal::cli
