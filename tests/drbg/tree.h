// The construction of docs/random.md in plain code over libcrypto: a root instance, and a leaf for
// each 64 KiB.
#pragma once

#include <algorithm>

#include "support/drbg.h"
#include "support/random_source.h"

namespace tests {

using oracle::Text;

constexpr size_t seed_bytes = 48, request_bytes = 65536, leaves_of_a_request = 1365;

// The entropy that Source::fixed gives, XOR a personalization string or additional input.
inline Text fixed_entropy(const Text& input = {}) {
    Text seed(seed_bytes);
    for (size_t i = 0; i < seed.size(); ++i)
        seed[i] = static_cast<uint8_t>(fixed_byte(i) ^ (i < input.size() ? input[i] : 0));
    return seed;
}

class Tree {
public:
    explicit Tree(const Text& seed = fixed_entropy()) : root_(seed) {}
    void reseed(const Text& entropy) { root_.reseed(entropy); }

    // reseeded: prediction resistance.
    Text fill(size_t bytes, bool reseeded = false) {
        Text out;
        while (out.size() < bytes) {
            if (reseeded) root_.reseed(fixed_entropy());
            const size_t left = bytes - out.size(),
                         leaves = std::min((left - 1) / request_bytes + 1, leaves_of_a_request);
            const Text seeds = root_.generate(leaves * seed_bytes);
            for (size_t i = 0; i < leaves; ++i) {
                const auto seed = seeds.begin() + static_cast<ptrdiff_t>(i * seed_bytes);
                Drbg leaf(Text(seed, seed + seed_bytes));
                const Text some = leaf.generate(std::min(bytes - out.size(), request_bytes));
                out.insert(out.end(), some.begin(), some.end());
            }
        }
        return out;
    }

private:
    Drbg root_;
};

}  // namespace tests
