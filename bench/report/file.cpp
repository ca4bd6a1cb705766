// Destination of a bench report.
#include "bench/report/file.h"

#include "cli/support/stream.h"

namespace warpseal::bench {

constexpr mode_t mode_report = 0666;

ReportFile::ReportFile(const std::string& path) : printed_(path == "-") {
    if (!path.empty() && !printed_) file_.emplace(path, true, mode_report);
}

void ReportFile::write(const std::string& text) {
    if (printed_) cli::print_output(text);
    if (!file_) return;
    cli::RawOutput(*file_).write(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    file_->commit();
}

void ReportFile::print(const std::string& text) const {
    printed_ ? cli::print_error(text) : cli::print_output(text);
}

}  // namespace warpseal::bench
