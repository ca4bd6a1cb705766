// Handling of SIGINT, SIGTERM, SIGHUP and SIGQUIT. Work is asked to stop, and ended after a grace
// period if it does not. No partial output remains.
#pragma once

#include <termios.h>

#include <string>

namespace warpseal::cli {

// Blocks the signals in every thread and waits for them in a separate thread. Call it once, before
// any other thread starts. A signal that was ignored at the start (nohup, background jobs of a
// shell) stays ignored. Exits with `error` if the thread cannot be created.
void watch_interrupts();

// Returns a descriptor for poll(2) that becomes readable after a signal.
int interrupt_descriptor();

// For servers: after the first signal the program ends by itself, however long its work takes. A
// second signal still ends it at once.
void allow_unlimited_grace();

// Removes the file or directory if a signal ends the program during this object's lifetime.
class TemporaryName {
public:
    explicit TemporaryName(const std::string& path);
    ~TemporaryName();
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;

private:
    const std::string path_;
};

// Restores the terminal's `settings` if a signal ends the program during this object's lifetime. At
// most one object may exist.
class TerminalSettings {
public:
    TerminalSettings(int terminal, const termios& settings);
    ~TerminalSettings();
    TerminalSettings(const TerminalSettings&) = delete;
    TerminalSettings& operator=(const TerminalSettings&) = delete;
};

// Prevents signals from ending the program during this object's lifetime. Protects the few system
// calls that give an output its name.
class Uninterrupted {
public:
    Uninterrupted();
    ~Uninterrupted();
    Uninterrupted(const Uninterrupted&) = delete;
    Uninterrupted& operator=(const Uninterrupted&) = delete;
};

}  // namespace warpseal::cli
