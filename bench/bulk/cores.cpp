// Measures the cores: each thread calls on its own buffer, with our engine and OpenSSL in turn.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "bench/bulk/openssl.h"
#include "bench/bulk/reference_output.h"

namespace warpseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Buffers of one thread. Calls work in place, except opening, which would destroy its own input.
struct Buffers {
    std::vector<uint8_t> in, out, iv, keys, tags;
    uint64_t message_bytes;
    bool in_place;

    Buffers(const BenchCase& what, const std::string& device, uint64_t bytes,
            uint64_t message_size);
    uint8_t* to() { return in_place ? in.data() : out.data(); }
    uint64_t count() const { return tags.size() / bench_tag_stride; }
    uint64_t length(uint64_t i) const {
        return std::min(message_bytes, in.size() - i * message_bytes);
    }
    // Sets a fresh IV for each sealing call. The first eight bytes count calls, the last four count
    // messages.
    void next_iv() {
        for (size_t at = 0; at < iv.size(); at += bench_nonce_bytes) {
            uint64_t calls = 0;
            std::memcpy(&calls, iv.data() + at, sizeof calls);
            ++calls;
            std::memcpy(iv.data() + at, &calls, sizeof calls);
        }
    }
};

bool call_reference(Reference& reference, const BenchCase& what, const Buffers& b,
                    const uint8_t* in, uint8_t* out, uint8_t* tags) {
    const size_t iv_bytes = bench_iv_bytes(what);
    bool good = true;
    for (uint64_t i = 0; i < b.count(); ++i) {
        if (!b.keys.empty()) good &= reference.set_key(b.keys.data() + i * what.key_bytes());
        good &= reference.run(b.iv.data() + i * iv_bytes, in + i * b.message_bytes,
                              out + i * b.message_bytes, b.length(i), tags + i * bench_tag_stride);
    }
    return good;
}

Buffers::Buffers(const BenchCase& what, const std::string& device, uint64_t bytes,
                 uint64_t message_size)
    : in(bytes),
      out(what.aead() && !what.encrypt ? bytes : 0),
      message_bytes(message_size),
      in_place(out.empty()) {
    const uint64_t messages = (bytes + message_bytes - 1) / message_bytes;
    iv = message_ivs(bench_iv_bytes(what), messages);
    keys = message_keys(what, messages);
    tags.resize(messages * bench_tag_stride);
    fill_random(in.data(), in.size());
    if (!what.tagged() || what.encrypt) return;
    const auto sealing = make_reference(what.as(true), bench_key(what), device);
    if (!call_reference(*sealing, what.as(true), *this, in.data(), in.data(), tags.data()))
        throw BenchWrong("the reference failed");
}

// One side of one thread, ours or OpenSSL's; call() can be repeated.
class Side {
public:
    virtual ~Side() = default;
    virtual bool call() = 0;
};

class TheirSide : public Side {
public:
    TheirSide(const BenchCase& what, std::unique_ptr<OpenSsl> openssl, uint64_t bytes,
              uint64_t message_bytes)
        : what_(what), buffers_(what, "", bytes, message_bytes), openssl_(std::move(openssl)) {}
    bool call() override {
        if (what_.aead() && what_.encrypt) buffers_.next_iv();
        return call_reference(*openssl_, what_, buffers_, buffers_.in.data(), buffers_.to(),
                              buffers_.tags.data());
    }

private:
    const BenchCase what_;
    Buffers buffers_;
    std::unique_ptr<OpenSsl> openssl_;
};

