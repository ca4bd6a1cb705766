// The tests of SP 800-22 Rev. 1a (2.1 to 2.3), the poker test and autocorrelations, and a search
// for blocks that occur twice.
#include "statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace tests {
namespace {

using Bytes = std::span<const uint8_t>;

// Two-sided, of a standard normal deviate.
double p_of_deviate(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

// Two-sided, of chi-square by the approximation of Wilson and Hilferty. A stream that is too even
// fails as well as one that is too uneven.
double p_of_chi_square(double chi_square, double freedom) {
    const double variance = 2 / (9 * freedom);
    return p_of_deviate((std::cbrt(chi_square / freedom) - (1 - variance)) / std::sqrt(variance));
}

uint64_t word_at(Bytes bytes, size_t at) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
}

uint64_t ones_in(Bytes bytes) {
    uint64_t ones = 0;
    for (size_t at = 0; at < bytes.size(); at += 8)
        ones += static_cast<uint64_t>(std::popcount(word_at(bytes, at)));
    return ones;
}

// SP 800-22 2.1.
double monobit(Bytes bytes) {
    const double n = 8.0 * static_cast<double>(bytes.size());
    return p_of_deviate((2 * static_cast<double>(ones_in(bytes)) - n) / std::sqrt(n));
}

// SP 800-22 2.2, with blocks of that many bytes.
double block_frequency(Bytes bytes, size_t block_bytes) {
    const double m = 8.0 * static_cast<double>(block_bytes);
    double sum = 0;
    for (size_t at = 0; at < bytes.size(); at += block_bytes) {
        const double share = static_cast<double>(ones_in(bytes.subspan(at, block_bytes))) / m;
        sum += (share - 0.5) * (share - 0.5);
    }
    return p_of_chi_square(4 * m * sum, static_cast<double>(bytes.size() / block_bytes));
}

// SP 800-22 2.3. Bits of a byte are taken from the lowest.
double runs(Bytes bytes) {
    uint64_t changes = 0, last = word_at(bytes, 0) & 1;
    for (size_t at = 0; at < bytes.size(); at += 8) {
        const uint64_t word = word_at(bytes, at);
        changes += static_cast<uint64_t>(std::popcount(word ^ (word << 1 | last)));
        last = word >> 63;
    }
    const double n = 8.0 * static_cast<double>(bytes.size()),
                 share = static_cast<double>(ones_in(bytes)) / n, product = share * (1 - share);
    return p_of_deviate((static_cast<double>(changes) + 1 - 2 * n * product) /
                        (2 * std::sqrt(n) * product));
}

// Chi-square of the values of bytes.
double poker(Bytes bytes) {
    std::array<uint64_t, 256> counts{};
    for (const uint8_t byte : bytes) ++counts[byte];
    const double expected = static_cast<double>(bytes.size()) / 256;
    double sum = 0;
    for (const uint64_t count : counts) {
        const double off = static_cast<double>(count) - expected;
        sum += off * off / expected;
    }
    return p_of_chi_square(sum, 255);
}

// Chi-square of pairs of bytes that follow each other.
double serial(Bytes bytes) {
    std::vector<uint32_t> counts(65536);
    for (size_t at = 0; at < bytes.size(); at += 2)
        ++counts[static_cast<size_t>(bytes[at]) << 8 | bytes[at + 1]];
    const double expected = static_cast<double>(bytes.size()) / 2 / 65536;
    double sum = 0;
    for (const uint32_t count : counts) {
        const double off = static_cast<double>(count) - expected;
        sum += off * off / expected;
    }
    return p_of_chi_square(sum, 65535);
}

// Bits that differ from those `lag` bytes later.
double autocorrelation(Bytes bytes, size_t lag) {
    uint64_t differ = 0;
    size_t at = 0;
    for (; at + lag + 8 <= bytes.size(); at += 8)
        differ +=
            static_cast<uint64_t>(std::popcount(word_at(bytes, at) ^ word_at(bytes, at + lag)));
    const double n = 8.0 * static_cast<double>(at);
    return p_of_deviate((2 * static_cast<double>(differ) - n) / std::sqrt(n));
}

// Probability of as many equal 16-byte blocks as there are: about pairs / 2^128.
double repeated_blocks(Bytes bytes) {
    struct Block {
        uint64_t word[2];
        auto operator<=>(const Block&) const = default;
    };
    std::vector<Block> blocks(bytes.size() / sizeof(Block));
    std::memcpy(blocks.data(), bytes.data(), blocks.size() * sizeof(Block));
    std::sort(blocks.begin(), blocks.end());
    const double count = static_cast<double>(blocks.size());
    return std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end()
               ? 1
               : count * count / std::pow(2.0, 129);
}

constexpr size_t segment = 65536;

struct Test {
    std::string_view name;
    double (*p)(Bytes bytes);
};

constexpr Test all_tests[] = {
    {"monobit", monobit},
    {"block-frequency-128", [](Bytes bytes) { return block_frequency(bytes, 128); }},
    {"block-frequency-65536", [](Bytes bytes) { return block_frequency(bytes, segment); }},
    {"runs", runs},
    {"poker", poker},
    {"serial", serial},
    {"repeated-blocks", repeated_blocks},
    {"autocorrelation-1", [](Bytes bytes) { return autocorrelation(bytes, 1); }},
    {"autocorrelation-2", [](Bytes bytes) { return autocorrelation(bytes, 2); }},
    {"autocorrelation-4", [](Bytes bytes) { return autocorrelation(bytes, 4); }},
    {"autocorrelation-8", [](Bytes bytes) { return autocorrelation(bytes, 8); }},
    {"autocorrelation-16", [](Bytes bytes) { return autocorrelation(bytes, 16); }},
    {"autocorrelation-48", [](Bytes bytes) { return autocorrelation(bytes, 48); }},
    {"autocorrelation-512", [](Bytes bytes) { return autocorrelation(bytes, 512); }},
    {"autocorrelation-65536", [](Bytes bytes) { return autocorrelation(bytes, segment); }},
};

void require_segments(Bytes bytes) {
    if (bytes.size() < 2 * segment || bytes.size() % segment != 0)
        throw std::invalid_argument("not whole segments");
}

}  // namespace

double statistic(std::string_view test, Bytes bytes) {
    require_segments(bytes);
    for (const Test& one : all_tests)
        if (one.name == test) return one.p(bytes);
    throw std::invalid_argument("no test has this name");
}

std::string failed(Bytes bytes) {
    require_segments(bytes);
    std::string names;
    for (const Test& one : all_tests)
        if (!(one.p(bytes) >= least_p)) names += std::string(one.name) + " ";
    return names;
}

}  // namespace tests
