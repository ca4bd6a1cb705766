// Reads lists of names and walks directories, without following symbolic links.
#include "cli/many/inputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "cli/support/format.h"
#include "cli/support/output.h"

namespace warpseal::cli {
namespace {

// Returns "" for names that stand for a directory itself.
std::string last_component(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    return name == "." || name == ".." ? "" : name;
}

std::string joined(const std::string& directory, const std::string& name) {
    if (directory.empty()) return name;
    return directory.back() == '/' ? directory + name : directory + "/" + name;
}

// Checks each name as soon as it is read, so that a file that is no list does not fill the memory.
class NameList {
public:
    explicit NameList(const std::string& shown) : shown_(shown) {}

    void add(const char* block, size_t bytes) {
        rest_.append(block, bytes);
        size_t at = 0;
        for (size_t end; (end = rest_.find('\0', at)) != std::string::npos; at = end + 1)
            add_name(rest_.substr(at, end - at));
        rest_.erase(0, at);
        if (rest_.size() >= PATH_MAX) refuse(cli::format("longer than {} bytes", PATH_MAX - 1));
    }

    std::vector<std::string> take() {
        if (!rest_.empty()) add_name(rest_);
        return std::move(names_);
    }

private:
    void add_name(const std::string& name) {
        if (name.empty()) refuse("empty");
        if (name.size() >= PATH_MAX) refuse(cli::format("longer than {} bytes", PATH_MAX - 1));
        // "-" is a file here, since standard input may be the list.
        names_.push_back(name == "-" ? "./-" : name);
    }

    [[noreturn]] void refuse(const std::string& what) const {
        throw Failure(ExitCode::usage,
                      cli::format("name {} in {} is {}: each name ends with one zero byte, as "
                                  "`find -print0` writes it.",
                                  names_.size() + 1, shown_, what));
    }

    const std::string shown_;
    std::string rest_;  // the start of a name whose end was not read yet
    std::vector<std::string> names_;
};

std::vector<std::string> read_names(const std::string& path) {
    const std::string shown = path == "-" ? "standard input" : "'" + path + "'";
    const Descriptor list = open_input(path);
    NameList names(shown);
    char block[1 << 16];
    for (;;) {
        const ssize_t got = read(list.get(), block, sizeof block);
        const int error = errno;
        if (const int signal_number = interrupted_by())
            throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
        if (got < 0 && error == EINTR) continue;
        if (got < 0)
            throw Failure(ExitCode::input_output,
                          cli::format("cannot read {}: {}.", shown, strerror(error)));
        if (got == 0) return names.take();
        names.add(block, static_cast<size_t>(got));
    }
}

class Finder {
public:
    Finder(const ManyChoice& choice, const std::function<bool(const std::string&)>& is_left_out,
           const Session& session)
        : choice_(choice), is_left_out_(is_left_out), session_(session) {}

    void add_named(const std::string& path) {
        ManyInput input;
        input.path = path;
        input.relative = last_component(path);
        struct stat about;
        if (stat(path.c_str(), &about) != 0) return found_.push_back(std::move(input));
        if (!S_ISDIR(about.st_mode)) return add(std::move(input), about);
        if (choice_.recursive) return walk({path, last_component(path)});
        input.problem.emplace(ExitCode::input_output,
                              cli::format("cannot read '{}': it is a directory. --recursive takes "
                                          "the files in it.",
                                          path));
        found_.push_back(std::move(input));
    }

    std::vector<ManyInput> take() {
        if (left_out_ != 0)
            remark(session_, cli::format("{} files in directories were left out: their names do "
                                         "not show that they are for this command. Name them to "
                                         "take them.",
                                         left_out_));
        return std::move(found_);
    }

private:
    struct Directory {
        std::string path, relative;
    };

    void add(ManyInput input, const struct stat& about) {
        input.is_regular = S_ISREG(about.st_mode);
        input.bytes = static_cast<uint64_t>(about.st_size);
        input.identity = {about.st_dev, about.st_ino};
        found_.push_back(std::move(input));
    }

