// Opens the last chunk, then the chunks of the range.
#include "cli/age/range.h"

#include <algorithm>

namespace warpseal::cli::age {
namespace {

// Drops bytes before a range and after it.
class RangeSink final : public Sink {
public:
    RangeSink(Sink& sink, uint64_t skipped, uint64_t bytes)
        : sink_(sink), skipped_(skipped), left_(bytes) {}
    void write(View bytes) override {
        const uint64_t before = std::min<uint64_t>(skipped_, bytes.size());
        skipped_ -= before;
        bytes = bytes.subspan(static_cast<size_t>(before));
        bytes = bytes.first(static_cast<size_t>(std::min<uint64_t>(left_, bytes.size())));
        left_ -= bytes.size();
        if (!bytes.empty()) sink_.write(bytes);
    }

private:
    Sink& sink_;
    uint64_t skipped_, left_;
};

class NoSource final : public Source {
public:
    size_t read(uint8_t*, size_t) override { return 0; }
};

// Opens the chunks from number `first` up to `end`.
void open_chunks(const PayloadPlace& place, View key, uint64_t first, uint64_t end, Sink& sink,
                 unsigned threads, const std::function<void(uint64_t)>& progress) {
    NoSource none;
    BufferedSource source(none);
    Payload payload(Direction::open, key, source, sink, progress);
    const uint64_t begin = first * sealed_chunk_bytes;
    const uint64_t until = std::min(end * sealed_chunk_bytes, place.bytes);
    payload.read_at(place.input, place.begin + begin, until - begin);
    payload.begin_at_chunk(first, until == place.bytes);
    payload.run(threads);
}

}  // namespace

uint64_t open_range(const PayloadPlace& place, View key, const Range& range,
                    const FileChoice& choice, Sink& sink, unsigned threads,
                    const std::function<std::function<void(uint64_t)>(uint64_t)>& progress) {
    const uint64_t chunks = (place.bytes + sealed_chunk_bytes - 1) / sealed_chunk_bytes;
    NoSink none;
    const uint64_t last = std::max<uint64_t>(chunks, 1) - 1;
    open_chunks(place, key, last, last + 1, none, 1, [](uint64_t) { throw_if_interrupted(); });
    const uint64_t text_bytes = place.bytes - chunks * tag_bytes;
    const uint64_t bytes = bytes_within(range, text_bytes, choice);
    if (bytes == 0) return 0;
    const uint64_t first = range.offset / chunk_bytes;
    const uint64_t end = (range.offset + bytes - 1) / chunk_bytes + 1;
    RangeSink within(sink, range.offset - first * chunk_bytes, bytes);
    open_chunks(place, key, first, end, within, threads, progress((end - first) * chunk_bytes));
    return bytes;
}

}  // namespace warpseal::cli::age
