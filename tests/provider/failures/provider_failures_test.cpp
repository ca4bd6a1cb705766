// Memory, pages, threads and random bytes may be refused to the module at any moment. Each function
// of the provider fails as libcrypto expects, and the same work succeeds later.
#include <gtest/gtest.h>

#include <cstdio>

#include "failures/runner.h"
#include "interposed.h"
#include "provider_works.h"

namespace works {
uint8_t text[most_bytes];
size_t text_bytes = most_bytes;
const uint8_t secret[64] = {7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5, 2, 3, 5, 3, 6, 0, 2, 8, 7,
                            4, 7, 1, 3, 5, 2, 6, 6, 2, 4, 9, 7, 7, 5, 7, 2, 4, 7, 0, 9, 3, 6, 9, 9};
}  // namespace works

namespace {

using injection::Fault;
using runner::Named;
using runner::Outcome;

// Functions in which the module makes requests, and the fewest faults there.
using Fewest = std::map<std::string, long>;

struct Case {
    const char* name;
    works::Work work;
    const Fewest& fewest;
};

const Fewest of_ciphers = {
    {"provider_init", 40}, {"cipher_newctx", 2}, {"cipher_encrypt_init", 40}, {"cipher_dupctx", 4}};
const Fewest of_keys = {{"provider_init", 40},  {"keymgmt_gen_init", 2},   {"keymgmt_gen", 40},
                        {"keymgmt_new", 2},     {"keymgmt_import", 4},     {"keymgmt_validate", 8},
                        {"keymgmt_dup", 4},     {"keymgmt_set_params", 2}, {"kem_newctx", 2},
                        {"kem_encapsulate", 8}, {"kem_dupctx", 2},         {"kem_decapsulate", 4}};
const Fewest of_agreement = {
    {"provider_init", 40}, {"keymgmt_gen_init", 2}, {"keymgmt_gen", 40},  {"keymgmt_new", 2},
    {"keymgmt_import", 4}, {"keymgmt_validate", 8}, {"keymgmt_dup", 4},   {"keymgmt_set_params", 2},
    {"keyexch_newctx", 2}, {"keyexch_derive", 4},   {"keyexch_dupctx", 2}};
const Fewest of_encodings = {
    {"provider_init", 40}, {"keymgmt_gen", 40}, {"encoder_encode", 12}, {"decoder_decode", 8}};
const Fewest of_module = {{"provider_init", 40}, {"provider_get_params", 100}};

const Case all[] = {
    {"cipher_ctr", works::cipher_ctr, of_ciphers},
    {"cipher_cbc", works::cipher_cbc, of_ciphers},
    {"cipher_ecb", works::cipher_ecb, of_ciphers},
    {"cipher_xts", works::cipher_xts, of_ciphers},
    {"cipher_gcm", works::cipher_gcm, of_ciphers},
    {"cipher_ccm", works::cipher_ccm, of_ciphers},
    {"keys_ntru", works::keys_ntru, of_keys},
    {"keys_hybrid", works::keys_hybrid, of_keys},
    {"keys_mlkem", works::keys_mlkem, of_keys},
    {"keys_agreement", works::keys_agreement, of_agreement},
    {"module", works::module, of_module},
    {"encodings", works::encodings, of_encodings},
    {"encodings_hybrid", works::encodings_hybrid, of_encodings},
};

// libcrypto keeps the texts and the stack of errors from the first failure on. Each run has it
// behind itself: what a run holds more than without a failure is a leak.
void fail_once() {
    injection::begin(Fault::request, 0);
    EXPECT_NE(works::module(), WARPSEAL_OK);
    (void)injection::end();
    works::failed_function = nullptr;
}

Outcome reported(const Named& named) {
    Outcome outcome = runner::run(named);
    for (const std::string& complaint : outcome.complaints) ADD_FAILURE() << complaint;
    return outcome;
}

bool reaches(const Outcome& outcome, const Fewest& fewest) {
    for (const auto& [name, points] : fewest) {
        const auto found = outcome.functions.find(name);
        if (found == outcome.functions.end() || found->second.points < points) return false;
    }
    return true;
}

class ProviderFailures : public testing::TestWithParam<Case> {};

TEST_P(ProviderFailures, EveryOneEndsInAStatus) {
    const Named named{GetParam().name, GetParam().work, {Fault::request, Fault::requests}};
    // Loads the module, which stays in memory, and makes the self-tests.
    ASSERT_EQ(named.work(), WARPSEAL_OK) << "fails without a fault";
    ASSERT_TRUE(interposed::find_module());
    fail_once();
    Outcome outcome = reported(named);
    // Under load, a request more or less may come before a point, which then counts for the
    // function beside it. A point that does not exist is in none of three tries.
    for (int i = 0; i < 2 && !reaches(outcome, GetParam().fewest); ++i) outcome = reported(named);
    std::printf("%-28s %8s %8s\n", named.name, "faults", "statuses");
    runner::Points sum;
    for (const auto& [name, points] : outcome.functions) {
        std::printf("  %-26s %8ld %8ld\n", name.c_str(), points.points, points.statuses);
        sum.points += points.points, sum.statuses += points.statuses;
    }
    std::printf("  %-26s %8ld %8ld\n", "sum", sum.points, sum.statuses);
    for (const auto& [name, points] : GetParam().fewest) {
        const auto found = outcome.functions.find(name);
        EXPECT_GE(found == outcome.functions.end() ? 0 : found->second.points, points) << name;
    }
    EXPECT_GT(sum.statuses, 0);
}

INSTANTIATE_TEST_SUITE_P(Works, ProviderFailures, testing::ValuesIn(all),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
