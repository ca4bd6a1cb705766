// AES-256-CTR-DRBG without derivation function (SP 800-90A 10.2.1), by libcrypto, as in the answer
// files of NIST's post-quantum project.
#pragma once

#include "support/oracle.h"

namespace tests {

class Drbg {
public:
    explicit Drbg(const oracle::Text& seed) : key_(32, 0), v_(16, 0) { update(seed); }
    // entropy: with the additional input XORed in.
    void reseed(const oracle::Text& entropy) { update(entropy); }

    oracle::Text generate(size_t bytes) {
        oracle::Text out = blocks((bytes + 15) / 16);
        out.resize(bytes);
        update(oracle::Text(48, 0));
        return out;
    }

private:
    oracle::Text blocks(size_t count) {
        oracle::Text counters;
        for (size_t i = 0; i < count; ++i) {
            for (size_t byte = 16; byte-- > 0 && ++v_[byte] == 0;) {
            }
            counters.insert(counters.end(), v_.begin(), v_.end());
        }
        return oracle::run("aes-256-ecb", true, key_, {}, {}, counters, nullptr);
    }
    void update(const oracle::Text& data) {
        oracle::Text next = blocks(3);
        for (size_t i = 0; i < next.size(); ++i) next[i] ^= data[i];
        key_.assign(next.begin(), next.begin() + 32);
        v_.assign(next.begin() + 32, next.end());
    }

    oracle::Text key_, v_;
};

}  // namespace tests
