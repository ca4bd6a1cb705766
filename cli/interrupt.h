// SIGINT, SIGTERM, SIGHUP and SIGQUIT: work is asked to stop, and ended after a grace period if it
// does not; nothing is left behind either way.
#pragma once

#include <termios.h>

#include <string>

namespace warpseal::cli {

// Once, before any other thread starts: blocks the signals in every thread and watches for them in
// one of its own. A signal that was ignored when the program started (nohup, a shell's background
// job) stays ignored. Ends the program with `error` where no thread can be had.
void watch_interrupts();

// Readable once a signal came: for waits in poll(2).
int interrupt_descriptor();

// While one lives, the path is removed if the program is ended by a signal.
class TemporaryName {
public:
    explicit TemporaryName(const std::string& path);
    ~TemporaryName();
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;

private:
    const std::string path_;
};

// While one lives, the terminal gets `settings` back if the program is ended by a signal. One at a
// time.
class TerminalSettings {
public:
    TerminalSettings(int terminal, const termios& settings);
    ~TerminalSettings();
    TerminalSettings(const TerminalSettings&) = delete;
    TerminalSettings& operator=(const TerminalSettings&) = delete;
};

// While one lives, a signal does not end the program: the few system calls that give an output its
// name are not torn apart.
class Uninterrupted {
public:
    Uninterrupted();
    ~Uninterrupted();
    Uninterrupted(const Uninterrupted&) = delete;
    Uninterrupted& operator=(const Uninterrupted&) = delete;
};

}  // namespace warpseal::cli