    // Directories wait in a list, so that deep trees need no deep stack.
    void walk(const Directory& top) {
        std::vector<Directory> waiting{top};
        bool is_top = true;
        while (!waiting.empty()) {
            const Directory next = std::move(waiting.back());
            waiting.pop_back();
            read_directory(next, is_top, waiting);
            is_top = false;
        }
    }

    void read_directory(const Directory& directory, bool is_top, std::vector<Directory>& waiting) {
        // A link that replaces a directory meanwhile is not followed.
        const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_top ? 0 : O_NOFOLLOW);
        const int descriptor = open(directory.path.c_str(), flags);
        DIR* const stream = descriptor < 0 ? nullptr : fdopendir(descriptor);
        if (stream == nullptr) {
            const int error = errno;
            if (descriptor >= 0) close(descriptor);
            return fail(directory, error);
        }
        std::vector<std::string> names;
        errno = 0;
        while (const dirent* entry = readdir(stream)) {
            const std::string name = entry->d_name;
            if (name != "." && name != "..") names.push_back(name);
            errno = 0;
        }
        const int error = errno;
        closedir(stream);
        if (error != 0) fail(directory, error);
        if (const int signal_number = interrupted_by())
            throw Failure(ExitCode(128 + signal_number), "interrupted: nothing was written.");
        std::sort(names.begin(), names.end());
        const size_t first = waiting.size();
        for (const std::string& name : names) read_entry(directory, name, waiting);
        std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(first), waiting.end());
    }

    void read_entry(const Directory& directory, const std::string& name,
                    std::vector<Directory>& waiting) {
        ManyInput input;
        input.path = joined(directory.path, name);
        input.relative = joined(directory.relative, name);
        input.from_directory = true;
        struct stat about;
        if (lstat(input.path.c_str(), &about) != 0) {
            if (errno == ENOENT) return;  // removed meanwhile
            return fail({input.path, input.relative}, errno);
        }
        if (S_ISDIR(about.st_mode)) {
            waiting.push_back({input.path, input.relative});
        } else if (!S_ISREG(about.st_mode)) {
            remark(session_,
                   cli::format("'{}' was left out: it is {}.", input.path,
                               S_ISLNK(about.st_mode) ? "a symbolic link" : "no regular file"));
        } else if (Output::refused_path(input.path).empty() && !is_left_out_(name)) {
            add(std::move(input), about);
        } else {
            ++left_out_;
        }
    }

    void fail(const Directory& directory, int error) {
        ManyInput input;
        input.path = directory.path;
        input.relative = directory.relative;
        input.problem.emplace(ExitCode::input_output, cli::format("cannot read '{}': {}.",
                                                                  directory.path, strerror(error)));
        found_.push_back(std::move(input));
    }

    const ManyChoice& choice_;
    const std::function<bool(const std::string&)>& is_left_out_;
    const Session& session_;
    std::vector<ManyInput> found_;
    uint64_t left_out_ = 0;
};

}  // namespace

std::vector<ManyInput> find_inputs(const ManyChoice& choice,
                                   const std::function<bool(const std::string&)>& is_left_out,
                                   const Session& session) {
    if (choice.inputs.empty() && choice.names_file.empty())
        throw Failure(ExitCode::usage,
                      "no file is named: the options of many files do not go with standard input.");
    Finder finder(choice, is_left_out, session);
    for (const std::string& path : choice.inputs) {
        if (path == "-")
            throw Failure(ExitCode::usage,
                          "standard input goes alone, without other inputs and without the "
                          "options of many files.");
        if (path.empty()) throw Failure(ExitCode::usage, "an input's name is empty.");
        finder.add_named(path);
    }
    if (!choice.names_file.empty())
        for (const std::string& path : read_names(choice.names_file)) finder.add_named(path);
    return finder.take();
}

}  // namespace warpseal::cli
