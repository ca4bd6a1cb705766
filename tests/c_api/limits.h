// A key, buffers that refused calls must not change, and valid calls of which a test changes one
// argument.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "c_api/handles.h"
#include "c_api/internal.h"
#include "support/targets.h"

namespace tests {

using vectors::Text;

class Limits : public testing::Test {
protected:
    void SetUp() override {
        engine_ = targets::engine("auto", 1);
        key_ = targets::key(engine_, "aes-256", Text(32, 0x42));
        ASSERT_TRUE(key_);
    }
    warpseal_status seal(size_t iv_bytes, size_t tag_bytes, size_t bytes = 32) {
        return warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, iv_, iv_bytes, nullptr, 0, in_,
                                       out_, bytes, tag_, tag_bytes);
    }
    warpseal_status open(size_t iv_bytes, size_t tag_bytes, size_t bytes = 32) {
        return warpseal_open(key_.get(), WARPSEAL_GCM, iv_, iv_bytes, nullptr, 0, in_, out_, bytes,
                             tag_, tag_bytes);
    }
    warpseal_status encrypt(warpseal_mode mode, size_t iv_bytes, size_t bytes) {
        return warpseal_encrypt(key_.get(), mode, iv_, iv_bytes, in_, out_, bytes);
    }
    warpseal_batch batch() {
        warpseal_batch b{};
        b.struct_bytes = sizeof b;
        b.iv_bytes = 12;
        b.tag_bytes = 16;
        b.message_count = 2;
        b.message_bytes = 16;
        b.ivs = iv_;
        b.iv_stride = 12;
        b.in = in_;
        b.in_stride = 16;
        b.out = out_;
        b.out_stride = 16;
        b.tags = tag_;
        b.tag_stride = 16;
        b.statuses = statuses_;
        return b;
    }
    bool untouched() const {
        for (const uint8_t x : out_)
            if (x != 0xa5) return false;
        for (const uint8_t x : tag_)
            if (x != 0x5a) return false;
        return true;
    }
    void poison() {
        std::memset(out_, 0xa5, sizeof out_);
        std::memset(tag_, 0x5a, sizeof tag_);
    }
    Limits() { poison(); }

    targets::EngineHandle engine_;
    targets::KeyHandle key_;
    uint8_t iv_[128] = {1}, in_[64] = {}, out_[64], tag_[64];
    int32_t statuses_[4] = {-1, -1, -1, -1};
};

}  // namespace tests
