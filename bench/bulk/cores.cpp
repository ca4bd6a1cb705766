// Measures the cores: each thread calls on its own buffer, with our engine and the yardsticks in
// turn.
#include <algorithm>

#include "bench/bulk/reference_output.h"
#include "bench/bulk/side.h"
#include "bench/bulk/yardsticks/meters.h"

namespace warpseal::bench {
namespace {

class OurSide : public Side {
public:
    OurSide(const BenchCase& what, const std::string& device, uint64_t bytes,
            uint64_t message_bytes, cli::EngineHandle engine)
        : Side(what, device, bytes, message_bytes),
          engine_(std::move(engine)),
          key_(make_bench_key(engine_.get(), what)),
          reference_(make_reference(what, bench_key(what), target())) {}
    void compare() { Side::compare(*reference_); }
    const char* target() const {
        return warpseal_engine_pick(engine_.get(), what_.cipher.name, what_.mode,
                                    buffers_.in.size());
    }
    std::string checked_against() const { return reference_->name(); }

protected:
    bool process() override {
        const bool one = buffers_.count() == 1 && !what_.key_per_message;
        return (one ? call_one() : call_batch()) == WARPSEAL_OK;
    }

private:
    warpseal_status call_one() {
        Buffers& b = buffers_;
        return bench_call_one(what_, key_.get(), b.iv.data(), b.in.data(), b.to(), b.in.size(),
                              b.tags.data());
    }
    warpseal_status call_batch() {
        Buffers& b = buffers_;
        statuses_.resize(b.count());
        const uint8_t* keys = b.keys.empty() ? nullptr : b.keys.data();
        const BatchMemory memory{b.in.data(), b.to(),        b.iv.data(),
                                 keys,        b.tags.data(), statuses_.data()};
        warpseal_batch batch = bench_batch(what_, memory, b.in.size(), b.message_bytes);
        if (b.in.size() % b.message_bytes != 0) {
            lengths_.clear();
            for (uint64_t i = 0; i < b.count(); ++i) lengths_.push_back(b.length(i));
            batch.lengths = lengths_.data();
        }
        return bench_call_batch(what_, key_.get(), batch);
    }

    cli::EngineHandle engine_;
    BenchKey key_;
    std::unique_ptr<Reference> reference_;
    std::vector<int32_t> statuses_;
    std::vector<uint64_t> lengths_;
};

}  // namespace

BenchRow measure_cores(const BenchOptions& options, const BenchCase& what,
                       const std::string& device, uint64_t bytes, cli::Session& session) {
    const uint64_t message_bytes =
        options.message_bytes && what.has_batch() ? std::min(options.message_bytes, bytes) : bytes;
    std::vector<std::unique_ptr<OurSide>> owned;
    std::vector<Side*> sides;
    for (unsigned t = 0; t < options.threads; ++t) {
        owned.push_back(std::make_unique<OurSide>(what, device, bytes, message_bytes,
                                                  cli::create_engine({device, 1}, session)));
        owned.back()->compare();
        sides.push_back(owned.back().get());
    }
    BenchRow row;
    row.what = what;
    row.device = owned[0]->target();
    row.place = "host";
    row.threads = options.threads;
    row.bytes = bytes;
    row.message_bytes = message_bytes;
    row.buffer_per_thread = true;
    row.checked_against = owned[0]->checked_against();
    YardstickMeters theirs(options, what, bytes, message_bytes);
    for (int i = 0; i < bench_repetitions; ++i) {
        row.figures.ours.push_back(rate(sides, options.seconds / bench_repetitions, bytes));
        theirs.measure();
    }
    for (const auto& side : owned) side->compare();
    row.figures.yardsticks = theirs.finish();
    return row;
}

}  // namespace warpseal::bench
