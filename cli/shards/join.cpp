// Joins all parts of a plan to the sealed file, and verifies it before it appears.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "c_api/internal_slot_keys.h"
#include "cli/shards/steps.h"
#include "cli/support/format.h"
#include "cli/support/stream.h"

namespace warpseal::cli {
namespace {

constexpr size_t copy_bytes = size_t{16} << 20;
constexpr size_t most_named = 10;  // missing shards in a message

// A part that is no regular file is refused, so that opening it must not wait.
Descriptor open_part(const std::string& path) { return open_input(path, O_NONBLOCK); }

// Paths of parts in the order of their shards. There may be more parts than a process may have
// descriptors.
class Parts {
public:
    Parts(const ShardChoice& choice, const ManyChoice& many, const OpenPlan& plan)
        : plan_(plan), parts_(plan.shard_count()) {
        for (const std::string& path : many.inputs) add(path);
        for (uint32_t i = 0; many.inputs.empty() && i < parts_.size(); ++i) {
            const std::string path = part_name(choice, i + 1);
            struct stat about;
            if (stat(path.c_str(), &about) == 0 || errno != ENOENT) add(path);
        }
        refuse_missing();
    }
    const std::vector<std::string>& all() const { return parts_; }

private:
    void add(const std::string& path) {
        const Descriptor file = open_part(path);
        uint32_t index = 0;
        warpseal_file_result result{};
        const warpseal_status status = check_part(plan_, file.get(), index, result);
        if (status != WARPSEAL_OK)
            throw Failure(exit_code_of(status),
                          shard_failure("cannot join '" + path + "'", status, result));
        if (!parts_[index].empty())
            throw Failure(ExitCode::usage,
                          cli::format("'{}' and '{}' are both shard {}: give one of them.",
                                      parts_[index], path, index + 1));
        parts_[index] = path;
    }
    void refuse_missing() const {
        std::vector<size_t> missing;
        for (size_t i = 0; i < parts_.size(); ++i)
            if (parts_[i].empty()) missing.push_back(i + 1);
        if (missing.empty()) return;
        const size_t named = std::min(missing.size(), most_named);
        throw Failure(
            ExitCode::input_missing,
            cli::format(
                "{} of {} parts are missing, of shard {}{}: seal them with --shard I/{}.",
                missing.size(), parts_.size(),
                fmt::join(missing.begin(), missing.begin() + static_cast<ptrdiff_t>(named), ", "),
                named < missing.size() ? " and others" : "", parts_.size()));
    }

