// Makes and opens plans.
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/shards/steps.h"
#include "cli/support/format.h"
#include "cli/support/interrupt.h"
#include "cli/support/stream.h"

namespace warpseal::cli {
namespace {

using Pin = std::vector<uint8_t>;

// Larger than any plan.
constexpr size_t most_plan_bytes = size_t{128} << 10;
// Longest step of a file system's clock: nanoseconds on paper are a tick of 10 ms at most, and
// times without them have steps of a second, or of two.
constexpr int fine_milliseconds = 20, coarse_milliseconds = 2100;

[[noreturn]] void fail_plan(const std::string& what, warpseal_status status,
                            const warpseal_file_result& result) {
    throw Failure(exit_code_of(status), shard_failure(what, status, result));
}

Pin pin_of(int input, const FileChoice& file) {
    Pin pin(WARPSEAL_INTERNAL_PIN_BYTES);
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    const warpseal_status status = warpseal_internal_pin_file(input, pin.data(), &result);
    if (status != WARPSEAL_OK) fail_plan("cannot plan " + shown(file), status, result);
    return pin;
}

// Returns true if the times of a file have nanoseconds.
bool is_fine(int input) {
    struct stat about;
    return fstat(input, &about) == 0 && (about.st_mtim.tv_nsec != 0 || about.st_ctim.tv_nsec != 0);
}

// Writes the input's dirty pages. A mapping that dirtied a page takes more stores without another
// time of change, until the page is written.
void sync_input(int input, const FileChoice& file) {
    // Not all file systems have it.
    if (fsync(input) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return;
    throw Failure(ExitCode::input_output,
                  cli::format("cannot sync {}: {}.", shown(file), strerror(errno)));
}

// Waits until a write to the input would give it other times than those of the pin.
void wait_for_the_clock(int input, const FileChoice& file, const Pin& pin) {
    pollfd stop = {interrupt_descriptor(), POLLIN, 0};
    poll(&stop, 1, is_fine(input) ? fine_milliseconds : coarse_milliseconds);
    if (const int signal_number = interrupted_by())
        throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
    sync_input(input, file);
    if (pin_of(input, file) == pin) return;
    throw Failure(
        ExitCode::input_output,
        cli::format("{} is being written: make the plan when it is complete.", shown(file)));
}

// Returns the bytes from the input's position to its end.
uint64_t text_bytes_of(int input, const FileChoice& file) {
    struct stat about;
    const off_t position = lseek(input, 0, SEEK_CUR);
    if (fstat(input, &about) != 0 || position < 0)
        throw Failure(ExitCode::input_output, cli::format("cannot find the length of {}: {}.",
                                                          shown(file), strerror(errno)));
    if (about.st_size <= position)
        throw Failure(ExitCode::usage,
                      cli::format("{} is empty: seal it without shards.", shown(file)));
    return static_cast<uint64_t>(about.st_size - position);
}

std::vector<uint8_t> read_plan(const std::string& path) {
    const Descriptor input = open_input(path);
    std::vector<uint8_t> data(most_plan_bytes);
    size_t have = 0;
    while (have < data.size()) {
        const ssize_t got = read(input.get(), data.data() + have, data.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Failure(ExitCode::input_output,
                          cli::format("cannot read the plan '{}': {}.", path, strerror(errno)));
        if (got == 0) break;
        have += static_cast<size_t>(got);
    }
    data.resize(have);
    return data;
}

}  // namespace

std::string shard_failure(const std::string& what, warpseal_status status,
                          const warpseal_file_result& result) {
    std::string text =
        what + ": " + (result.message[0] ? result.message : warpseal_status_text(status));
    if (result.system_error != 0 && text.find(strerror(result.system_error)) == std::string::npos)
        text += cli::format(": {}", strerror(result.system_error));
    return text + ".";
}

std::string part_name(const ShardChoice& choice, uint32_t number) {
    return cli::format("{}.{}", choice.plan, number);
}

OpenPlan open_plan(const ShardChoice& choice, const FileChoice& file, Secrets& secrets,
                   Session& session) {
    const std::vector<uint8_t> data = read_plan(choice.plan);
    OpenPlan open;
    open.engine = create_engine(file.engine, session);
    warpseal_file_options options{};
    options.struct_bytes = sizeof options;
    options.secrets = secrets.list().data();
    options.secret_count = secrets.list().size();
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    warpseal_internal_plan* made = nullptr;
    const warpseal_status status = warpseal_internal_plan_open(
        open.engine.get(), data.data(), data.size(), &options, &made, &result);
    open.plan.reset(made);
    if (status != WARPSEAL_OK)
        fail_plan("cannot open the plan '" + choice.plan + "'", status, result);
    return open;
}

warpseal_status check_part(const OpenPlan& plan, int part, uint32_t& index,
                           warpseal_file_result& result) {
    result = {};
    result.struct_bytes = sizeof result;
    return warpseal_internal_plan_check_part(plan.plan.get(), part, &index, &result);
}

ExitCode make_plan(const ShardChoice& choice, const FileChoice& file, const SealChoice& seal,
                   Session& session) {
    const Descriptor input = open_input(file.input);
    const Pin pin = pin_of(input.get(), file);
    const uint64_t text_bytes = text_bytes_of(input.get(), file);
    Output output(choice.plan, mode_encrypted);
    refuse_inputs(output, input.get(), file.secrets);
    Secrets secrets(file.secrets, WARPSEAL_FORMAT_WARPSEAL, true);
    say_if_short(secrets, session);
    output.remove_abandoned(session);
    const EngineHandle engine = create_engine(file.engine, session);
    Progress progress(Progress::Style::none, session);
    const warpseal_file_options options = file_options(file, seal, secrets, {}, progress);
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    warpseal_internal_plan* made = nullptr;
    const warpseal_status status = warpseal_internal_plan_create(
        engine.get(), &options, text_bytes, choice.shards, pin.data(), &made, &result);
    const PlanHandle plan(made);
    if (status != WARPSEAL_OK) fail_plan("cannot plan " + shown(file), status, result);
    size_t bytes = 0;
    const auto* const data =
        static_cast<const uint8_t*>(warpseal_internal_plan_data(plan.get(), &bytes));
    RawOutput(output).write(data, bytes);
    wait_for_the_clock(input.get(), file, pin);
    output.commit();
    remark(session, cli::format("a plan of {} shards of about {} each is in '{}'. Seal each with "
                                "--shard I/{} and the same input, then --join.",
                                choice.shards, human_bytes(text_bytes / choice.shards), choice.plan,
                                choice.shards));
    return ExitCode::ok;
}

}  // namespace warpseal::cli
