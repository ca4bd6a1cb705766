// Rescues the chunks of a damaged age file that verify.
#include <algorithm>

#include "cli/age/file_key.h"
#include "cli/age/format/armor.h"
#include "cli/age/task.h"
#include "cli/files/rescued_text.h"

namespace warpseal::cli {
namespace {

using namespace age;

class ChunkRescue {
public:
    ChunkRescue(View key, BufferedSource& source, RescuedText& to,
                std::function<void(uint64_t)> progress)
        : aead_(key), source_(source), to_(to), progress_(std::move(progress)) {}

    void run() {
        read(now_);
        while (now_.bytes > 0) {
            read(next_);
            if (take()) return;
            std::swap(now_, next_);
            ++number_;
            progress_(number_ * chunk_bytes);
        }
        find_end();
    }
    bool end_found() const { return end_found_; }
    uint64_t bytes_after_end() const { return bytes_after_end_; }

private:
    struct Piece {
        Octets sealed = Octets(sealed_chunk_bytes);
        size_t bytes = 0;
    };

    // An armor that is damaged ends here. Its rest has no places that are known.
    void read(Piece& piece) {
        piece.bytes = 0;
        if (cut_) return;
        try {
            piece.bytes = source_.read(piece.sealed.data(), piece.sealed.size());
            payload_bytes_ += piece.bytes;
        } catch (const Failure& failure) {
            if (failure.code != ExitCode::not_authentic && failure.code != ExitCode::truncated)
                throw;
            cut_ = true;
        }
    }
    bool open(const Piece& piece, uint64_t number, size_t bytes, bool last) {
        return aead_.open(chunk_nonce(number, last), View(piece.sealed).first(bytes), text_.data());
    }
    static bool may_be_last(uint64_t number, size_t bytes) {
        return bytes > tag_bytes || (bytes == tag_bytes && number == 0);
    }
    // Returns true if it is the last chunk.
    bool take() {
        const bool whole = now_.bytes == sealed_chunk_bytes;
        const bool verified = whole && open(now_, number_, now_.bytes, false);
        end_found_ =
            !verified && may_be_last(number_, now_.bytes) && open(now_, number_, now_.bytes, true);
        if (verified || end_found_) {
            to_.text(text_.data(), now_.bytes - tag_bytes);
            has_hole_ = false;
        } else {
            add_hole(whole);
        }
        if (end_found_) count_rest();
        return end_found_;
    }
    void add_hole(bool whole) {
        if (!has_hole_) {
            has_hole_ = true;
            hole_number_ = number_;
            first_of_hole_ = now_;
        }
        to_.hole(std::max(now_.bytes, tag_bytes) - tag_bytes,
                 whole ? WARPSEAL_HOLE_NOT_AUTHENTIC : WARPSEAL_HOLE_CUT_OR_CHANGED);
    }
    void count_rest() {
        const uint64_t end = number_ * sealed_chunk_bytes + now_.bytes;
        while (next_.bytes > 0) {
            progress_(number_ * chunk_bytes);
            read(next_);
        }
        bytes_after_end_ = payload_bytes_ - end;
    }
    // Bytes after the end hide the last chunk, because it was opened with some of them. It is the
    // first one of the last hole.
    void find_end() {
        if (!has_hole_) return;
        for (size_t bytes = tag_bytes; bytes < first_of_hole_.bytes; ++bytes) {
            if (!may_be_last(hole_number_, bytes)) continue;
            throw_if_interrupted();
            if (!open(first_of_hole_, hole_number_, bytes, true)) continue;
            to_.drop_hole();
            to_.text(text_.data(), bytes - tag_bytes);
            end_found_ = true;
            bytes_after_end_ = payload_bytes_ - (hole_number_ * sealed_chunk_bytes + bytes);
            return;
        }
    }

    Aead aead_;
    BufferedSource& source_;
    RescuedText& to_;
    const std::function<void(uint64_t)> progress_;
    Piece now_, next_, first_of_hole_;
    Secret text_ = Secret(chunk_bytes);
    uint64_t number_ = 0, hole_number_ = 0, payload_bytes_ = 0, bytes_after_end_ = 0;
    bool has_hole_ = false, end_found_ = false, cut_ = false;
};

}  // namespace

warpseal_status rescue_age(const FileChoice& file, const AgeChoice& choice, int input,
                           Output& output, warpseal_rescue& report, warpseal_file_result& result,
                           Session& session) {
    check_choice(FileTask::rescue, file, choice);
    Identities identities = read_identities(choice);
    Task task(FileTask::rescue, file, &output, session);
    RescuedText text(output, report);
    warpseal_status status = WARPSEAL_OK;
    task.run(
        [&] {
            DescriptorSource descriptor(input);
            AgeSource read(descriptor);
            BufferedSource& source = read.binary();
            const Header header = read_header(source);
            const Secret file_key = file_key_of(header, file, choice, identities, session);
            identities = {};
            const uint64_t total = remaining_bytes(input);
            ChunkRescue chunks(payload_key(file_key, source), source, text, task.progress(total));
            chunks.run();
            status = text.finish(chunks.end_found(), chunks.bytes_after_end(), result);
            result.file_bytes = read.text.taken();
        },
        nullptr);
    result.target = "libcrypto";
    return status;
}

}  // namespace warpseal::cli
