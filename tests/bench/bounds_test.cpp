// Bounds of a GPU's figures, against hand calculations from its clocks and the ciphers' operations.
#include "bench/bulk/bounds.h"

#include <gtest/gtest.h>

#include <utility>

#include "warpseal/warpseal.h"

namespace {

using Json = nlohmann::ordered_json;
using warpseal::bench::add_bound;

constexpr double gigahertz = 1.98, multiprocessors = 132;
// Per second: shared memory has 32 banks, logic has 64 lanes.
constexpr double lookups = multiprocessors * gigahertz * 32,
                 operations = multiprocessors * gigahertz * 64;

Json head() {
    return {{"gpu_multiprocessors", 132},
            {"gpu_clock_megahertz", 1980},
            {"gpu_memory_bytes_per_second", uint64_t{4917} * 1000 * 1000 * 1000}};
}

Json row(const char* cipher, const char* mode, const char* operation = "encrypt") {
    return {{"cipher", cipher},
            {"mode", mode},
            {"operation", operation},
            {"device", "cuda"},
            {"place", "device"}};
}

double bound_of(const Json& head, Json row) {
    add_bound(head, row);
    return row.contains("bound") ? row.at("bound_gigabytes_per_second").get<double>() : 0;
}

struct Documented {
    const char *cipher, *mode;
    double gigabytes_per_second;
};

TEST(Bounds, AreAsDocumented) {
    for (const Documented& one : {Documented{"aes-128", "ctr", lookups / 112 * 16},
                                  {"aes-256", "ecb", lookups / 208 * 16},
                                  {"aria-128", "ctr", lookups / 162 * 16},
                                  {"camellia-128", "ctr", lookups / 124 * 16},
                                  {"des", "ecb", operations / ((3392.0 + 640) / 32) * 8},
                                  {"des", "ctr", operations / ((3392.0 + 320) / 32) * 8},
                                  {"des-ede3", "cbc", lookups / 384 * 8},
                                  {"aes-128", "ccm", lookups / (160 + 112) * 16}})
        EXPECT_NEAR(bound_of(head(), row(one.cipher, one.mode)), one.gigabytes_per_second,
                    1e-3 * one.gigabytes_per_second)
            << one.cipher << "-" << one.mode;
}

TEST(Bounds, MemoryBoundsWhatPassesThroughIt) {
    Json slow = head();
    slow["gpu_memory_bytes_per_second"] = uint64_t{100} * 1000 * 1000 * 1000;
    Json encrypted = row("aes-128", "ctr"), tagged = row("aes-128", "cmac", "mac");
    add_bound(slow, encrypted);
    add_bound(slow, tagged);
    EXPECT_EQ(encrypted["bound_gigabytes_per_second"], 50.0);
    EXPECT_EQ(encrypted["bound"], "memory, read and written once");
    EXPECT_EQ(tagged["bound_gigabytes_per_second"], 100.0) << "a MAC writes nothing";
    EXPECT_EQ(tagged["bound"], "memory, read once");
}

TEST(Bounds, CcmComputesACipherWithoutTablesTwice) {
    Json fast = head();
    fast["gpu_memory_bytes_per_second"] = uint64_t{1000} * 1000 * 1000 * 1000 * 1000;
    const double once = bound_of(fast, row("lea-128", "ecb")),
                 twice = bound_of(fast, row("lea-128", "ccm"));
    EXPECT_GT(once, 0);
    EXPECT_NEAR(once, 2 * twice, 1e-3 * once);
}

TEST(Bounds, CopiesBoundWhatCrossesTheLink) {
    Json host = row("aes-128", "ctr");
    host["place"] = "host";
    host["link_gigabytes_per_second"] = 50.5;
    add_bound(head(), host);
    EXPECT_EQ(host["bound_gigabytes_per_second"], 50.5);
    EXPECT_EQ(host["bound"].get<std::string>().rfind("plain copies", 0), 0u);
}

TEST(Bounds, GrowWithTheNumberOfGpusButTheLinkIsMeasured) {
    Json lookups_of_two = row("aes-128", "ctr"), memory_of_two = row("aes-128", "ctr");
    lookups_of_two["gpus"] = memory_of_two["gpus"] = 2;
    EXPECT_NEAR(bound_of(head(), lookups_of_two), 2 * lookups / 112 * 16, 2);
    Json slow = head();
    slow["gpu_memory_bytes_per_second"] = uint64_t{100} * 1000 * 1000 * 1000;
    EXPECT_EQ(bound_of(slow, memory_of_two), 100.0) << "each GPU reads and writes its shard";
    Json host = row("aes-128", "ctr");
    host["gpus"] = 2;
    host["place"] = "host";
    host["link_gigabytes_per_second"] = 50.5;
    EXPECT_EQ(bound_of(head(), host), 50.5) << "the copies were those of the whole job";
}

// A new cipher is covered too: its operations are counted from its header.
TEST(Bounds, EachCipherHasOne) {
    size_t ciphers = 0;
    warpseal_cipher_info cipher{};
    for (; warpseal_cipher_at(ciphers, &cipher) == WARPSEAL_OK; ++ciphers) {
        Json counted = row(cipher.name, "ecb");
        add_bound(head(), counted);
        ASSERT_TRUE(counted.contains("bound")) << cipher.name;
        EXPECT_NE(counted["bound"].get<std::string>().find(" a block, "), std::string::npos)
            << cipher.name << ": " << counted["bound"];
    }
    EXPECT_GT(ciphers, 10u);
}

TEST(Bounds, NeedAGpuAndItsClocks) {
    EXPECT_EQ(bound_of(Json::object(), row("aes-128", "ctr")), 0);
    Json cores = row("aes-128", "ctr");
    cores["device"] = "vaes512";
    EXPECT_EQ(bound_of(head(), cores), 0);
    EXPECT_EQ(bound_of(head(), row("rot-13", "ctr")), 0) << "an unknown cipher";
}

}  // namespace
