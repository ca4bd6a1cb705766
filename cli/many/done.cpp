// Compares the lengths of an output and an input, one of which is sealed.
#include "cli/many/done.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "c_api/internal_slot_keys.h"

namespace warpseal::cli {
namespace {

struct ReaderDelete {
    void operator()(warpseal_reader* reader) const { warpseal_reader_close(reader); }
};

bool is_older(const struct stat& a, const struct stat& b) {
    if (a.st_mtim.tv_sec != b.st_mtim.tv_sec) return a.st_mtim.tv_sec < b.st_mtim.tv_sec;
    return a.st_mtim.tv_nsec < b.st_mtim.tv_nsec;
}

}  // namespace

bool is_done(const ManyTask& task, const FileChoice& file, int input, const std::string& output,
             Session& session) {
    const Descriptor made(
        open(output.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK));
    struct stat in, out;
    if (!made || fstat(made.get(), &out) != 0 || fstat(input, &in) != 0) return false;
    if (!S_ISREG(out.st_mode) || is_older(out, in)) return false;

    const bool sealing = task.task == FileTask::encrypt;
    const EngineHandle engine = create_engine(file.engine, session);
    Secrets secrets = read_secrets(input, task.task, file);
    const std::vector<uint8_t> context = from_hexadecimal(file.context, "--context");
    Progress progress(Progress::Style::none, session);
    warpseal_file_options options = file_options(file, {}, secrets, context, progress);
    std::vector<warpseal_secret> opening;  // Recipients do not open what they seal.
    std::copy_if(options.secrets, options.secrets + options.secret_count,
                 std::back_inserter(opening), [](const warpseal_secret& secret) {
                     return secret.type != WARPSEAL_SECRET_RECIPIENT &&
                            static_cast<int>(secret.type) != WARPSEAL_INTERNAL_SECRET_STANZA;
                 });
    options.secrets = opening.data();
    options.secret_count = opening.size();
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    warpseal_reader* opened = nullptr;
    const warpseal_status status =
        warpseal_internal_reader_open(engine.get(), sealing ? made.get() : input, &options,
                                      session.file->run.slot_keys(), &opened, &result);
    const std::unique_ptr<warpseal_reader, ReaderDelete> reader(opened);
    return status == WARPSEAL_OK && warpseal_reader_size(reader.get()) ==
                                        static_cast<uint64_t>((sealing ? in : out).st_size);
}

}  // namespace warpseal::cli
