// Measures one call on a large buffer: from host memory to host memory by wall clock, or within GPU
// memory by GPU events.
#include "bench/bulk/bulk_meter.h"

#include <algorithm>
#include <chrono>

#include "bench/bulk/yardsticks/meters.h"
#include "c_api/internal.h"

namespace warpseal::bench {
namespace {

// Calls on the first `bytes` bytes of the reference output's input.
class BulkSide {
public:
    BulkSide(const BenchCase& what, warpseal_engine* engine, bool on_device,
             const ReferenceOutput& reference, uint64_t bytes, BulkMemory& device_in,
             BulkMemory& out)
        : what_(what),
          engine_(engine),
          on_device_(on_device),
          reference_(reference),
          bytes_(bytes),
          messages_(reference.count()),
          key_(make_bench_key(engine, what)),
          out_(out),
          ivs_(engine, on_device),
          keys_(engine, on_device),
          tags_(engine, on_device),
          statuses_(engine, on_device) {
        if (on_device) device_in.put(reference.in, bytes);
        in_ = on_device ? device_in.data() : reference.in;
        // Checked output must come from the measured calls, so no buffer holds it beforehand. The
        // exception is the tags for opening.
        out_.put(reference.in, reference.out ? bytes : 0);
        ivs_.put(reference.ivs.data(), reference.ivs.size());
        keys_.put(reference.keys.data(), reference.keys.size());
        tags_.put(what.encrypt ? std::vector<uint8_t>(reference.tags.size()).data()
                               : reference.tags.data(),
                  reference.tags.size());
        statuses_.put(std::vector<int32_t>(messages_, -1).data(), messages_ * sizeof(int32_t));
    }

    // Returns the time of `calls` consecutive calls.
    double seconds(uint64_t calls = 1) {
        return on_device_ ? device_seconds(calls) : host_seconds(calls);
    }

    // Copies the same bytes in and out without encrypting them.
    bool has_link() const { return !on_device_ && reference_.out != nullptr; }
    double link_seconds() {
        float milliseconds = 0;
        require_ok(warpseal_internal_time_link(engine_, in_, out_.data(), bytes_, &milliseconds),
                   "copying both ways");
        return milliseconds / 1e3;
    }

    void check() const {
        if (reference_.out)
            out_.compare(reference_.out, bytes_, "the output is not what it must be");
        if (what_.tagged() && what_.encrypt)
            tags_.compare(reference_.tags.data(), reference_.tags.size(),
                          "the tags are not what they must be");
        if (is_batch())
            statuses_.compare(std::vector<int32_t>(messages_).data(), messages_ * sizeof(int32_t),
                              "a message has a status but OK");
    }

private:
    bool is_batch() const {
        return messages_ > 1 || what_.key_per_message ||
               (on_device_ && (what_.tagged() || what_.serial()));
    }

    warpseal_status queue(void* stream) {
        if (is_batch()) return bench_call_batch_device(what_, key_.get(), batch(), stream);
        return bench_call_device(what_, key_.get(), reference_.ivs.data(), in_, out_.data(), bytes_,
                                 stream);
    }

    double device_seconds(uint64_t calls) {
        float milliseconds = 0, sum = 0;
        const auto work = [](void* self, void* stream) {
            return static_cast<BulkSide*>(self)->queue(stream);
        };
        for (uint64_t i = 0; i < calls; ++i) {
            require_ok(warpseal_internal_time_device(engine_, work, this, &milliseconds),
                       "a call on the GPU");
            sum += milliseconds;
        }
        return sum / 1e3;
    }

    warpseal_status call() {
        if (is_batch()) return bench_call_batch(what_, key_.get(), batch());
        return bench_call_one(what_, key_.get(), reference_.ivs.data(), in_, out_.data(), bytes_,
                              tags_.data());
    }

    double host_seconds(uint64_t calls) {
        warpseal_status status = WARPSEAL_OK;
        const auto begin = std::chrono::steady_clock::now();
        for (uint64_t i = 0; i < calls && status == WARPSEAL_OK; ++i) status = call();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        require_ok(status, "a call");
        return took.count();
    }

    warpseal_batch batch() const {
        const uint8_t* keys = what_.key_per_message ? keys_.data() : nullptr;
        const BatchMemory memory{in_,  out_.data(),  ivs_.data(),
                                 keys, tags_.data(), reinterpret_cast<int32_t*>(statuses_.data())};
        return bench_batch(what_, memory, bytes_, reference_.message_bytes);
    }

