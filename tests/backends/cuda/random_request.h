// A request for random bytes in device memory, and its output by libcrypto.
#pragma once

#include "gpu.h"

namespace gpu {

class RandomRequest {
public:
    explicit RandomRequest(tests::Random& random)
        : root_("aes-256", random), counter_(random.counter(5000)) {
        Text blocks(warpseal::drbg::seed_bytes);
        for (size_t i = 0; i < 3; ++i) blocks[16 * i + 15] = static_cast<uint8_t>(i + 1);
        mask_ = oracle::run("aes-256-ecb", true, Text(32), {}, {}, blocks, nullptr);
    }
    warpseal_status fill(uint8_t* out, size_t bytes, void* stream) {
        warpseal::DrbgRequest request{&root_.cipher, root_.state(), {}, {}};
        std::copy(counter_.begin(), counter_.end(), request.counter);
        std::copy(mask_.begin(), mask_.end(), request.instantiation);
        return backend().drbg_device(device, request, out, bytes, stream);
    }
    Text right(size_t bytes) const {
        Text out;
        if (bytes == 0) return out;
        const Text seeds =
            keystream(root_.bytes, counter_, warpseal::drbg::leaves_for(bytes) * mask_.size());
        for (size_t at = 0; at < seeds.size(); at += mask_.size()) {
            Text seed(mask_.size());
            for (size_t i = 0; i < seed.size(); ++i)
                seed[i] = static_cast<uint8_t>(seeds[at + i] ^ mask_[i]);
            Text counter(seed.begin() + 32, seed.end());
            for (size_t i = counter.size(); i-- > 0 && ++counter[i] == 0;) {
            }
            const Text some =
                keystream(Text(seed.begin(), seed.begin() + 32), counter,
                          std::min(bytes - out.size(), warpseal::drbg::max_request_bytes));
            out.insert(out.end(), some.begin(), some.end());
        }
        return out;
    }

private:
    static Text keystream(const Text& key, const Text& counter, size_t bytes) {
        return oracle::run("aes-256-ctr", true, key, counter, {}, Text(bytes), nullptr);
    }
    Key root_;
    const Text counter_;
    Text mask_;
};

}  // namespace gpu
