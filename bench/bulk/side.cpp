// Sides of a measurement on the cores.
#include "bench/bulk/side.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "bench/bulk/reference_output.h"

namespace warpseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

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

void Buffers::next_iv() {
    for (size_t at = 0; at < iv.size(); at += bench_nonce_bytes) {
        uint64_t calls = 0;
        std::memcpy(&calls, iv.data() + at, sizeof calls);
        ++calls;
        std::memcpy(iv.data() + at, &calls, sizeof calls);
    }
}

bool Side::call() {
    if (what_.aead() && what_.encrypt) buffers_.next_iv();
    return process();
}

void Side::compare(Reference& reference) {
    const std::vector<uint8_t> before = buffers_.in;
    std::vector<uint8_t> expected(before.size()), expected_tags = buffers_.tags;
    if (what_.mac() && what_.encrypt)
        std::fill(buffers_.tags.begin(), buffers_.tags.end(), uint8_t{0});
    if (!call()) throw BenchWrong("a call failed");
    if (!call_reference(reference, what_, buffers_, before.data(), expected.data(),
                        expected_tags.data()))
        throw BenchWrong("the reference failed, or finds a wrong tag");
    if (!what_.mac() && std::memcmp(buffers_.to(), expected.data(), expected.size()) != 0)
        throw BenchWrong("the output is not what it must be");
    if (what_.tagged() && expected_tags != buffers_.tags)
        throw BenchWrong("the tag is not what it must be");
}

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

}  // namespace warpseal::bench
