// One call on a large buffer: from host memory to host memory by the clock on the wall, or within GPU memory by the GPU's own events.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "bench_answers.h"
#include "warpseal/inner.h"

namespace warpseal::cli {
namespace {

void require_ok(warpseal_status status, const char* what) {
    if (status != WARPSEAL_OK) throw BenchWrong(std::string(what) + ": " + warpseal_status_text(status));
}

// Memory where the place is: all of it the GPU's, or all of it the host's (pinned if the engine has a GPU).
class Memory {
public:
    Memory(warpseal_engine* engine, bool on_device, size_t bytes) : engine_(engine), on_device_(on_device), bytes_(bytes) {
        require_ok((on_device ? warpseal_device_alloc : warpseal_host_alloc)(engine, bytes, &memory_), "allocating memory");
    }
    ~Memory() { (on_device_ ? warpseal_device_free : warpseal_host_free)(engine_, memory_, bytes_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
    void put(const void* from, size_t bytes) {
        if (on_device_)
            require_ok(warpseal_device_upload(engine_, memory_, from, bytes), "copying to the GPU");
        else
            std::memcpy(memory_, from, bytes);
    }
    void compare(const void* expected, size_t bytes, const char* what) const {
        constexpr size_t piece = size_t{64} << 20;
        std::vector<uint8_t> copy(on_device_ ? std::min(piece, bytes) : 0);
        for (size_t done = 0; done < bytes; done += piece) {
            const size_t length = std::min(piece, bytes - done);
            const uint8_t* got = data() + done;
            if (on_device_) {
                require_ok(warpseal_device_download(engine_, copy.data(), got, length), "copying from the GPU");
                got = copy.data();
            }
            if (std::memcmp(got, static_cast<const uint8_t*>(expected) + done, length) != 0) throw BenchWrong(what);
        }
    }

private:
    warpseal_engine* engine_;
    bool on_device_;
    size_t bytes_;
    void* memory_ = nullptr;
};

class BulkSide {
public:
    BulkSide(const BenchCase& what, warpseal_engine* engine, bool on_device, const Answers& answers)
        : what_(what),
          engine_(engine),
          on_device_(on_device),
          answers_(answers),
          bytes_(answers.in.size()),
          messages_(answers.count()),
          key_(make_bench_key(engine, what)),
          in_(engine, on_device, bytes_),
          out_(engine, on_device, std::max<size_t>(answers.out.size(), 16)),
          ivs_(engine, on_device, std::max<size_t>(answers.ivs.size(), 16)),
          keys_(engine, on_device, std::max<size_t>(answers.keys.size(), 16)),
          tags_(engine, on_device, answers.tags.size()),
          statuses_(engine, on_device, messages_ * sizeof(int32_t)) {
        in_.put(answers.in.data(), bytes_);
        ivs_.put(answers.ivs.data(), answers.ivs.size());
        keys_.put(answers.keys.data(), answers.keys.size());
        // What is checked later must come from the calls: nothing there is right beforehand but the tags of what is to be opened.
        tags_.put(what.encrypt ? std::vector<uint8_t>(answers.tags.size()).data() : answers.tags.data(), answers.tags.size());
        statuses_.put(std::vector<int32_t>(messages_, -1).data(), messages_ * sizeof(int32_t));
    }

    double seconds() { return on_device_ ? device_seconds() : host_seconds(); }

    void check() const {
        out_.compare(answers_.out.data(), answers_.out.size(), "the output is not what it must be");
        if (what_.tagged() && what_.encrypt)
            tags_.compare(answers_.tags.data(), answers_.tags.size(), "the tags are not what they must be");
        if (is_batch())
            statuses_.compare(std::vector<int32_t>(messages_).data(), messages_ * sizeof(int32_t), "a message has a status but OK");
    }

private:
    bool is_batch() const { return messages_ > 1 || what_.key_per_message || (on_device_ && (what_.tagged() || what_.serial())); }

    warpseal_status queue(void* stream) {
        if (is_batch()) return bench_call_batch_device(what_, key_.get(), batch(), stream);
        return bench_call_device(what_, key_.get(), answers_.ivs.data(), in_.data(), out_.data(), bytes_, stream);
    }

    double device_seconds() {
        float milliseconds = 0;
        const auto work = [](void* self, void* stream) { return static_cast<BulkSide*>(self)->queue(stream); };
        require_ok(warpseal_inner_time_device(engine_, work, this, &milliseconds), "a call on the GPU");
        return milliseconds / 1e3;
    }

    warpseal_status call() {
        if (is_batch()) return bench_call_batch(what_, key_.get(), batch());
        return bench_call_one(what_, key_.get(), answers_.ivs.data(), in_.data(), out_.data(), bytes_, tags_.data());
    }

    double host_seconds() {
        const auto begin = std::chrono::steady_clock::now();
        const warpseal_status status = call();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        require_ok(status, "a call");
        return took.count();
    }

    warpseal_batch batch() const {
        const uint8_t* keys = what_.key_per_message ? keys_.data() : nullptr;
        const BatchMemory memory{in_.data(), out_.data(), ivs_.data(), keys, tags_.data(), reinterpret_cast<int32_t*>(statuses_.data())};
        return bench_batch(what_, memory, bytes_, answers_.message_bytes);
    }

    const BenchCase what_;
    warpseal_engine* engine_;
    const bool on_device_;
    const Answers& answers_;
    const uint64_t bytes_, messages_;
    BenchKey key_;
    Memory in_, out_, ivs_, keys_, tags_, statuses_;
};

}  // namespace

BenchRow measure_bulk(const BenchOptions& options, const BenchCase& what, const std::string& device, const std::string& place,
                      uint64_t bytes, uint64_t message_bytes, Session& session) {
    message_bytes = what.has_batch() ? std::min(message_bytes, bytes) : bytes;
    if (bytes % message_bytes != 0) throw Failure(ExitCode::usage, "--size must be a multiple of --message-size here.");
    const bool has_gpu = device.rfind("cuda", 0) == 0;
    const EngineHandle engine = create_engine({device, options.threads}, session);
    const Answers answers(what, bytes, message_bytes, device);
    BulkSide side(what, engine.get(), place == "device", answers);

    BenchRow row;
    row.what = what;
    row.device = has_gpu ? "cuda" : warpseal_engine_pick(engine.get(), what.cipher.name, what.mode, bytes);
    row.place = place;
    row.threads = options.threads;
    row.bytes = bytes;
    row.message_bytes = message_bytes;
    row.checked_against = answers.checked_against;
    if (place == "host") row.pinned = has_gpu;
    OpenSslMeter theirs;
    if (options.against_openssl) theirs = openssl_meter(options, what, std::max(bench_core_bytes, what.unit_bytes), message_bytes);
    if (theirs.rate) row.openssl_threads = options.threads;
    row.openssl_yardstick = theirs.yardstick;
    side.seconds();  // warms up
    for (int i = 0; i < bench_repetitions; ++i) {
        if (theirs.rate) {
            row.figures.openssl.push_back(theirs.rate());
            side.seconds();  // the GPU was idle meanwhile
        }
        row.figures.ours.push_back(static_cast<double>(bytes) / side.seconds() / 1e9);
    }
    side.check();
    return row;
}

}  // namespace warpseal::cli
