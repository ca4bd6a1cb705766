// Finds and checks the files of `warpseal key`, and reports on each.
#include "cli/key/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "cli/many/inputs.h"
#include "cli/many/names.h"
#include "cli/support/format.h"
#include "cli/support/output_directory.h"

namespace warpseal::cli {
namespace {

constexpr size_t most_unchanged_names = 20;  // of files that were not changed, in a message

void print_line(const ManyChoice& choice, nlohmann::ordered_json& line, const char* status,
                ExitCode code, const std::string& message) {
    if (!choice.json) return;
    line["status"] = status;
    line["exit_code"] = static_cast<int>(code);
    if (!message.empty()) line["message"] = message;
    // Names may hold any byte.
    print_output(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                 "\n");
}

// Want of memory during the work is the failure of one file.
void work_within_memory(const KeyWork& work, const std::string& path,
                        nlohmann::ordered_json& line) {
    try {
        work(path, line);
    } catch (const std::bad_alloc&) {
        throw Failure(
            ExitCode::error,
            cli::format("out of memory for '{}': `warpseal key list` shows its keys.", path));
    }
}

std::string names_of_rest(const std::vector<KeyFile>& files, size_t first) {
    std::string names;
    for (size_t i = first; i < files.size() && i < first + most_unchanged_names; ++i)
        names += cli::format("{}'{}'", names.empty() ? " Not changed: " : ", ", files[i].path);
    if (files.size() > first + most_unchanged_names)
        names += cli::format(" and {} more", files.size() - first - most_unchanged_names);
    return names.empty() ? "" : names + ".";
}

}  // namespace

std::vector<KeyFile> find_key_files(const ManyChoice& choice, const Session& session) {
    if (choice.inputs.empty() && choice.names_file.empty())
        throw Failure(ExitCode::usage, "file is required: name a sealed file.");
    std::vector<KeyFile> files;
    if (choice.names_file.empty() && !choice.recursive) {
        for (const std::string& path : choice.inputs) files.push_back({path});
        return files;
    }
    const Suffixes suffixes({}, ".ws");
    const std::vector<ManyInput> found = find_inputs(
        choice,
        [&](const std::string& name) {
            const std::string& ending = suffixes.of_new_files();
            return name.size() <= ending.size() ||
                   name.compare(name.size() - ending.size(), ending.size(), ending) != 0;
        },
        session);
    for (const ManyInput& input : found) files.push_back({input.path, input.problem});
    if (files.empty()) remark(session, "there are no files: nothing was done.");
    return files;
}

Descriptor open_in_place(const std::string& path) {
    const std::string shown = "'" + path + "'";
    struct stat about;
    if (stat(path.c_str(), &about) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            throw Failure(ExitCode::input_missing,
                          cli::format("there is no input {}: check the path.", shown));
        throw Failure(ExitCode::input_output,
                      cli::format("cannot open {}: {}.", shown, strerror(errno)));
    }
    if (S_ISDIR(about.st_mode))
        throw Failure(ExitCode::input_output,
                      cli::format("cannot change the keys of {}: it is a directory.", shown));
    if (!S_ISREG(about.st_mode))
        throw Failure(ExitCode::usage,
                      cli::format("cannot change the keys of {}: it is not a regular file. Name "
                                  "the sealed file.",
                                  shown));
    const LinksEnd end = resolve_links(path, shown);
    Descriptor file(end.through_procfs
                        ? open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY)
                        : open(end.path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
    if (!file)
        throw Failure(
            ExitCode::input_output,
            cli::format("cannot open {} for reading and writing: {}.", shown, strerror(errno)));
    return file;
}

void check_key_files(std::vector<KeyFile>& files, const ManyChoice& choice) {
    std::map<std::pair<dev_t, ino_t>, std::string> names;
    for (KeyFile& file : files) {
        try {
            if (file.problem) throw *file.problem;
            struct stat about;
            if (fstat(open_in_place(file.path).get(), &about) != 0)
                throw Failure(ExitCode::input_output,
                              cli::format("cannot open '{}': {}.", file.path, strerror(errno)));
            const auto [first, is_new] =
                names.emplace(std::pair{about.st_dev, about.st_ino}, file.path);
            if (!is_new)
                throw Failure(ExitCode::usage,
                              cli::format("'{}' and '{}' are the same file: name it once.",
                                          first->second, file.path));
        } catch (const Failure& failure) {
            if (!choice.keep_going) throw;
            file.problem = failure;
        }
    }
}

ExitCode for_each_key_file(const std::vector<KeyFile>& files, const ManyChoice& choice,
                           bool changes, const KeyWork& work) {
    size_t failed = 0;
    for (size_t i = 0; i < files.size(); ++i) {
        const KeyFile& file = files[i];
        nlohmann::ordered_json line{{"file", file.path}};
        try {
            // An interrupted run ends before its next file.
            if (const int signal_number = interrupted_by())
                throw Failure(ExitCode(128 + signal_number), "interrupted.");
            if (file.problem) throw *file.problem;
            work_within_memory(work, file.path, line);
        } catch (const Failure& failure) {
            const bool before = failure.code >= ExitCode(128);
            if (!before) print_line(choice, line, "failed", failure.code, failure.what());
            if (choice.keep_going && !before) {
                complain(failure.what());
                ++failed;
                continue;
            }
            const std::string rest = changes ? names_of_rest(files, before ? i : i + 1) : "";
            if (rest.empty()) throw;
            throw Failure(failure.code, failure.what() + rest);
        }
        print_line(choice, line, "done", ExitCode::ok, "");
    }
    if (failed == 0) return ExitCode::ok;
    throw Failure(ExitCode::some_failed,
                  cli::format("{} of {} file{} failed, as said above.", failed, files.size(),
                              files.size() == 1 ? "" : "s"));
}

}  // namespace warpseal::cli