    const BenchCase what_;
    warpseal_engine* engine_;
    const bool on_device_;
    const ReferenceOutput& reference_;
    const uint64_t bytes_, messages_;
    BenchKey key_;
    const uint8_t* in_ = nullptr;
    BulkMemory& out_;
    BulkMemory ivs_, keys_, tags_, statuses_;
};

}  // namespace

BulkMeter::BulkMeter(const BenchOptions& options, const std::string& device, cli::Session& session,
                     Oracle oracle)
    : options_(options),
      device_(device),
      oracle_(oracle),
      engine_(cli::create_engine({device, options.threads}, session)),
      text_(engine_.get(), false),
      other_(engine_.get(), false),
      out_(engine_.get(), false),
      device_in_(engine_.get(), true),
      device_out_(engine_.get(), true) {}

void BulkMeter::reserve(const std::string& place, uint64_t bytes) {
    if (place == "device") device_in_.at_least(bytes);
    (place == "device" ? device_out_ : out_).at_least(bytes);
}

ReferenceOutput BulkMeter::reference_output(const BenchCase& what, uint64_t bytes,
                                            uint64_t message_bytes) {
    return ReferenceOutput(what, text_.at_least(bytes), other_.at_least(bytes), bytes,
                           message_bytes, device_, oracle_);
}

BenchRow BulkMeter::row(const BenchCase& what, const std::string& place, uint64_t bytes,
                        const ReferenceOutput& reference) const {
    BenchRow row;
    row.what = what;
    row.device = has_gpu()
                     ? "cuda"
                     : warpseal_engine_pick(engine_.get(), what.cipher.name, what.mode, bytes);
    row.place = place;
    row.threads = options_.threads;
    row.bytes = bytes;
    row.message_bytes = std::min(reference.message_bytes, bytes);
    row.checked_against = reference.checked_against;
    if (place == "host") row.pinned = has_gpu();
    return row;
}

BenchRow BulkMeter::measure(const BenchCase& what, const std::string& place, uint64_t bytes,
                            uint64_t message_bytes) {
    message_bytes = what.has_batch() ? std::min(message_bytes, bytes) : bytes;
    if (bytes % message_bytes != 0)
        throw cli::Failure(cli::ExitCode::usage,
                           "--size must be a multiple of --message-size here.");
    const ReferenceOutput right = reference_output(what, bytes, message_bytes);
    const bool on_device = place == "device";
    BulkSide side(what, engine_.get(), on_device, right, bytes, device_in_,
                  on_device ? device_out_ : out_);

    BenchRow measured = row(what, place, bytes, right);
    YardstickMeters theirs(options_, what, std::max(bench_core_bytes, what.unit_bytes),
                           message_bytes);
    side.seconds();  // warm-up
    for (int i = 0; i < bench_repetitions; ++i) {
        if (theirs.measure()) side.seconds();  // warm-up: the GPU was idle meanwhile
        measured.figures.ours.push_back(static_cast<double>(bytes) / side.seconds() / 1e9);
        if (one_gpu() && side.has_link())
            measured.link.push_back(static_cast<double>(bytes) / side.link_seconds() / 1e9);
    }
    side.seconds();  // overwrites the output of the copies
    side.check();
    measured.figures.yardsticks = theirs.finish();
    return measured;
}

BenchRow measure_bulk(const BenchOptions& options, const BenchCase& what, const std::string& device,
                      const std::string& place, uint64_t bytes, uint64_t message_bytes,
                      cli::Session& session) {
    return BulkMeter(options, device, session).measure(what, place, bytes, message_bytes);
}

BenchRow BulkMeter::measure_prefix(const BenchCase& what, const std::string& place, uint64_t bytes,
                                   const ReferenceOutput& reference, double seconds) {
    const bool on_device = place == "device";
    BulkSide side(what, engine_.get(), on_device, reference, bytes, device_in_,
                  on_device ? device_out_ : out_);
    BenchRow measured = row(what, place, bytes, reference);
    side.seconds();
    // Wall clock timing needs about a millisecond; GPU events are exact for one call.
    const double one = side.seconds();
    const uint64_t calls =
        on_device ? 1 : std::clamp<uint64_t>(static_cast<uint64_t>(1e-3 / one), 1, 10'000);
    double spent = 0;
    for (int i = 0; i < bench_repetitions && (i < 3 || spent < seconds); ++i) {
        const double took = side.seconds(calls);
        spent += took;
        measured.figures.ours.push_back(static_cast<double>(calls * bytes) / took / 1e9);
    }
    side.check();
    return measured;
}

}  // namespace warpseal::bench
