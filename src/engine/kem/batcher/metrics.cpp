// Histograms with power-of-two buckets, in the Prometheus text exposition format, version 0.0.4.
#include "engine/kem/batcher/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>

namespace warpseal {
namespace {

constexpr double first_bucket_seconds = 10e-6;

void add(std::atomic<uint64_t>& count, uint64_t more) {
    if (more != 0) count.fetch_add(more, std::memory_order_relaxed);
}

// Builds the text of one batcher.
class Text {
public:
    explicit Text(const std::string& who) : who_(who) {}

    void family(const char* name, const char* type, const char* help) {
        name_ = name;
        text_ +=
            std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
    }
    void sample(uint64_t value, const char* label = nullptr, const char* label_value = nullptr) {
        line("", label, label_value, std::to_string(value));
    }
    // buckets: not cumulative. bound(i): upper bound of bucket i; the last is unbounded.
    template <size_t N>
    void histogram(const uint64_t (&buckets)[N], const std::function<double(size_t)>& bound,
                   const std::string& sum) {
        uint64_t so_far = 0;
        for (size_t i = 0; i < N; ++i) {
            so_far += buckets[i];
            line("_bucket", "le", i + 1 == N ? "+Inf" : number(bound(i)).c_str(),
                 std::to_string(so_far));
        }
        line("_sum", nullptr, nullptr, sum);
        line("_count", nullptr, nullptr, std::to_string(so_far));
    }
    static std::string number(double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", value);
        return text;
    }
    const std::string& all() const { return text_; }

private:
    void line(const char* suffix, const char* label, const char* label_value,
              const std::string& value) {
        text_ += std::string(name_) + suffix + "{batcher=\"" + who_ + "\"";
        if (label != nullptr) text_ += std::string(",") + label + "=\"" + label_value + "\"";
        text_ += "} " + value + "\n";
    }
    const std::string& who_;
    const char* name_ = "";
    std::string text_;
};

bool write_all(int file, const std::string& text) {
    size_t done = 0;
    while (done < text.size()) {
        const ssize_t some = ::write(file, text.data() + done, text.size() - done);
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) return false;
        done += static_cast<size_t>(some);
    }
    return true;
}

}  // namespace

void KemCounts::Waits::add(double waited) {
    const double steps = std::clamp(waited / first_bucket_seconds, 0.0, 1e9);
    const auto whole = static_cast<uint64_t>(steps);
    const uint64_t up = whole + (static_cast<double>(whole) < steps ? 1 : 0);
    ++buckets[std::min<size_t>(up <= 1 ? 0 : static_cast<size_t>(std::bit_width(up - 1)),
                               buckets.size() - 1)];
    seconds += waited;
}

void KemCounts::count_inline(bool failed) {
    inline_requests_.fetch_add(1, std::memory_order_relaxed);
    add(failures_, failed ? 1 : 0);
}

void KemCounts::count_batch(size_t requests, const Waits& waits) {
    add(batched_requests_, requests);
    add(batches_, 1);
    add(sizes_[std::min<size_t>(static_cast<size_t>(std::bit_width(requests - 1)),
                                sizes_.size() - 1)],
        1);
    for (size_t i = 0; i < waits_.size(); ++i) add(waits_[i], waits.buckets[i]);
    wait_seconds_.fetch_add(waits.seconds, std::memory_order_relaxed);
    uint64_t largest = largest_batch_.load(std::memory_order_relaxed);
    while (requests > largest &&
           !largest_batch_.compare_exchange_weak(largest, requests, std::memory_order_relaxed)) {
    }
}

void KemCounts::read(uint32_t waiting, warpseal_kem_batcher_counts& out) const {
    const auto now = [](const auto& count) { return count.load(std::memory_order_relaxed); };
    out.waiting = waiting;
    out.inline_requests = now(inline_requests_);
    out.batched_requests = now(batched_requests_);
    out.requests = out.inline_requests + out.batched_requests;
    out.batches = now(batches_);
    out.largest_batch = now(largest_batch_);
    out.failures = now(failures_);
    out.full_queue = now(full_queue_);
    out.no_thread = now(no_thread_);
    out.redone = now(redone_);
    out.wait_seconds_sum = now(wait_seconds_);
    std::transform(sizes_.begin(), sizes_.end(), out.batch_size_buckets, now);
    std::transform(waits_.begin(), waits_.end(), out.wait_buckets, now);
}

std::string prometheus_text(const warpseal_kem_batcher_counts& counts, const std::string& who) {
    Text text(who);
    text.family("warpseal_kem_requests_total", "counter", "Completed requests, by path.");
    text.sample(counts.inline_requests, "path", "inline");
    text.sample(counts.batched_requests, "path", "batched");
    text.family("warpseal_kem_failures_total", "counter",
                "Completed requests that have no result.");
    text.sample(counts.failures);
    text.family("warpseal_kem_fallback_total", "counter",
                "Requests that left the batch path, by reason.");
    text.sample(counts.full_queue, "reason", "full_queue");
    text.sample(counts.no_thread, "reason", "no_thread");
    text.sample(counts.redone, "reason", "batch_failed");
    text.family("warpseal_kem_queue_length", "gauge", "Requests that wait for their batch.");
    text.sample(counts.waiting);
    text.family("warpseal_kem_batch_size", "histogram", "Requests of a batch.");
    text.histogram(
        counts.batch_size_buckets, [](size_t i) { return static_cast<double>(uint64_t{1} << i); },
        std::to_string(counts.batched_requests));
    text.family("warpseal_kem_queue_wait_seconds", "histogram",
                "Time from a request's arrival in the queue to the start of its batch.");
    text.histogram(
        counts.wait_buckets,
        [](size_t i) { return first_bucket_seconds * static_cast<double>(uint64_t{1} << i); },
        Text::number(counts.wait_seconds_sum));
    return text.all();
}

// Returns the number of batchers created in this process so far; a forked child starts anew.
unsigned MetricsFile::number_in(uint32_t process) {
    static std::atomic<uint64_t> last{0};  // high 32 bits: process; low 32 bits: number
    uint64_t before = last.load(std::memory_order_relaxed), now;
    do now = before >> 32 == process ? before + 1 : uint64_t{process} << 32 | 1;
    while (!last.compare_exchange_weak(before, now, std::memory_order_relaxed));
    return static_cast<unsigned>(now);
}

MetricsFile::MetricsFile(const std::string& directory) {
    const auto process = static_cast<uint32_t>(getpid());
    const unsigned number = number_in(process);
    who_ = std::to_string(process) + (number == 1 ? "" : "-" + std::to_string(number));
    if (!directory.empty()) path_ = directory + "/warpseal-" + who_ + ".prom";
}

bool MetricsFile::write(const std::string& text) const {
    const std::string next = path_ + ".next";
    const int file =
        open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file < 0) return false;
    const bool whole = write_all(file, text);
    const bool closed = close(file) == 0;
    if (whole && closed && std::rename(next.c_str(), path_.c_str()) == 0) return true;
    (void)unlink(next.c_str());
    return false;
}

}  // namespace warpseal