    const OpenPlan& plan_;
    std::vector<std::string> parts_;
};

// Copies `bytes` bytes from an offset of the part to the end of the output, in the kernel if it
// can.
void copy(const std::string& path, off_t offset, uint64_t bytes, Output& output, RawOutput& raw) {
    const Descriptor part = open_part(path);
    std::vector<uint8_t> buffer;
    bool in_kernel = true;
    while (bytes > 0) {
        raw.throw_if_interrupted();
        const size_t some = static_cast<size_t>(std::min<uint64_t>(bytes, copy_bytes));
        ssize_t moved = -1;
        if (in_kernel) {
            off_t from = offset;  // the call advances it
            moved = copy_file_range(part.get(), &from, output.descriptor(), nullptr, some, 0);
            // Another file system, an old kernel, or a file that cannot be copied so.
            in_kernel = moved > 0 || (moved < 0 && errno == EINTR);
            if (moved <= 0) continue;
        } else {
            buffer.resize(copy_bytes);
            moved = pread(part.get(), buffer.data(), some, offset);
            if (moved < 0 && errno == EINTR) continue;
            if (moved <= 0)
                throw Failure(ExitCode::input_output,
                              cli::format("cannot read the part '{}': {}.", path,
                                          moved < 0 ? strerror(errno) : "it shrank"));
            raw.write(buffer.data(), static_cast<size_t>(moved));
        }
        offset += moved;
        bytes -= static_cast<uint64_t>(moved);
    }
}

void write_file(const OpenPlan& plan, const Parts& parts, Output& output) {
    RawOutput raw(output);
    size_t bytes = 0;
    const void* const front = warpseal_internal_plan_front(plan.plan.get(), &bytes);
    raw.write(static_cast<const uint8_t*>(front), bytes);
    for (uint32_t i = 0; i < parts.all().size(); ++i) {
        const warpseal_internal_shard shard = warpseal_internal_plan_shard(plan.plan.get(), i);
        copy(parts.all()[i], WARPSEAL_INTERNAL_PART_HEAD_BYTES, shard.file_bytes, output, raw);
    }
}

// Names the part in which the first chunk that does not verify lies.
std::string damaged_part(const OpenPlan& plan, const Parts& parts, const char* message) {
    constexpr std::string_view begin = "chunk ";
    const std::string_view text = message;
    uint64_t chunk = 0;
    if (!text.starts_with(begin) ||
        std::from_chars(text.data() + begin.size(), text.data() + text.size(), chunk).ec !=
            std::errc())
        return "";
    size_t front = 0;
    (void)warpseal_internal_plan_front(plan.plan.get(), &front);
    for (uint32_t i = 0; i < parts.all().size(); ++i) {
        const warpseal_internal_shard shard = warpseal_internal_plan_shard(plan.plan.get(), i);
        // Chunks of 16384 bytes of text begin at multiples of them.
        if (chunk * 16384 < shard.text_offset + std::max<uint64_t>(shard.text_bytes, 1))
            return cli::format(" It is in '{}': remove that part and seal shard {} again.",
                               parts.all()[i], i + 1);
    }
    return "";
}

// Opens the joined file as any reader does.
void verify(const OpenPlan& plan, const Parts& parts, Secrets& secrets, Output& output,
            Progress& progress, warpseal_file_result& result) {
    if (lseek(output.descriptor(), 0, SEEK_SET) != 0)
        throw Failure(ExitCode::input_output,
                      cli::format("cannot read {} again: {}.", output.shown(), strerror(errno)));
    warpseal_file_options options{};
    options.struct_bytes = sizeof options;
    options.secrets = secrets.list().data();
    options.secret_count = secrets.list().size();
    options.progress = Progress::callback;
    options.progress_user = &progress;
    const warpseal_status status = warpseal_internal_file_open(
        plan.engine.get(), output.descriptor(), -1, &options, nullptr, &result);
    if (const int signal_number = interrupted_by())
        throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
    if (status != WARPSEAL_OK)
        throw Failure(exit_code_of(status),
                      shard_failure("the joined file does not verify", status, result) +
                          damaged_part(plan, parts, result.message) + " Nothing was written to " +
                          output.shown() + ".");
    if (result.plaintext_bytes != warpseal_internal_plan_text_bytes(plan.plan.get()))
        throw Failure(ExitCode::truncated, "the joined file has another length than the plan.");
}

}  // namespace

ExitCode join_parts(const ShardChoice& choice, const ManyChoice& many, const FileChoice& file,
                    const OutputChoice& output_choice, Session& session) {
    Secrets secrets(file.secrets, WARPSEAL_FORMAT_WARPSEAL, false);
    const OpenPlan plan = open_plan(choice, file, secrets, session);
    const Parts parts(choice, many, plan);
    Output output(output_choice, mode_encrypted);
    if (output.is_stream())
        throw Failure(ExitCode::usage, "--join checks the file before it appears, and " +
                                           output.shown() + " is a stream: name a file.");
    for (const std::string& path : parts.all()) output.refuse_same_file(open_part(path).get());
    refuse_inputs(output, -1, file.secrets);
    output.refuse_same_file(choice.plan);
    output.remove_abandoned(session);
    Progress progress(file.progress, session);
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    write_file(plan, parts, output);
    verify(plan, parts, secrets, output, progress, result);
    output.commit();
    const double seconds = progress.seconds();
    progress.done(result);
    if (!progress.is_json())
        remark(session, cli::format("joined {} parts to {}, {} of plaintext, and verified it in "
                                    "{:.2f} s.",
                                    parts.all().size(), output.shown(),
                                    human_bytes(result.plaintext_bytes), seconds));
    return ExitCode::ok;
}

}  // namespace warpseal::cli
