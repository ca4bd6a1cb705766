// The workers of the file pipeline. Each has one piece of memory: it takes the next piece of the input, seals or opens the chunks in
// place, and hands them to the output, so data stays in its core's cache between the copies in and out of the kernel. Pieces of a
// stream are taken, or handed over, in turn. However long the file, memory is that of the workers.
#include "container/pipeline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>

#include "container/piece.h"

namespace warpseal::container {
namespace {

constexpr size_t cpu_chunks = 16;     // 256 KiB: well inside a core's second-level cache
constexpr size_t cuda_chunks = 1024;  // 16 MiB: what a GPU needs to be filled and a bus to be fast
constexpr size_t cuda_workers = 8;
constexpr size_t all_pieces_bytes = size_t{160} << 20;
constexpr uint64_t unknown_bytes_as = uint64_t{1} << 30;  // how big a stream is taken to be when its target is picked
constexpr uint64_t none = UINT64_MAX;

using ull = unsigned long long;

class Pipeline {
public:
    explicit Pipeline(const PipelineJob& job);
    warpseal_status run(PipelineResult& result, Fault& fault);

private:
    bool sealing() const { return job_.direction == Direction::encrypt; }
    size_t in_stride() const { return sealing() ? chunk_text_bytes : chunk_bytes; }
    size_t out_stride() const { return sealing() ? chunk_bytes : chunk_text_bytes; }
    uint64_t first_chunk(const Piece& piece) const { return piece.number * chunks_; }
    size_t workers() const;

    void work(Piece& piece);
    bool take(Piece& piece);
    warpseal_status read(Piece& piece, Fault& fault);
    void find_chunks(Piece& piece);
    void transform(Piece& piece);
    void find_failed_chunk(Piece& piece, warpseal_status status);
    void hand_over(Piece& piece);
    size_t gather(Piece& piece, uint64_t& text_bytes, uint64_t& bytes);
    void count(const char* target, const Piece& piece);
    const char* main_target() const;
    void fail(uint64_t number, const Fault& fault);
    bool stopped_before(uint64_t number) const { return failed_at_.load() < number; }

    const PipelineJob& job_;
    bool cuda_ = false;
    size_t chunks_ = cpu_chunks;  // of a whole piece
    uint64_t total_in_ = none;
    uint64_t pieces_ = none;

    std::atomic<uint64_t> next_{0};  // the piece to take next
    std::mutex taking_;              // a stream's input is read under it
    bool ended_ = false;             // of a stream's input
    std::mutex turns_;
    std::condition_variable turned_;
    uint64_t turn_ = 0;  // the piece that an ordered sink takes next
    std::atomic<uint64_t> failed_at_{none};
    Fault fault_;

