// Secrets that a generator leaves in memory: entropy, and the seeds and keys of leaves.
#include <sys/wait.h>
#include <unistd.h>

#include "generator.h"
#include "support/residue.h"

namespace {

using tests::filled;
using tests::source;
using tests::Source;
using tests::Text;

constexpr size_t fill_bytes = 150000, leaves = 3, key_bytes = 32;

class GeneratorResidue : public tests::DrbgTest {};

// Returns the masked seeds and keys of a generator's first leaves. A child computes them, because
// the reference leaves copies of its own.
residue::Patterns secrets_of_leaves() {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        Text blocks(tests::seed_bytes);
        for (size_t i = 0; i < 3; ++i) blocks[16 * i + 15] = static_cast<uint8_t>(i + 1);
        const Text mask =
            oracle::run("aes-256-ecb", true, Text(key_bytes), {}, {}, blocks, nullptr);
        const Text seeds = tests::Drbg(tests::fixed_entropy()).generate(leaves * mask.size());
        Text out;
        for (const bool instantiated : {false, true})
            for (size_t at = 0; at < seeds.size(); at += mask.size())
                for (size_t i = 0; i < key_bytes; ++i)
                    out.push_back(static_cast<uint8_t>(seeds[at + i] ^ residue::mask ^
                                                       (instantiated ? mask[i] : 0)));
        _exit(write(ends[1], out.data(), out.size()) == static_cast<ssize_t>(out.size()) ? 0 : 1);
    }
    residue::Patterns patterns(2 * leaves, Text(key_bytes));
    for (Text& pattern : patterns)
        if (read(ends[0], pattern.data(), key_bytes) != static_cast<ssize_t>(key_bytes))
            patterns.clear();
    close(ends[0]);
    close(ends[1]);
    waitpid(child, nullptr, 0);
    return patterns;
}

TEST_F(GeneratorResidue, OfAFill) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
#endif
    residue::Patterns patterns = secrets_of_leaves();
    ASSERT_EQ(patterns.size(), 2 * leaves);
    Text entropy(tests::seed_bytes);
    for (size_t i = 0; i < entropy.size(); ++i)
        entropy[i] = static_cast<uint8_t>(tests::fixed_byte(i) ^ residue::mask);
    patterns.push_back(entropy);
    for (const unsigned threads : {1u, 3u}) {
        const auto engine = targets::engine("cpu", threads, targets::unexpected);
        source = Source::fixed;
        const tests::DrbgHandle drbg = tests::drbg_on(engine);
        (void)filled(drbg, fill_bytes);
        EXPECT_EQ(residue::occurrences(patterns), 0u) << threads << " threads";
    }
    Text found = patterns[leaves];
    for (uint8_t& byte : found) byte = static_cast<uint8_t>(byte ^ residue::mask);
    EXPECT_GE(residue::occurrences(patterns), 1u) << "the search itself is blind";
}

}  // namespace
