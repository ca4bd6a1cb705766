// Single segments of a payload: the number of chunks that a file may have, and what a rescue does
// with a segment that fails for another reason than its content.
#include "container/pipeline/segment.h"
#include "container/rescue.h"
#include "files.h"

namespace tests {
namespace {

namespace container = warpseal::container;
using warpseal::Direction;

// The last chunk of a full file has the number 2^38 - 1.
TEST(Segments, NoFileHasMoreChunksThanItsNumbersAllow) {
    const container::PayloadKey payload;
    for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
        const container::ChunkJob job{engine(), payload, direction, 0};
        for (const uint64_t first : {container::max_chunks - 2, container::max_chunks - 1}) {
            container::Segment segment;
            segment.first_chunk = first;
            segment.bytes_in = 2 * container::in_stride(direction);
            segment.find_chunks(job);
            const bool fits = first + 2 == container::max_chunks;
            EXPECT_EQ(segment.fault.status, fits ? WARPSEAL_OK : WARPSEAL_LIMIT_EXCEEDED);
            EXPECT_EQ(segment.chunks, fits ? 2u : 0u);
            EXPECT_EQ(segment.valid_chunks, segment.chunks);
        }
    }
}

// Memory that is missing is no damage: the rescue ends, and no hole is written or reported.
TEST(Segments, ARescueEndsWithAnErrorThatIsNoDamage) {
    for (const warpseal_status status :
         {WARPSEAL_OUT_OF_MEMORY, WARPSEAL_LIMIT_EXCEEDED, WARPSEAL_INVALID_ARGUMENT}) {
        const MemoryFile out;
        container::Progress progress(nullptr, nullptr);
        container::Sink sink(out.get(), container::Order::strict, progress);
        warpseal_rescue report = {};
        report.struct_bytes = sizeof report;
        container::Rescue rescue(sink, progress, report);
        container::Segment segment;
        segment.chunks = 3;
        segment.fault.say(status, "no chunk of this segment");
        container::Fault fault;
        EXPECT_EQ(rescue.add(segment, fault), status);
        EXPECT_EQ(fault.status, status);
        EXPECT_STREQ(fault.message, "no chunk of this segment");
        EXPECT_EQ(out.size() + rescue.written_bytes() + report.hole_bytes, 0u);
    }
}

}  // namespace
}  // namespace tests