    std::atomic<uint64_t> text_bytes_{0}, read_bytes_{0}, written_bytes_{0};
    std::mutex counting_;
    std::map<const char*, uint64_t> chunks_on_;  // by the target's name, which lies at one place
};

Pipeline::Pipeline(const PipelineJob& job) : job_(job) {
    if (job.source.positional()) total_in_ = job.source.bytes() - job.source_offset;
    const uint64_t bytes = total_in_ == none ? unknown_bytes_as : total_in_;
    cuda_ = job.engine.gpus_for_pieces(job.suite.cipher, WARPSEAL_GCM, bytes);
    if (cuda_) chunks_ = cuda_chunks;
    if (total_in_ == none) return;
    chunks_ = static_cast<size_t>(std::min<uint64_t>(chunks_, total_in_ / in_stride() + 1));
    // The last piece holds the short chunk, so it is never full: there is always one more than fit evenly.
    pieces_ = total_in_ / (chunks_ * in_stride()) + 1;
}

size_t Pipeline::workers() const {
    const size_t fit = all_pieces_bytes / (chunks_ * chunk_bytes);
    const size_t wanted = std::min<size_t>(job_.engine.threads(), cuda_ ? cuda_workers : fit);
    return std::max<size_t>(1, static_cast<size_t>(std::min<uint64_t>(wanted, pieces_)));
}

warpseal_status Pipeline::run(PipelineResult& result, Fault& fault) {
    if (sealing() && total_in_ != none && total_in_ > max_text_bytes) {
        return fault.say(WARPSEAL_LIMIT_EXCEEDED, "the input has %llu bytes; a payload holds at most %llu", ull{total_in_},
                         ull{max_text_bytes});
    }
    std::vector<Piece> pieces(workers());
    for (Piece& piece : pieces) {
        if (!piece.allocate(job_.engine, cuda_, chunks_))
            return fault.say(WARPSEAL_OUT_OF_MEMORY, "no memory for %zu pieces of the file", pieces.size());
    }
    if (pieces.size() == 1) {
        work(pieces[0]);
    } else {
        job_.engine.parallel(pieces.size(), [&](size_t i) { work(pieces[i]); });
    }
    result = {text_bytes_, read_bytes_, written_bytes_, main_target()};
    if (failed_at_ != none) {
        fault = fault_;
        return fault.status;
    }
    return job_.source.finish(fault);
}

void Pipeline::work(Piece& piece) {
    while (take(piece)) {
        find_chunks(piece);
        if (piece.chunks > 0) transform(piece);
        hand_over(piece);
    }
}

// The next piece of the input; false when there is none, or when the work has failed.
bool Pipeline::take(Piece& piece) {
    piece.fault = Fault{};
    Fault fault;
    warpseal_status status;
    if (job_.source.positional()) {
        piece.number = next_.fetch_add(1);
        if (piece.number >= pieces_ || stopped_before(piece.number)) return false;
        status = read(piece, fault);
    } else {
        const std::lock_guard<std::mutex> lock(taking_);
        piece.number = next_;
        if (ended_ || stopped_before(piece.number)) return false;
        ++next_;
        status = read(piece, fault);
        ended_ = piece.last || status != WARPSEAL_OK;
    }
    if (status != WARPSEAL_OK) fail(piece.number, fault);
    return status == WARPSEAL_OK;
}

warpseal_status Pipeline::read(Piece& piece, Fault& fault) {
    const size_t whole = chunks_ * in_stride();
    const uint64_t before = piece.number * whole;
    const bool positional = job_.source.positional();
    const size_t expected = positional ? static_cast<size_t>(std::min<uint64_t>(whole, total_in_ - before)) : whole;
    size_t count = 1;
    piece.buffers[0] = {piece.chunk(0), expected};
    if (sealing()) {  // text is spread out as it is read, with room for the tags
        count = 0;
        for (size_t at = 0; at < expected; at += chunk_text_bytes, ++count) {
            piece.buffers[count] = {piece.chunk(count), std::min(chunk_text_bytes, expected - at)};
        }
    }
    const uint64_t offset = job_.source_offset + before;
    const warpseal_status status = job_.source.read(offset, piece.buffers.data(), count, piece.bytes_in, fault);
    if (status != WARPSEAL_OK) return status;
    read_bytes_ += piece.bytes_in;
    piece.last = positional ? piece.number + 1 == pieces_ : piece.bytes_in < whole;
    if (!positional) return WARPSEAL_OK;

    if (piece.bytes_in < expected) {
        return fault.say(WARPSEAL_IO, "the input shrank while it was read: it had %llu bytes and now ends at byte %llu",
                         ull{job_.source.bytes()}, ull{offset + piece.bytes_in});
    }
    if (!piece.last) return WARPSEAL_OK;
    uint8_t beyond = 0;
    size_t more = 0;
    const warpseal_status end = job_.source.read(job_.source.bytes(), &beyond, 1, more, fault);
    if (end != WARPSEAL_OK) return end;
    if (more != 0) return fault.say(WARPSEAL_IO, "the input grew beyond its %llu bytes while it was read", ull{job_.source.bytes()});
    return WARPSEAL_OK;
}

// How many chunks the piece has, and whether it ends as a payload must.
void Pipeline::find_chunks(Piece& piece) {
    const size_t whole = piece.bytes_in / in_stride();
    const size_t rest = piece.bytes_in % in_stride();
    const uint64_t next = first_chunk(piece) + whole;
    piece.chunks = whole;
    piece.last_text = 0;
    if (piece.last && sealing()) {
        ++piece.chunks;
        piece.last_text = rest;
    } else if (piece.last && rest >= tag_bytes) {
        ++piece.chunks;
        piece.last_text = rest - tag_bytes;
    } else if (piece.last) {
        piece.last = false;
        piece.fault.say(WARPSEAL_TRUNCATED,
                        "the file ends early, at byte %llu: %zu bytes of chunk %llu are there, and the last chunk has at least %zu",
                        ull{job_.source_offset + next * chunk_bytes + rest}, rest, ull{next}, tag_bytes);
    }
    piece.good = piece.chunks;
    if (first_chunk(piece) + piece.chunks <= max_chunks) return;
    piece.chunks = piece.good = 0;
    piece.fault.say(WARPSEAL_LIMIT_EXCEEDED, "more than %llu chunks", ull{max_chunks});
}

void Pipeline::transform(Piece& piece) {
    for (size_t i = 0; i < piece.chunks; ++i) {
        chunk_nonce(job_.payload, first_chunk(piece) + i, piece.nonces.data() + i * nonce_bytes);
        piece.lengths[i] = chunk_text_bytes;
    }
    uint8_t* const short_chunk = piece.last ? piece.chunk(piece.chunks - 1) : nullptr;
    if (piece.last) piece.lengths[piece.chunks - 1] = piece.last_text;
    // The tags of a batch lie at one stride: that of the short chunk visits the place where a whole chunk's would be.
    if (piece.last && !sealing()) memmove(short_chunk + chunk_text_bytes, short_chunk + piece.last_text, tag_bytes);

    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = nonce_bytes;
    batch.tag_bytes = tag_bytes;
    batch.message_count = piece.chunks;
    batch.message_bytes = chunk_text_bytes;
    batch.lengths = piece.last ? piece.lengths.data() : nullptr;
    batch.ivs = piece.nonces.data();
    batch.iv_stride = nonce_bytes;
    batch.in = batch.out = piece.chunk(0);
    batch.in_stride = batch.out_stride = batch.tag_stride = chunk_bytes;
    batch.tags = piece.chunk(0) + chunk_text_bytes;
    batch.statuses = piece.statuses.data();
    const char* target = nullptr;
    const warpseal_status status = job_.engine.batch(*job_.payload.key, WARPSEAL_GCM, job_.direction, batch, Engine::Where::here, &target);
    if (target != nullptr) count(target, piece);
    if (status != WARPSEAL_OK) return find_failed_chunk(piece, status);
    if (piece.last && sealing()) memmove(short_chunk + piece.last_text, short_chunk + chunk_text_bytes, tag_bytes);
}

void Pipeline::count(const char* target, const Piece& piece) {
    const std::lock_guard<std::mutex> lock(counting_);
    chunks_on_[target] += piece.chunks;
}

// The one that had most of it.
const char* Pipeline::main_target() const {
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto most = std::max_element(chunks_on_.begin(), chunks_on_.end(), fewer);
    return most == chunks_on_.end() ? "" : most->first;
}

void Pipeline::find_failed_chunk(Piece& piece, warpseal_status status) {
    if (status != WARPSEAL_NOT_AUTHENTIC) {
        piece.good = 0;
        piece.fault.say(status, "the engine could not %s chunk %llu and those after it", sealing() ? "seal" : "open",
                        ull{first_chunk(piece)});
        return;
    }
    piece.good = 0;
    while (piece.good + 1 < piece.chunks && piece.statuses[piece.good] == WARPSEAL_OK) ++piece.good;
    const uint64_t number = first_chunk(piece) + piece.good;
    const bool is_last = piece.last && piece.good + 1 == piece.chunks;
    piece.fault.say(WARPSEAL_NOT_AUTHENTIC, "chunk %llu, at byte %llu, does not verify: it was changed%s", ull{number},
                    ull{job_.source_offset + number * chunk_bytes},
                    is_last ? ", or the file was cut or lengthened within it" : ", moved or damaged");
}

// What the sink may have of a piece, as buffers.
size_t Pipeline::gather(Piece& piece, uint64_t& text_bytes, uint64_t& bytes) {
    const bool ends = piece.last && piece.good == piece.chunks;  // with the short chunk
    text_bytes = uint64_t{piece.good} * chunk_text_bytes - (ends ? chunk_text_bytes - piece.last_text : 0);
    if (sealing()) {
        bytes = text_bytes + piece.good * tag_bytes;
        piece.buffers[0] = {piece.chunk(0), static_cast<size_t>(bytes)};
        return 1;
    }
    bytes = text_bytes;
    for (size_t i = 0; i < piece.good; ++i) piece.buffers[i] = {piece.chunk(i), chunk_text_bytes};
    if (ends) piece.buffers[piece.good - 1].iov_len = piece.last_text;
    return piece.good;
}

void Pipeline::hand_over(Piece& piece) {
    const bool ordered = job_.sink.ordered();
    if (ordered) {
        std::unique_lock<std::mutex> lock(turns_);
        turned_.wait(lock, [&] { return turn_ == piece.number || stopped_before(piece.number); });
        if (stopped_before(piece.number)) return;
    }
    uint64_t text_bytes = 0, bytes = 0;
    const size_t buffers = gather(piece, text_bytes, bytes);
    const uint64_t offset = job_.sink_offset + piece.number * chunks_ * out_stride();
    Fault fault;
    if (job_.sink.write(offset, piece.buffers.data(), buffers, fault) != WARPSEAL_OK) return fail(piece.number, fault);
    text_bytes_ += text_bytes;
    written_bytes_ += bytes;
    if (piece.fault.status != WARPSEAL_OK) return fail(piece.number, piece.fault);
    if (job_.progress.add(text_bytes)) {
        fault.say(WARPSEAL_CANCELLED, "cancelled");
        return fail(piece.number, fault);
    }
    if (!ordered) return;
    const std::lock_guard<std::mutex> lock(turns_);
    ++turn_;
    turned_.notify_all();
}

// Of several failures the earliest in the file stands; pieces before it are still finished, those after it are not.
void Pipeline::fail(uint64_t number, const Fault& fault) {
    const std::lock_guard<std::mutex> lock(turns_);
    if (number < failed_at_) {
        failed_at_ = number;
        fault_ = fault;
    }
    turned_.notify_all();
}

}  // namespace

warpseal_status run_pipeline(const PipelineJob& job, PipelineResult& result, Fault& fault) {
    Pipeline pipeline(job);
    return pipeline.run(result, fault);
}

}  // namespace warpseal::container
