// The cores' figure: threads that each call on a buffer of their own, ours and OpenSSL's in turn.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "bench_answers.h"
#include "bench_openssl.h"

namespace warpseal::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A thread's buffers. In place, but for opening: what was opened in place is not there to be opened again.
struct Buffers {
    std::vector<uint8_t> in, out, iv, tags;
    uint64_t message_bytes;
    bool in_place;

    Buffers(const BenchCase& what, const std::vector<uint8_t>& key, uint64_t bytes, uint64_t message_size);
    uint8_t* to() { return in_place ? in.data() : out.data(); }
    uint64_t count() const { return tags.size() / bench_tag_bytes; }
    uint64_t length(uint64_t i) const { return std::min(message_bytes, in.size() - i * message_bytes); }
    // A fresh IV for each call that seals: the first eight bytes count the calls, the last four the messages.
    void next_iv() {
        for (size_t at = 0; at < iv.size(); at += bench_nonce_bytes) {
            uint64_t calls = 0;
            std::memcpy(&calls, iv.data() + at, sizeof calls);
            ++calls;
            std::memcpy(iv.data() + at, &calls, sizeof calls);
        }
    }
};

bool call_openssl(OpenSsl& openssl, const BenchCase& what, const Buffers& b, const uint8_t* in, uint8_t* out, uint8_t* tags) {
    const size_t iv_bytes = bench_iv_bytes(what);
    bool good = true;
    for (uint64_t i = 0; i < b.count(); ++i)
        good &= openssl.run(b.iv.data() + i * iv_bytes, in + i * b.message_bytes, out + i * b.message_bytes, b.length(i),
                            tags + i * bench_tag_bytes);
    return good;
}

Buffers::Buffers(const BenchCase& what, const std::vector<uint8_t>& key, uint64_t bytes, uint64_t message_size)
    : in(bytes), out(what.aead() && !what.encrypt ? bytes : 0), message_bytes(message_size), in_place(out.empty()) {
    const uint64_t messages = (bytes + message_bytes - 1) / message_bytes;
    iv = message_ivs(bench_iv_bytes(what), messages);
    tags.resize(messages * bench_tag_bytes);
    fill_random(in.data(), in.size());
    if (in_place) return;
    BenchCase sealing = what;
    sealing.encrypt = true;
    if (!call_openssl(*require_openssl(sealing, key), sealing, *this, in.data(), in.data(), tags.data()))
        throw BenchWrong("OpenSSL failed");
}

// One side of one thread: something to call, again and again.
class Side {
public:
    virtual ~Side() = default;
    virtual bool call() = 0;
};

class TheirSide : public Side {
public:
    TheirSide(const BenchCase& what, const std::vector<uint8_t>& key, uint64_t bytes, uint64_t message_bytes)
        : what_(what), buffers_(what, key, bytes, message_bytes), openssl_(require_openssl(what, key)) {}
    bool call() override {
        if (what_.aead() && what_.encrypt) buffers_.next_iv();
        return call_openssl(*openssl_, what_, buffers_, buffers_.in.data(), buffers_.to(), buffers_.tags.data());
    }

private:
    const BenchCase what_;
    Buffers buffers_;
    std::unique_ptr<OpenSsl> openssl_;
};

