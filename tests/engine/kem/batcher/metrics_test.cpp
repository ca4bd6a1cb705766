// The batcher's metrics as numbers, as Prometheus text, and in its file.
#include "engine/kem/batcher/metrics.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/kem/batched.h"

namespace {
thread_local bool close_fails = false;
}

// Of this program. The descriptor is closed in any case, as by the kernel.
extern "C" int close(int descriptor) {
    const auto result = static_cast<int>(syscall(SYS_close, descriptor));
    if (!close_fails) return result;
    errno = EIO;
    return -1;
}

namespace {

using namespace batched;
namespace fs = std::filesystem;

TEST(KemCounts, BucketsEndAtPowersOfTwo) {
    KemCounts counts;
    for (const size_t size : {1, 2, 3, 4, 5, 1 << 16, (1 << 16) + 1, 1 << 30})
        counts.count_batch(size, {});
    KemCounts::Waits waits;
    for (const double wait :
         {-1e-3, 0.0, 9e-6, 10e-6, 10.1e-6, 20e-6, 20.1e-6, 0.16384, 0.164, 1e12})
        waits.add(wait);
    counts.count_batch(10, waits);
    warpseal_kem_batcher_counts out{};
    counts.read(3, out);
    EXPECT_EQ(out.waiting, 3u);
    const uint64_t sizes[WARPSEAL_KEM_BATCH_SIZES] = {1, 1, 2, 1, 1, 0, 0, 0, 0,
                                                      0, 0, 0, 0, 0, 0, 0, 1, 2};
    const uint64_t expected[WARPSEAL_KEM_WAITS] = {4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2};
    for (size_t i = 0; i < std::size(sizes); ++i)
        EXPECT_EQ(out.batch_size_buckets[i], sizes[i]) << i;
    for (size_t i = 0; i < std::size(expected); ++i)
        EXPECT_EQ(out.wait_buckets[i], expected[i]) << i;
    EXPECT_EQ(out.largest_batch, uint64_t{1} << 30);
}

// Returns names with labels, and values. Each family has its two comments before it.
std::map<std::string, double> parsed(const std::string& text) {
    std::map<std::string, double> out;
    std::istringstream lines(text);
    std::string family, line;
    while (std::getline(lines, line)) {
        if (line.rfind("# HELP ", 0) == 0) continue;
        if (line.rfind("# TYPE ", 0) == 0) {
            family = line.substr(7, line.find(' ', 7) - 7);
            continue;
        }
        EXPECT_EQ(line.rfind(family, 0), 0u) << line;
        const size_t space = line.rfind(' ');
        EXPECT_TRUE(out.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second)
            << line;
    }
    return out;
}

TEST(KemCounts, PrometheusText) {
    KemCounts counts;
    for (int i = 0; i < 5; ++i) counts.count_inline(i == 0);
    KemCounts::Waits waits;
    for (int i = 0; i < 100; ++i) waits.add(i < 90 ? 15e-6 : 10.0);
    counts.count_batch(100, waits);
    counts.count_failures(2);
    counts.count_full_queue();
    counts.count_no_thread();
    counts.count_redone(4);
    warpseal_kem_batcher_counts read{};
    counts.read(11, read);
    const auto lines = parsed(prometheus_text(read, "42-2"));
    const auto value = [&](const std::string& name, const std::string& labels = "") {
        const auto found = lines.find("warpseal_kem_" + name + "{batcher=\"42-2\"" +
                                      (labels.empty() ? "" : "," + labels) + "}");
        return found == lines.end() ? NAN : found->second;
    };
    EXPECT_EQ(value("requests_total", "path=\"inline\""), 5);
    EXPECT_EQ(value("requests_total", "path=\"batched\""), 100);
    EXPECT_EQ(value("failures_total"), 3);
    EXPECT_EQ(value("fallback_total", "reason=\"full_queue\""), 1);
    EXPECT_EQ(value("fallback_total", "reason=\"no_thread\""), 1);
    EXPECT_EQ(value("fallback_total", "reason=\"batch_failed\""), 4);
    EXPECT_EQ(value("queue_length"), 11);
    EXPECT_EQ(value("batch_size_bucket", "le=\"64\""), 0);
    EXPECT_EQ(value("batch_size_bucket", "le=\"128\""), 1);
    EXPECT_EQ(value("batch_size_bucket", "le=\"+Inf\""), 1);
    EXPECT_EQ(value("batch_size_sum"), 100);
    EXPECT_EQ(value("batch_size_count"), 1);
    EXPECT_EQ(value("queue_wait_seconds_bucket", "le=\"1e-05\""), 0);
    EXPECT_EQ(value("queue_wait_seconds_bucket", "le=\"2e-05\""), 90);
    EXPECT_EQ(value("queue_wait_seconds_bucket", "le=\"0.16384\""), 90);
    EXPECT_EQ(value("queue_wait_seconds_bucket", "le=\"+Inf\""), 100);
    EXPECT_EQ(value("queue_wait_seconds_count"), 100);
    EXPECT_NEAR(value("queue_wait_seconds_sum"), 100.00135, 1e-6);
    EXPECT_EQ(lines.size(), 7u + 18 + 2 + 16 + 2);
}

class KemMetricsFile : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "warpseal-metrics-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    ~KemMetricsFile() override { fs::remove_all(folder_); }
    std::map<std::string, double> read(const fs::path& path) const {
        std::ifstream in(path);
        std::ostringstream text;
        text << in.rdbuf();
        return parsed(text.str());
    }
    KemBatcherOptions options() const {
        KemBatcherOptions out = with(64, 1ms);
        out.metrics_directory = folder_.string();
        return out;
    }
    fs::path folder_;
};

