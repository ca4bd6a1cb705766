// Destination of a bench report.
#pragma once

#include <optional>
#include <string>

#include "cli/support/output.h"

namespace warpseal::bench {

// No report (empty path), standard output ("-"), or a file that is replaced when the report is
// complete.
class ReportFile {
public:
    // Opens the destination before anything is measured. Throws Failure if it is not writable.
    explicit ReportFile(const std::string& path);
    // Writes the whole report. Throws Failure.
    void write(const std::string& text);
    // Prints text for people on standard output, or on stderr if the report goes there.
    void print(const std::string& text) const;

private:
    std::optional<cli::Output> file_;
    const bool printed_;
};

}  // namespace warpseal::bench
