// Texts, holes and the report of a rescue.
#include "cli/files/rescued_text.h"

#include <algorithm>

#include "cli/support/format.h"

namespace warpseal::cli {

void RescuedText::text(const uint8_t* bytes, size_t count) {
    write_hole();
    out_.write(bytes, count);
    authentic_bytes_ += count;
    ++chunks_;
    ++verified_;
}

void RescuedText::hole(uint64_t bytes, warpseal_hole_reason reason) {
    (reason == WARPSEAL_HOLE_NOT_AUTHENTIC ? whole_ : rest_) += bytes;
    ++chunks_;
}

void RescuedText::write_hole() {
    write_zeros(whole_, WARPSEAL_HOLE_NOT_AUTHENTIC);
    write_zeros(rest_, WARPSEAL_HOLE_CUT_OR_CHANGED);
    drop_hole();
}

void RescuedText::write_zeros(uint64_t bytes, warpseal_hole_reason reason) {
    if (bytes == 0) return;
    static constexpr uint8_t zeros[65536] = {};
    const warpseal_file_hole hole = {out_.written_bytes(), bytes, reason};
    ++report_.hole_count;
    report_.hole_bytes += bytes;
    if (report_.hole != nullptr && report_.hole(report_.hole_user, &hole) != 0)
        throw Failure(ExitCode::error, "the list of holes could not be written.");
    for (uint64_t left = bytes; left > 0;) {
        const size_t now = static_cast<size_t>(std::min<uint64_t>(left, sizeof zeros));
        out_.write(zeros, now);
        out_.throw_if_interrupted();
        left -= now;
    }
}

warpseal_status RescuedText::finish(bool end_found, uint64_t bytes_after_end,
                                    warpseal_file_result& result) {
    if (verified_ != 0) write_hole();
    report_.end_found = end_found ? 1 : 0;
    report_.bytes_after_end = bytes_after_end;
    report_.finished = verified_ != 0 ? 1 : 0;
    result.plaintext_bytes = authentic_bytes_;
    result.output_bytes = out_.written_bytes();
    return report_.hole_count == 0 && end_found ? WARPSEAL_OK : say_missing(result);
}

warpseal_status RescuedText::say_missing(warpseal_file_result& result) const {
    std::string text;
    warpseal_status status = WARPSEAL_NOT_AUTHENTIC;
    if (chunks_ == 0) {
        status = WARPSEAL_TRUNCATED;
        text = "it ends within its first chunk: nothing can be rescued";
    } else if (verified_ == 0) {
        text = cli::format("none of its {} chunks verifies: nothing can be rescued", chunks_);
    } else if (report_.hole_count == 0) {
        status = WARPSEAL_TRUNCATED;
        text = "the end of the file is missing";
    } else {
        text =
            cli::format("{} of {} bytes could not be rescued, in {} hole{}{}", report_.hole_bytes,
                        result.output_bytes, report_.hole_count, report_.hole_count == 1 ? "" : "s",
                        report_.end_found != 0 ? "" : ", and the end of the file is missing");
    }
    result.message[text.copy(result.message, sizeof result.message - 1)] = '\0';
    return status;
}

}  // namespace warpseal::cli
