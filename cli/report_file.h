// Where a bench's report goes.
#pragma once

#include <optional>
#include <string>

#include "output.h"

namespace warpseal::cli {

// Nowhere (an empty path), standard output ("-"), or a file that is replaced when the report is
// whole.
class ReportFile {
public:
    // Throws Failure if it cannot be written: before anything is measured.
    ReportFile(const std::string& path);
    // The whole report. Throws Failure.
    void write(const std::string& text);

private:
    std::optional<Output> file_;
    const bool printed_;
};

}  // namespace warpseal::cli