class OurSide : public Side {
public:
    OurSide(const BenchCase& what, const std::string& device, uint64_t bytes,
            uint64_t message_bytes, cli::EngineHandle engine)
        : what_(what),
          buffers_(what, device, bytes, message_bytes),
          engine_(std::move(engine)),
          key_(make_bench_key(engine_.get(), what)),
          reference_(make_reference(what, bench_key(what), target())) {}
    bool call() override {
        if (what_.aead() && what_.encrypt) buffers_.next_iv();
        const bool one = buffers_.count() == 1 && !what_.key_per_message;
        return (one ? call_one() : call_batch()) == WARPSEAL_OK;
    }
    // Makes one more call on the current buffer content and compares it with the reference.
    void compare() {
        const std::vector<uint8_t> before = buffers_.in;
        std::vector<uint8_t> expected(before.size()), expected_tags = buffers_.tags;
        if (what_.mac() && what_.encrypt)
            std::fill(buffers_.tags.begin(), buffers_.tags.end(), uint8_t{0});
        if (!call()) throw BenchWrong("a call failed");
        if (!call_reference(*reference_, what_, buffers_, before.data(), expected.data(),
                            expected_tags.data()))
            throw BenchWrong("the reference failed, or finds a wrong tag");
        if (!what_.mac() && std::memcmp(buffers_.to(), expected.data(), expected.size()) != 0)
            throw BenchWrong("the output is not what it must be");
        if (what_.tagged() && expected_tags != buffers_.tags)
            throw BenchWrong("the tag is not what it must be");
    }
    const char* target() const {
        return warpseal_engine_pick(engine_.get(), what_.cipher.name, what_.mode,
                                    buffers_.in.size());
    }
    std::string checked_against() const { return reference_->name(); }

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

    const BenchCase what_;
    Buffers buffers_;
    cli::EngineHandle engine_;
    BenchKey key_;
    std::unique_ptr<Reference> reference_;
    std::vector<int32_t> statuses_;
    std::vector<uint64_t> lengths_;
};

// Returns the GB/s of all threads together in one time window. Each thread's rate is based on the
// calls that it finished.
double rate(const std::vector<Side*>& sides, double seconds, uint64_t bytes) {
    std::atomic<size_t> ready{0};
    std::atomic<bool> go{false}, stop{false}, failed{false};
    std::vector<double> rates(sides.size());
    std::vector<std::thread> threads;
    for (size_t t = 0; t < sides.size(); ++t)
        threads.emplace_back([&, t] {
            if (!sides[t]->call()) failed = true;  // warms the caches
            ++ready;
            while (!go) std::this_thread::yield();
            const auto begin = Clock::now();
            // Only the waiting thread reads the clock, so that small calls cost no more than a flag
            // check.
            uint64_t calls = 0;
            do {
                if (!sides[t]->call()) failed = true;
                ++calls;
            } while (!stop.load(std::memory_order_relaxed));
            const std::chrono::duration<double> took = Clock::now() - begin;
            rates[t] = static_cast<double>(calls * bytes) / took.count() / 1e9;
        });
    while (ready < sides.size()) std::this_thread::yield();
    go = true;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop = true;
    for (std::thread& thread : threads) thread.join();
    if (failed) throw BenchWrong("a call failed while it was timed");
    double sum = 0;
    for (const double one : rates) sum += one;
    return sum;
}

}  // namespace

OpenSslMeter openssl_meter(const BenchOptions& options, const BenchCase& what, uint64_t bytes,
                           uint64_t message_bytes) {
    OpenSslMeter meter;
    BenchCase theirs = what;
    if (!OpenSsl::find(what, bench_key(what))) {
        const auto ecb = find_openssl_ecb(what, bench_key(what), what.encrypt);
        if (!ecb) return meter;
        meter.yardstick = ecb->cipher_name();
        theirs.mode = WARPSEAL_ECB;
        theirs.key_per_message = false;
        message_bytes = bytes;
    }
    auto owned = std::make_shared<std::vector<std::unique_ptr<TheirSide>>>();
    for (unsigned t = 0; t < options.threads; ++t)
        owned->push_back(std::make_unique<TheirSide>(theirs,
                                                     OpenSsl::find(theirs, bench_key(theirs)),
                                                     bytes, std::min(message_bytes, bytes)));
    meter.rate = [owned, seconds = options.seconds / bench_repetitions, bytes] {
        std::vector<Side*> sides;
        for (const auto& side : *owned) sides.push_back(side.get());
        return rate(sides, seconds, bytes);
    };
    return meter;
}

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
    OpenSslMeter theirs;
    if (options.against_openssl) theirs = openssl_meter(options, what, bytes, message_bytes);
    if (theirs.rate) row.openssl_threads = options.threads;
    row.openssl_yardstick = theirs.yardstick;
    for (int i = 0; i < bench_repetitions; ++i) {
        row.figures.ours.push_back(rate(sides, options.seconds / bench_repetitions, bytes));
        if (theirs.rate) row.figures.openssl.push_back(theirs.rate());
    }
    for (const auto& side : owned) side->compare();
    return row;
}

}  // namespace warpseal::bench