class OurSide : public Side {
public:
    OurSide(const BenchCase& what, const std::vector<uint8_t>& key, uint64_t bytes, uint64_t message_bytes, EngineHandle engine)
        : what_(what),
          buffers_(what, key, bytes, message_bytes),
          engine_(std::move(engine)),
          key_(make_bench_key(engine_.get(), what, key)),
          openssl_(require_openssl(what, key)) {}
    bool call() override {
        if (what_.aead() && what_.encrypt) buffers_.next_iv();
        return (buffers_.count() == 1 ? call_one() : call_batch()) == WARPSEAL_OK;
    }
    // One more call, on whatever the calls before it left, against OpenSSL's.
    void compare() {
        const std::vector<uint8_t> before = buffers_.in;
        std::vector<uint8_t> expected(before.size()), expected_tags = buffers_.tags;
        if (!call()) throw BenchWrong("a call failed");
        if (!call_openssl(*openssl_, what_, buffers_, before.data(), expected.data(), expected_tags.data()))
            throw BenchWrong("OpenSSL failed");
        if (std::memcmp(buffers_.to(), expected.data(), expected.size()) != 0) throw BenchWrong("the output is not OpenSSL's");
        if (what_.aead() && expected_tags != buffers_.tags) throw BenchWrong("the tag is not OpenSSL's");
    }
    const char* target() const { return warpseal_engine_pick(engine_.get(), what_.cipher.name, what_.mode, buffers_.in.size()); }

private:
    warpseal_status call_one() {
        Buffers& b = buffers_;
        if (what_.aead() && what_.encrypt)
            return warpseal_seal_unsafe_iv(key_.get(), what_.mode, b.iv.data(), b.iv.size(), nullptr, 0, b.in.data(), b.to(), b.in.size(),
                                           b.tags.data(), bench_tag_bytes);
        if (what_.aead())
            return warpseal_open(key_.get(), what_.mode, b.iv.data(), b.iv.size(), nullptr, 0, b.in.data(), b.to(), b.in.size(),
                                 b.tags.data(), bench_tag_bytes);
        return (what_.encrypt ? warpseal_encrypt : warpseal_decrypt)(key_.get(), what_.mode, b.iv.data(), b.iv.size(), b.in.data(), b.to(),
                                                                     b.in.size());
    }
    warpseal_status call_batch() {
        statuses_.resize(buffers_.count());
        BatchMemory memory{buffers_.in.data(), buffers_.to(), buffers_.iv.data(), buffers_.tags.data(), statuses_.data()};
        std::vector<uint64_t> lengths;
        warpseal_batch batch = bench_batch(what_, memory, buffers_.in.size(), buffers_.message_bytes);
        if (buffers_.in.size() % buffers_.message_bytes != 0) {
            for (uint64_t i = 0; i < buffers_.count(); ++i) lengths.push_back(buffers_.length(i));
            batch.lengths = lengths.data();
        }
        return bench_call_batch(what_, key_.get(), batch);
    }

    const BenchCase what_;
    Buffers buffers_;
    EngineHandle engine_;
    BenchKey key_;
    std::unique_ptr<OpenSsl> openssl_;
    std::vector<int32_t> statuses_;
};

// Gigabytes a second of all threads together over one window of time, each thread's rate taken over the calls it finished.
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
            // The clock is read by the waiting thread alone; small calls see only a flag.
            uint64_t calls = 0;
            while (!stop.load(std::memory_order_relaxed)) {
                if (!sides[t]->call()) failed = true;
                ++calls;
            }
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

std::function<double()> openssl_meter(const BenchOptions& options, const BenchCase& what, uint64_t bytes, uint64_t message_bytes) {
    auto owned = std::make_shared<std::vector<std::unique_ptr<TheirSide>>>();
    for (unsigned t = 0; t < options.threads; ++t)
        owned->push_back(std::make_unique<TheirSide>(what, bench_key(what), bytes, std::min(message_bytes, bytes)));
    return [owned, seconds = options.seconds / bench_repetitions, bytes] {
        std::vector<Side*> sides;
        for (const auto& side : *owned) sides.push_back(side.get());
        return rate(sides, seconds, bytes);
    };
}

BenchRow measure_cores(const BenchOptions& options, const BenchCase& what, const std::string& device, uint64_t bytes, Session& session) {
    const uint64_t message_bytes = options.message_bytes && what.mode != WARPSEAL_ECB ? std::min(options.message_bytes, bytes) : bytes;
    std::vector<std::unique_ptr<OurSide>> owned;
    std::vector<Side*> sides;
    for (unsigned t = 0; t < options.threads; ++t) {
        owned.push_back(std::make_unique<OurSide>(what, bench_key(what), bytes, message_bytes, create_engine({device, 1}, session)));
        owned.back()->compare();
        sides.push_back(owned.back().get());
    }
    BenchRow row{what, owned[0]->target(), "host", options.threads, bytes, message_bytes, true, std::nullopt, 0, {}};
    std::function<double()> theirs;
    if (options.against_openssl) {
        theirs = openssl_meter(options, what, bytes, message_bytes);
        row.openssl_threads = options.threads;
    }
    for (int i = 0; i < bench_repetitions; ++i) {
        row.figures.ours.push_back(rate(sides, options.seconds / bench_repetitions, bytes));
        if (theirs) row.figures.openssl.push_back(theirs());
    }
    for (const auto& side : owned) side->compare();
    return row;
}

}  // namespace warpseal::cli
