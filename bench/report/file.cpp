// Destination of a bench report.
#include "bench/report/file.h"

#include "cli/raw/raw.h"

namespace warpseal::cli {

constexpr mode_t mode_report = 0666;

ReportFile::ReportFile(const std::string& path) : printed_(path == "-") {
    if (!path.empty() && !printed_) file_.emplace(path, true, mode_report);
}

void ReportFile::write(const std::string& text) {
    if (printed_) print_output(text);
    if (!file_) return;
    RawOutput(*file_).write(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    file_->commit();
}

}  // namespace warpseal::cli
