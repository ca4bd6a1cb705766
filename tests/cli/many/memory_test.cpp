// Runs in which allocations fail: one file fails, the others are done, and the report names each
// file or says that it does not.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/key/files.h"
#include "cli/many/run.h"

namespace {

constexpr long never = -1;
std::atomic<long> allocations_left{never};  // until `failing` of them fail
std::atomic<long> failing{0};

bool fails() {
    if (allocations_left.load() == never) return false;
    if (allocations_left.load() > 0) return allocations_left.fetch_sub(1), false;
    return failing.load() > 0 && failing.fetch_sub(1) > 0;
}

void arm(long after, long count) {
    failing = count;
    allocations_left = after;
}
// Returns true if an allocation failed.
bool disarm(long count) {
    allocations_left = never;
    return failing.load() != count;
}

// A separate function, so that the compiler does not pair this free with a new elsewhere.
__attribute__((noinline)) void give_back(void* memory) { std::free(memory); }

}  // namespace

void* operator new(size_t bytes) {
    if (fails()) throw std::bad_alloc();
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }

namespace {

using namespace warpseal::cli;
namespace fs = std::filesystem;

struct Outcome {
    bool failed_allocation = false, out_of_memory = false;
    std::optional<Failure> failure;
    size_t done = 0, failed = 0;  // lines of --json
    std::string errors;
};

bool says_less(const Outcome& outcome) {
    return outcome.errors.find("is not said") != std::string::npos;
}

class ManyFiles : public testing::Test {
protected:
    static constexpr size_t file_count = 4;
    ManyFiles() {
        std::string name = fs::temp_directory_path() / "warpseal-many-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) std::abort();
        directory_ = name;
        for (size_t i = 0; i < file_count; ++i) {
            // Longer than a string keeps within itself.
            names_.push_back(directory_ / ("a file of the run, number " + std::to_string(i)));
            std::ofstream(names_.back()) << "text";
        }
    }
    ~ManyFiles() override { fs::remove_all(directory_); }

    static Outcome outcome_of(long after, long count, const std::function<void()>& run) {
        Outcome outcome;
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        after_ = after;
        count_ = count;
        std::exception_ptr thrown;
        try {
            run();
        } catch (...) {
            thrown = std::current_exception();
        }
        outcome.failed_allocation = disarm(count);
        outcome.errors = testing::internal::GetCapturedStderr();
        std::istringstream lines(testing::internal::GetCapturedStdout());
        for (std::string line; std::getline(lines, line);) {
            const auto row = nlohmann::json::parse(line);
            (row["status"] == "done" ? outcome.done : outcome.failed)++;
        }
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const Failure& failure) {
            outcome.failure = failure;
        } catch (const std::bad_alloc&) {
            outcome.out_of_memory = true;
        }
        return outcome;
    }
    static void begin() { arm(after_, count_); }

    fs::path directory_;
    std::vector<std::string> names_;

private:
    static inline long after_ = 0, count_ = 0;
};

// Fails `count` allocations after each number of others, as long as any fails.
void for_each_failure(long count, const std::function<Outcome(long after)>& run) {
    long after = 0;
    for (;; ++after) {
        SCOPED_TRACE(std::to_string(count) + " allocations fail after " + std::to_string(after));
        const Outcome outcome = run(after);
        if (!outcome.failed_allocation) break;
        if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(after, 10) << "few allocations failed";
}

TEST_F(ManyFiles, OneFileFailsForWantOfMemory) {
    for (const long count : {1, 2, 3, 8, 40}) {
        for_each_failure(count, [&](long after) {
            size_t worked = 0;
            ManyTask task{FileTask::verify, {}, {}, {}};
            task.file.age = true;  // needs no engine
            task.file.engine.threads = 1;
            task.many.inputs = names_;
            task.many.keep_going = task.many.json = true;
            task.begin = [](const std::vector<std::string>&) { begin(); };
            task.one = [&](const FileChoice& file, int, const OutputChoice&, Session&) {
                const std::string copy = file.input + " and more";
                worked += copy.size() > 9;
            };
            Session session;
            session.quiet = true;
            const Outcome outcome = outcome_of(after, count, [&] { run_many(task, session); });
            const size_t lines = outcome.done + outcome.failed;
            if (!outcome.failed_allocation) {
                EXPECT_EQ(outcome.done, file_count);
                EXPECT_FALSE(outcome.failure);
                return outcome;
            }
            if (outcome.out_of_memory) {  // in the summary, after all files
                EXPECT_TRUE(lines == file_count || says_less(outcome)) << outcome.errors;
                return outcome;
            }
            if (outcome.failure && outcome.failure->code == ExitCode::error) {
                EXPECT_LT(lines, file_count);
                EXPECT_TRUE(says_less(outcome)) << outcome.errors;
                return outcome;
            }
            EXPECT_EQ(lines, file_count) << outcome.errors;
            EXPECT_EQ(outcome.failure.has_value(), outcome.failed != 0);
            if (outcome.failure) {
                EXPECT_EQ(outcome.failure->code, ExitCode::some_failed);
                EXPECT_NE(outcome.errors.find("out of memory for '"), std::string::npos);
            }
            if (count == 1) {
                EXPECT_LE(outcome.failed, 1u);
                EXPECT_GE(worked, file_count - 1);
            }
            return outcome;
        });
    }
}

TEST_F(ManyFiles, WithoutKeepGoingTheRunEndsWithAMessage) {
    for_each_failure(1, [&](long after) {
        ManyTask task{FileTask::verify, {}, {}, {}};
        task.file.age = true;
        task.file.engine.threads = 1;
        task.many.inputs = names_;
        task.begin = [](const std::vector<std::string>&) { begin(); };
        task.one = [](const FileChoice& file, int, const OutputChoice&, Session&) {
            (void)std::string(file.input + " and more");
        };
        Session session;
        session.quiet = true;
        const Outcome outcome = outcome_of(after, 1, [&] { run_many(task, session); });
        if (outcome.failure) {
            EXPECT_EQ(outcome.failure->code, ExitCode::error) << outcome.failure->what();
            EXPECT_NE(std::string(outcome.failure->what()).find("out of memory"),
                      std::string::npos);
        }
        EXPECT_EQ(outcome.failed_allocation, outcome.failure.has_value() || outcome.out_of_memory);
        return outcome;
    });
}

TEST_F(ManyFiles, OneFileOfKeyFails) {
    std::vector<KeyFile> files;
    for (const std::string& name : names_) files.push_back({name});
    ManyChoice choice;
    choice.keep_going = choice.json = true;
    size_t worked = 0;
    const auto run = [&] {
        for_each_key_file(files, choice, true,
                          [&](const std::string& path, nlohmann::ordered_json& line) {
                              if (path == names_[1]) begin();
                              const std::string copy = path + " and more";
                              disarm(1);
                              line["slots"] = copy.size();
                              ++worked;
                          });
    };
    const Outcome outcome = outcome_of(0, 1, run);
    EXPECT_EQ(worked, file_count - 1);
    EXPECT_EQ(outcome.done, file_count - 1);
    EXPECT_EQ(outcome.failed, 1u);
    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(outcome.failure->code, ExitCode::some_failed);
    EXPECT_NE(outcome.errors.find("out of memory for '" + names_[1] + "'"), std::string::npos);
}

}  // namespace
