// Implementation of bench_race.h.
#include "bench/bulk/race.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

namespace warpseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int learning_calls = 16;
constexpr double seconds_each = 0.12;
constexpr size_t least_calls = 5, most_calls = 51;
constexpr uint64_t most_bytes_in_caches = uint64_t{32} << 20;
// A candidate this many times slower than the best is called once only.
constexpr double out_of_the_race = 3;

double seconds_of(const Candidate& candidate, const BenchCase& what, const Ground& ground) {
    const auto begin = Clock::now();
    candidate.call(what, ground);
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Compares with an independent reference, if that does not take too long.
constexpr uint64_t most_compared_bytes = uint64_t{4} << 20;

void check_against_reference(const BenchCase& what, const Ground& ground,
                             const std::vector<uint8_t>& got) {
    if (ground.bytes() > most_compared_bytes) return;
    const std::vector<uint8_t> in = ground.input();
    std::vector<uint8_t> right(in.size());
    const uint8_t iv[16] = {};
    uint8_t tag[16] = {};
    if (!make_reference(what, bench_key(what), "auto")
             ->run(iv, in.data(), right.data(), in.size(), tag))
        throw BenchWrong("the reference failed");
    const bool tag_right =
        !what.tagged() || std::equal(tag, tag + sizeof tag, got.data() + right.size());
    if (!tag_right || !std::equal(right.begin(), right.end(), got.begin()))
        throw BenchWrong("the output is not what it must be");
}

}  // namespace

Ground::Ground(warpseal_engine* engine, const std::string& place, uint64_t bytes)
    : engine_(engine),
      place_(place),
      bytes_(bytes),
      in_(allocate(bytes)),
      out_(allocate(bytes)),
      small_(static_cast<uint8_t*>(allocate(small_bytes))) {
    std::vector<uint8_t> text(bytes), zeros(small_bytes);
    fill_random(text.data(), bytes);
    put(in_, text.data(), bytes);
    put(small_, zeros.data(), zeros.size());
}

Ground::~Ground() {
    release(in_);
    release(out_);
    release(small_);
}

std::vector<uint8_t> Ground::input() const {
    std::vector<uint8_t> copy(bytes_);
    get(copy.data(), in_, bytes_);
    return copy;
}

std::vector<uint8_t> Ground::output() const {
    std::vector<uint8_t> copy(bytes_ + 16);
    get(copy.data(), out_, bytes_);
    get(copy.data() + bytes_, tag(), 16);
    return copy;
}

void Ground::spoil() {
    const std::vector<uint8_t> other(std::min<uint64_t>(bytes_, 4096), 0xa5);
    put(out_, other.data(), other.size());
    put(out() + bytes_ - other.size(), other.data(), other.size());
}

void Ground::put(void* to, const void* from, size_t bytes) const {
    if (on_device())
        require_ok(warpseal_device_upload(engine_, to, from, bytes), "copying to the GPU");
    else
        std::memcpy(to, from, bytes);
}

void Ground::get(void* to, const void* from, size_t bytes) const {
    if (on_device())
        require_ok(warpseal_device_download(engine_, to, from, bytes), "copying from the GPU");
    else
        std::memcpy(to, from, bytes);
}

void* Ground::allocate(size_t bytes) {
    void* memory = nullptr;
    if (place_ == "host")
        memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    else
        require_ok(
            (on_device() ? warpseal_device_alloc : warpseal_host_alloc)(engine_, bytes, &memory),
            "allocating memory");
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void Ground::release(void* memory) {
    if (place_ == "host")
        std::free(memory);
    else
        (on_device() ? warpseal_device_free : warpseal_host_free)(engine_, memory);
}

void Candidate::call(const BenchCase& what, const Ground& ground) const {
    const uint8_t iv[16] = {};
    if (!ground.on_device()) {
        require_ok(bench_call_one(what, key.get(), iv, ground.in(), ground.out(), ground.bytes(),
                                  ground.tag()),
                   "a call");
        return;
    }
    if (what.tagged()) {
        const BatchMemory memory{ground.in(), ground.out(), ground.iv(),
                                 nullptr,     ground.tag(), ground.status()};
        require_ok(bench_call_batch_device(
                       what, key.get(), bench_batch(what, memory, ground.bytes(), ground.bytes()),
                       nullptr),
                   "a call");
    } else {
        require_ok(bench_call_device(what, key.get(), iv, ground.in(), ground.out(), ground.bytes(),
                                     nullptr),
                   "a call");
    }
    require_ok(warpseal_device_synchronize(engine, nullptr), "waiting for the GPU");
}

double Candidate::gigabytes_per_second(uint64_t bytes) const {
    return static_cast<double>(bytes) / median(seconds) / 1e9;
}

// Runs the candidates in turn, in a different order each time. This spreads other load, and effects
// of one call on the next, over all of them. Candidates that are far behind drop out.
void race(std::vector<Candidate>& candidates, const BenchCase& what, const Ground& ground) {
    double best = 0;
    for (Candidate& candidate : candidates) {
        for (int i = 0; i < (candidate.learns ? learning_calls : 1); ++i)
            candidate.call(what, ground);
        candidate.seconds = {seconds_of(candidate, what, ground)};
        best = best == 0 ? candidate.seconds[0] : std::min(best, candidate.seconds[0]);
    }
    for (Candidate& candidate : candidates) {
        candidate.racing = candidate.seconds[0] < out_of_the_race * best || candidate.learns;
        if (candidate.racing) candidate.seconds.clear();
    }
    std::vector<Candidate*> order;
    for (Candidate& candidate : candidates)
        if (candidate.racing) order.push_back(&candidate);
    std::minstd_rand random;
    const auto rounds =
        std::clamp(static_cast<size_t>(seconds_each / best), least_calls, most_calls);
    for (size_t round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (Candidate* candidate : order) {
            // Fills the caches with the candidate's own data.
            if (ground.bytes() <= most_bytes_in_caches) candidate->call(what, ground);
            candidate->seconds.push_back(seconds_of(*candidate, what, ground));
        }
    }
}

void check_outputs(const std::vector<Candidate>& candidates, const BenchCase& what,
                   Ground& ground) {
    std::vector<uint8_t> right;
    for (const Candidate& candidate : candidates) {
        ground.spoil();
        candidate.call(what, ground);
        std::vector<uint8_t> got = ground.output();
        if (right.empty()) {
            check_against_reference(what, ground, got);
            right = std::move(got);
        } else if (got != right) {
            throw BenchWrong(candidate.name + " has another output than " + candidates[0].name);
        }
    }
}

}  // namespace warpseal::bench
