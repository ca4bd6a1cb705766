// Runs a packing or unpacking thread beside the encryption.
#include "cli/tar/tar.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cli/support/format.h"
#include "cli/tar/pack.h"
#include "cli/tar/target.h"
#include "cli/tar/unpack.h"

namespace warpseal::cli {
namespace {

using namespace tar;

constexpr const char* keeps_them = "--preserve: the archive keeps permissions and times by itself";

void refuse_option(bool given, const char* option) {
    if (given) fail(ExitCode::usage, cli::format("--tar does not go with {}.", option));
}

void check_choice(const ManyChoice& many) {
    refuse_option(many.recursive, "--recursive: it takes the files in directories by itself");
    refuse_option(!many.names_file.empty(), "--files-from0");
    refuse_option(!many.suffix.empty(), "--suffix");
    refuse_option(many.keep_going, "--keep-going: its one output is whole or not there");
    refuse_option(many.json, "--json");
    refuse_option(many.skip_done, "--skip-done");
    refuse_option(many.remove, "--rm");
}

// The name of a directory that is given as "." or "..".
std::string real_name(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), free);
    if (!real) fail_system("open", path, errno);
    return real.get();
}

std::string name_of(const std::string& given) {
    const auto last = [](std::string path) {
        while (path.size() > 1 && path.back() == '/') path.pop_back();
        return path.substr(path.rfind('/') + 1);
    };
    std::string name = last(given);
    if (name.empty() || name == "." || name == "..") name = last(real_name(given));
    if (name.empty())
        fail(ExitCode::usage,
             cli::format("'{}' has no name for the archive: name what is in it.", given));
    return name;
}

std::vector<Named> find_named(const std::vector<std::string>& inputs) {
    if (inputs.empty())
        fail(ExitCode::usage, "--tar packs files and directories: name one or more.");
    std::vector<Named> found;
    std::set<std::string> names;
    for (const std::string& path : inputs) {
        if (path == "-")
            fail(ExitCode::usage,
                 "--tar packs files and directories, and standard input is neither.");
        struct stat about;
        if (stat(path.c_str(), &about) != 0)
            fail(errno == ENOENT || errno == ENOTDIR ? ExitCode::input_missing
                                                     : ExitCode::input_output,
                 cli::format("cannot read '{}': {}.", path, strerror(errno)));
        found.push_back({path, name_of(path)});
        if (!names.insert(found.back().name).second)
            fail(ExitCode::usage, cli::format("two inputs would be '{}' in the archive: pack their "
                                              "common directory, or one at a time.",
                                              found.back().name));
    }
    return found;
}

bool is_standard_output(const std::string& path) { return path.empty() || path == "-"; }

// The file that the output is or will replace.
bool stat_output(const std::string& path, struct stat& about) {
    const int found =
        is_standard_output(path) ? fstat(STDOUT_FILENO, &about) : stat(path.c_str(), &about);
    return found == 0;
}

LeftOut find_left_out(const OutputChoice& output) {
    LeftOut left_out;
    struct stat about;
    if (stat_output(output.path, about) && S_ISREG(about.st_mode))
        left_out.file = FileIdentity{about.st_dev, about.st_ino};
    if (is_standard_output(output.path)) return left_out;
    const size_t slash = output.path.rfind('/');
    const std::string directory =
        slash == std::string::npos ? "." : output.path.substr(0, slash + 1);
    left_out.name = output.path.substr(slash == std::string::npos ? 0 : slash + 1);
    if (stat(directory.c_str(), &about) == 0)
        left_out.directory = FileIdentity{about.st_dev, about.st_ino};
    return left_out;
}

void refuse_output_as_input(const std::vector<Named>& inputs, const LeftOut& left_out) {
    struct stat about;
    for (const Named& input : inputs)
        if (left_out.file && stat(input.path.c_str(), &about) == 0 &&
            about.st_dev == left_out.file->device && about.st_ino == left_out.file->inode)
            fail(ExitCode::usage,
                 cli::format("'{}' is the output too: name another one with -o.", input.path));
}

std::string shown(const std::vector<Named>& inputs) {
    return inputs.size() == 1 ? inputs[0].path
                              : cli::format("{}' and {} more", inputs[0].path, inputs.size() - 1);
}