double inline_requests(const std::map<std::string, double>& lines) {
    for (const auto& [name, value] : lines)
        if (name.find("path=\"inline\"") != std::string::npos) return value;
    return -1;
}

TEST_F(KemMetricsFile, OncePerSecondAndAtTheEnd) {
    const auto engine = engine_on("cpu", 1);
    Items items(1);
    fs::path file;
    {
        KemBatcher batcher(*engine, options(), system_random);
        EXPECT_TRUE(fs::is_empty(folder_));
        for (int i = 0; i < 10; ++i)
            EXPECT_EQ(batcher.run(items.request(KemOperation::keypair, 0)), WARPSEAL_OK);
        ASSERT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
        file = fs::directory_iterator(folder_)->path();
        EXPECT_EQ(file.filename().string().rfind("warpseal-" + std::to_string(getpid()), 0), 0u);
        EXPECT_EQ(inline_requests(read(file)), 1);
        const std::string text = batcher.metrics();
        EXPECT_EQ(inline_requests(parsed(text)), 10);
        // The watching thread writes pending metrics when the second is over.
        EXPECT_EQ(items.submit(batcher, KemOperation::keypair, 0), WARPSEAL_OK);
        EXPECT_TRUE(soon([&] { return inline_requests(read(file)) == 10; }));
        EXPECT_EQ(batcher.run(items.request(KemOperation::keypair, 0)), WARPSEAL_OK);
    }
    EXPECT_EQ(inline_requests(read(file)), 11);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(KemMetricsFile, EachBatcherHasItsOwn) {
    const auto engine = engine_on("cpu", 1);
    {
        KemBatcher first(*engine, options(), system_random),
            second(*engine, options(), system_random);
        EXPECT_NE(first.metrics(), second.metrics());
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

// A missing directory, or a path that is not a regular file: requests are not affected.
TEST_F(KemMetricsFile, AnUnwritableFileIsIgnored) {
    const auto engine = engine_on("cpu", 1);
    Items items(1);
    KemBatcherOptions no_slot = options();
    no_slot.metrics_directory += "/none";
    KemBatcher batcher(*engine, no_slot, system_random);
    EXPECT_EQ(batcher.run(items.request(KemOperation::keypair, 0)), WARPSEAL_OK);
    EXPECT_TRUE(fs::is_empty(folder_));
    const MetricsFile file(folder_.string());
    const fs::path path = folder_ / ("warpseal-" + file.who() + ".prom"),
                   target = folder_ / "target";
    std::ofstream(target) << "kept";
    fs::create_symlink(target, path.string() + ".next");
    EXPECT_FALSE(file.write("text"));
    EXPECT_EQ(fs::file_size(target), 4u);
    EXPECT_TRUE(file.wanted());
}

// Some file systems report a failed write only then. The readers keep the file before it.
TEST_F(KemMetricsFile, AFileThatCannotBeClosedDoesNotReplaceTheOneBefore) {
    const MetricsFile file(folder_.string());
    const fs::path path = folder_ / ("warpseal-" + file.who() + ".prom");
    EXPECT_TRUE(file.write("old"));
    close_fails = true;
    EXPECT_FALSE(file.write("longer text"));
    close_fails = false;
    EXPECT_EQ(fs::file_size(path), 3u);
    EXPECT_FALSE(fs::exists(path.string() + ".next"));
    EXPECT_TRUE(file.write("longer text"));
    EXPECT_EQ(fs::file_size(path), 11u);
}

// A directory in its place makes the last step fail.
TEST_F(KemMetricsFile, AFileThatCannotBeNamedIsRemoved) {
    const MetricsFile file(folder_.string());
    const fs::path path = folder_ / ("warpseal-" + file.who() + ".prom");
    fs::create_directories(path / "full");
    EXPECT_FALSE(file.write("text"));
    EXPECT_FALSE(fs::exists(path.string() + ".next"));
    fs::remove_all(path);
    EXPECT_TRUE(file.write("text"));
    EXPECT_EQ(fs::file_size(path), 4u);
}

}  // namespace
