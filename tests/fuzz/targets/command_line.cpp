// Argument vectors of the program, one argument a line. All of them are parsed, and errors name
// what is wrong. One in some runs as the program, in a private directory: it ends with a documented
// exit code, and says why it fails. There, of commands that are not on files only the options are
// parsed.
#include <sys/resource.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <set>

#include "cli/program.h"
#include "cli/support/program.h"
#include "container/files.h"
#include "fuzz/target.h"

namespace {

using fuzz::claim;
using fuzz::Data;
namespace cli = warpseal::cli;
namespace fs = std::filesystem;

// A passphrase must be one line, and this key is none: no run spends time on Argon2id.
Data key_file() {
    Data key(32, 'k');
    key[3] = '\n';
    return key;
}

const Data& sealed_file() {
    static const Data& file = *[] {
        tests::Options options;
        options.add(WARPSEAL_SECRET_KEY, key_file());
        return new Data(tests::sealed(Data(40'000, 't'), options));
    }();
    return file;
}

void write(const char* name, const Data& content) {
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 ||
        ::write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
        _exit(125);
    close(file);
}

// A directory of this process, with one for each run, which has a key and some inputs.
class Directory {
public:
    Directory() : path_((fs::temp_directory_path() / "warpseal-fuzz-XXXXXX").string()) {
        claim(mkdtemp(path_.data()) != nullptr, "a temporary directory is made");
    }
    ~Directory() { fs::remove_all(path_); }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    // Call in the child.
    void enter() const {
        if (chdir(path_.c_str()) != 0) _exit(125);
        write("key", key_file());
        write("plain", Data(40'000, 't'));
        write("sealed", sealed_file());
    }
    void clear() const {
        for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
    }

private:
    std::string path_;
};

// Registers the commands as the program does. Those that are not about files given by name do
// nothing after their options are parsed.
void add_commands(CLI::App& program, cli::Session& session) {
    static const std::set<std::string> on_files = {"encrypt", "decrypt", "verify", "rescue",
                                                   "info",    "keygen",  "raw",    "list"};
    cli::add_commands(program, session);
    program.final_callback([&program, &session] {
        for (const CLI::App* command : program.get_subcommands())
            if (on_files.count(command->get_name()) == 0)
                session.command = [] { return cli::ExitCode::ok; };
    });
}

// With a null pointer at the end.
std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return pointers;
}

[[noreturn]] void run_in_child(const Directory& directory, std::vector<std::string>& arguments,
                               int out, int error) {
    // The program must not see a terminal, and a run that goes on and on is a crash.
    setsid();
    const rlimit seconds{20, 20}, bytes{8 << 20, 8 << 20};
    alarm(300);
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_FSIZE, &bytes);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        std::signal(signal, SIG_DFL);
    directory.enter();
    const int nothing = open("/dev/null", O_RDONLY);
    if (dup2(nothing, 0) != 0 || dup2(out, 1) != 1 || dup2(error, 2) != 2) _exit(125);
    closefrom(3);
    std::vector<char*> pointers = pointers_to(arguments);
    _exit(cli::run_program({"warpseal", "The program with commands on files.", add_commands},
                           static_cast<int>(arguments.size()), pointers.data()));
}

bool documented(int code) {
    return std::any_of(std::begin(cli::exit_code_texts), std::end(cli::exit_code_texts),
                       [code](const auto& row) { return static_cast<int>(row.code) == code; });
}

// The program's options in this process, which can parse many lines.
class Options {
public:
    Options() {
        cli::add_options(program_, {"warpseal", "The program.", cli::add_commands}, session_);
    }
    void parse(std::vector<char*>& arguments) {
        try {
            const auto asked = cli::parse_arguments(
                program_, static_cast<int>(arguments.size()) - 1, arguments.data());
            claim(!asked || !asked->empty(), "help has a text");
        } catch (const cli::Failure& failure) {
            claim(documented(static_cast<int>(failure.code)) && failure.what()[0] != 0,
                  "an error has a documented exit code and a text");
        }
    }

private:
    cli::Session session_;
    CLI::App program_;
};

// A run takes longer than parsing some hundred lines. libFuzzer runs one of 500, always the same.
bool runs(const uint8_t* data, size_t bytes) {
#ifdef WARPSEAL_LIBFUZZER
    uint32_t sum = 2166136261;  // FNV-1a
    for (size_t i = 0; i < bytes; ++i) sum = (sum ^ data[i]) * 16777619;
    return (sum >> 8) % 500 == 0;
#else
    (void)data, (void)bytes;
    return true;
#endif
}

void run(const uint8_t* data, size_t bytes) {
    static const Directory directory;
    static Options& options = *new Options;
    std::vector<std::string> arguments = {"warpseal"};
    fuzz::Input input(data, bytes);
    std::string argument;
    for (const uint8_t byte : input.rest()) {
        if (byte == '/') return;  // a path outside the directory
        if (byte != '\n')
            argument += static_cast<char>(byte);
        else
            arguments.push_back(std::move(argument)), argument.clear();
        if (byte == 0 || arguments.size() > 60) return;
    }
    arguments.push_back(argument);
    std::vector<char*> pointers = pointers_to(arguments);
    options.parse(pointers);
    if (!runs(data, bytes)) return;
    const tests::MemoryFile out, error;
    (void)sealed_file();
    const pid_t child = fork();
    if (child == 0) run_in_child(directory, arguments, out.get(), error.get());
    int status = 0;
    pid_t ended = -1;
    do {
        ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);  // by libFuzzer's timer
    claim(child > 0 && ended == child, "the child ends");
    directory.clear();
    const Data said = error.data();
    if (!WIFEXITED(status) || !documented(WEXITSTATUS(status)))
        (void)!::write(2, said.data(), said.size());
    claim(WIFEXITED(status), "no run ends by a signal");
    claim(documented(WEXITSTATUS(status)), "the exit code is documented");
    const std::string text(said.begin(), said.end());
    claim(WEXITSTATUS(status) == 0 || text.find("warpseal: ") != std::string::npos ||
              text.find("\"event\":\"failed\"") != std::string::npos,
          "a failure has a text");
}

FUZZ_TARGET("command_line", run);

}  // namespace
