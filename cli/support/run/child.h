// Child process of a command, which is ended and reaped in any case.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace warpseal::cli {

struct ChildProgram {
    std::string path;                    // as execve(2) takes it
    std::vector<std::string> arguments;  // the program's name first
    // Descriptors that become its standard streams. -1: it reads from /dev/null, and writes errors
    // where this program does.
    int input = -1;
    int output = -1;
    int errors = -1;
    std::string directory{};                 // its working directory; empty: that of this program
    bool standard_descriptors_only = false;  // it inherits no others
};

// Without a terminal, a child has a process group of its own, so that all processes of a pipeline
// can be ended. With one it stays in the foreground, so that it may ask for a PIN, and Ctrl-C
// reaches it.
class Child {
public:
    using Time = std::chrono::milliseconds;

    // Throws std::system_error if the program cannot be started.
    explicit Child(ChildProgram program);
    // Ends it with SIGTERM, and after a second with SIGKILL.
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    bool ends_within(Time time);
    // Status of waitpid(2). Not a success while the child runs.
    int status() const { return status_; }

private:
    void end(int signal_number) const;

    const bool has_group_;
    pid_t process_ = -1;
    int status_ = -1;
};

}  // namespace warpseal::cli