// Returns a sentence on the output after a failure of the packing.
std::string left_behind(const OutputChoice& output) {
    struct stat about;
    const bool file = !is_standard_output(output.path) &&
                      (stat(output.path.c_str(), &about) != 0 || S_ISREG(about.st_mode));
    if (file) return cli::format(" Nothing was written to '{}'.", output.path);
    return cli::format(" What went to {} is useless.", is_standard_output(output.path)
                                                           ? "standard output"
                                                           : "'" + output.path + "'");
}

// The failure of the thread if it made the pipeline fail, by closing its end.
std::optional<Failure> cause_of(const Failure& failure, SideTask& thread) {
    return failure.code == ExitCode::input_output ? thread.failure() : std::nullopt;
}

// Closes the pipeline's end before the thread is waited for, also after exceptions.
struct CloseFirst {
    Descriptor& end;
    ~CloseFirst() { (void)end.close(); }
};

mode_t current_umask() {
    const mode_t mask = umask(0);
    umask(mask);
    return mask;
}

}  // namespace

ExitCode run_tar_encrypt(const ManyChoice& many, const FileChoice& file, const OutputChoice& output,
                         const OneFile& seal, Session& session) {
    check_choice(many);
    refuse_option(!many.output_directory.empty(), "--output-dir: name the output with -o");
    refuse_option(output.preserve, keeps_them);
    const std::vector<Named> inputs = find_named(many.inputs);
    LeftOut left_out = find_left_out(output);
    refuse_output_as_input(inputs, left_out);
    FileChoice named = file;
    named.input = shown(inputs);
    Channel channel = channel_to_pipeline();
    SideTask thread(std::move(channel.thread), [&, out = std::move(left_out)](int end) {
        Packer packer(end, out, session);
        for (const Named& input : inputs) packer.add(input);
        packer.finish();
    });
    const CloseFirst close_first{channel.pipeline};
    try {
        seal(named, channel.pipeline.get(), output);
    } catch (const Failure& failure) {
        const std::optional<Failure> cause = cause_of(failure, thread);
        if (!cause) throw;
        fail(cause->code, cause->what() + left_behind(output));
    }
    // A kernel whose sockets end without an error after a failure.
    (void)channel.pipeline.close();
    thread.join();
    if (const std::optional<Failure> failure = thread.failure())
        fail(failure->code,
             cli::format("{} The output has only what came before: remove it.", failure->what()));
    return ExitCode::ok;
}

ExitCode run_tar_decrypt(const ManyChoice& many, const FileChoice& file, const OutputChoice& output,
                         const OneFile& open, Session& session) {
    check_choice(many);
    refuse_option(!output.path.empty(), "-o: name the directory with --output-dir");
    refuse_option(output.preserve, keeps_them);
    if (many.output_directory.empty())
        fail(ExitCode::usage, "--tar needs --output-dir DIR to unpack into.");
    if (many.inputs.size() > 1) fail(ExitCode::usage, "--tar unpacks one file: name one.");
    const Descriptor input = open_input(file.input);
    const std::string nothing = cli::format(" Nothing was written to '{}'.", many.output_directory);
    Target target(many.output_directory, output.force, session);
    uint64_t entries = 0;
    Channel channel = channel_from_pipeline();
    const mode_t mask = current_umask();
    SideTask thread(std::move(channel.thread), [&](int end) {
        Tree tree(target.tree(), mask);
        Unpacker unpacker(end, tree, [&](const std::string& name) { target.check_top(name); });
        unpacker.run();
        entries = unpacker.entries();
    });
    const CloseFirst close_first{channel.pipeline};
    try {
        open(file, input.get(),
             {many.output_directory, output.force, false, channel.pipeline.get()});
    } catch (const Failure& failure) {
        const std::optional<Failure> cause = cause_of(failure, thread);
        (void)channel.pipeline.close();
        thread.join();
        if (!cause) throw;
        fail(cause->code, cause->what() + nothing);
    }
    (void)channel.pipeline.close();
    thread.join();
    if (const std::optional<Failure> failure = thread.failure())
        fail(failure->code, failure->what() + nothing);
    target.place();
    remark(session, cli::format("unpacked {} entries into '{}'", entries, many.output_directory));
    return ExitCode::ok;
}

}  // namespace warpseal::cli
