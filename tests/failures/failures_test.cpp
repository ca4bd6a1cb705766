// Memory, pages, threads and random bytes may be refused at any moment, and a GPU may fail at any
// step. Every call returns a documented status, and the next one works.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "handles.h"
#include "runner.h"
#include "support/public_functions.h"

namespace {

using injection::Fault;
using runner::Named;
using runner::Outcome;

const std::vector<Fault> requests = {Fault::request, Fault::requests};
const std::vector<Fault> gpu_steps = {Fault::gpu_memory, Fault::gpu_launch, Fault::gpu_lost};

const Named all[] = {
    {"self_test", works::self_test, requests},
    {"messages", works::messages, requests},
    {"batches", works::batches, requests},
    {"catalogue", works::catalogue, requests},
    {"host_memory", works::host_memory, requests},
    {"drbg", works::drbg, requests},
    {"files", works::files, requests},
    {"reader", works::reader, requests},
    {"updates", works::updates, requests},
    {"kem_one", works::kem_one, requests},
    {"kem_many", works::kem_many, requests},
    {"kem_shared_key", works::kem_shared_key, requests},
    {"kem_keys", works::kem_keys, requests},
    {"pool", works::pool, requests},
    {"batcher", works::batcher, requests},
    {"gpu_messages", works::messages, gpu_steps},
    {"gpu_batches", works::batches, gpu_steps},
    {"gpu_files", works::files, gpu_steps},
    {"gpu_reader", works::reader, gpu_steps},
    {"gpu_host_memory", works::host_memory, gpu_steps},
    {"gpu_drbg", works::drbg, gpu_steps},
    {"gpu_kem", works::kem_one, gpu_steps},
    {"gpu_kem_keys", works::kem_keys, gpu_steps},
    {"gpu_pool", works::pool, gpu_steps},
    {"gpu_batcher", works::batcher, gpu_steps},
    {"device_memory", works::device_memory, gpu_steps},
    {"device_batches", works::device_batches, gpu_steps},
    {"device_openings", works::device_openings, {Fault::gpu_memory}},
    {"device_kem", works::device_kem, gpu_steps},
    {"device_files", works::device_files, gpu_steps},
};

// Functions in which no request and no step of a GPU is made, and the reason.
const std::map<std::string, const char*> cannot_fail = {
    {"warpseal_status_text", "a constant"},
    {"warpseal_version", "a constant"},
    {"warpseal_mode_name", "a constant"},
    {"warpseal_cipher_at", "a table"},
    {"warpseal_target_at", "a table"},
    {"warpseal_kem_at", "a table"},
    {"warpseal_wipe", "writes memory"},
    {"warpseal_engine_destroy", "frees"},
    {"warpseal_key_destroy", "frees"},
    {"warpseal_host_free", "frees"},
    {"warpseal_device_free", "frees"},
    {"warpseal_drbg_destroy", "frees"},
    {"warpseal_kem_key_destroy", "frees"},
    {"warpseal_kem_pool_destroy", "frees"},
    {"warpseal_kem_batcher_counts_read", "copies counts"},
    {"warpseal_reader_size", "a number"},
    {"warpseal_reader_close", "frees"},
    {"warpseal_cobblestone_destroy", "frees"},
    {"warpseal_cobblestone_update_bytes", "a number"},
    {"warpseal_cobblestone_finish_bytes", "a number"},
    {"warpseal_last_error_message", "a text"},
};

// Prepares the works on the cores, whose paths a GPU falls back to, then on the GPU.
void prepare(bool on_gpu) {
    static const char* prepared = nullptr;
    constexpr size_t bytes_on_gpu = 65536;
    works::device = "cpu";
    works::text_bytes = on_gpu ? bytes_on_gpu : works::most_bytes;
    if (prepared == nullptr) works::prepare();
    if (on_gpu) {
        injection::use_fake_gpu();
        works::device = "cuda";
    }
    if (prepared != works::device) works::prepare();
    prepared = works::device;
}

// The outcome of a work, which is computed once.
const Outcome& outcome_of(const Named& named) {
    static std::map<std::string, Outcome> known;
    const auto found = known.find(named.name);
    if (found != known.end()) return found->second;
    prepare(injection::is_of_gpu(named.faults[0]));
    // Self-tests of further paths; `self_test` makes its own in each run.
    if (named.work != works::self_test && named.work() != WARPSEAL_OK)
        works::complain(named.name, "fails without a fault");
    return known[named.name] = runner::run(named);
}

class Failures : public testing::TestWithParam<Named> {};

TEST_P(Failures, EveryOneEndsInAStatus) {
    const Outcome& outcome = outcome_of(GetParam());
    for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
    long statuses = 0;
    for (const auto& [name, points] : outcome.functions) statuses += points.statuses;
    EXPECT_GT(outcome.runs, 8) << "nothing fails";
    if (!injection::is_of_gpu(GetParam().faults[0])) {
        EXPECT_GT(statuses, 0);
    }
    std::printf("%s: %ld runs, %ld of them ended in a status\n", GetParam().name, outcome.runs,
                statuses);
}

INSTANTIATE_TEST_SUITE_P(Works, Failures, testing::ValuesIn(all),
                         [](const auto& info) { return std::string(info.param.name); });

// Fails until every new function of the headers has its failures here.
TEST(FailurePoints, EveryFunctionHasThem) {
    std::map<std::string, runner::Points> functions;
    for (const Named& named : all)
        for (const auto& [name, points] : outcome_of(named).functions) {
            functions[name].points += points.points;
            functions[name].statuses += points.statuses;
        }
    const std::set<std::string> declared = tests::public_functions();
    EXPECT_GT(declared.size(), 60u);
    runner::Points sum;
    std::printf("%-42s %8s %8s\n", "function", "faults", "statuses");
    for (const std::string& name : declared) {
        const runner::Points points = functions[name];
        const bool excused = cannot_fail.contains(name);
        // The batcher's threads make requests of their own while it copies counts.
        const bool alone = name != "warpseal_kem_batcher_counts_read";
        std::printf("%-42s %8ld %8ld%s%s\n", name.c_str(), points.points, points.statuses,
                    excused ? "  none: " : "", excused ? cannot_fail.at(name) : "");
        EXPECT_TRUE((points.points == 0) == excused || !alone)
            << name
            << (excused ? " can fail: remove it from the list" : " has no injected fault here");
        sum.points += points.points, sum.statuses += points.statuses;
    }
    std::printf("%-42s %8ld %8ld\n", "sum", sum.points, sum.statuses);
    for (const auto& [name, reason] : cannot_fail)
        EXPECT_TRUE(declared.contains(name)) << name << " is not declared";
}

}  // namespace
