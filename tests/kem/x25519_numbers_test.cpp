// Numbers of X25519's field around multiples of its modulus p = 2^255 - 19: each has one encoding.
#include <gtest/gtest.h>

#include "kem/x25519.h"

namespace {

using namespace warpseal::kem::x25519;

TEST(X25519Numbers, AreEncodedBelowTheModulus) {
    for (uint64_t multiple = 0; multiple <= 3; ++multiple)
        for (int64_t more = multiple == 0 ? 0 : -40; more <= 40; ++more) {
            Element<uint64_t> number;  // multiple * p + more
            for (uint64_t& limb : number.at) limb = multiple * limb_mask;
            number.at[0] += static_cast<uint64_t>(more) - 18 * multiple;
            const Bytes<uint64_t> got = encode(number);
            const uint64_t all = ~uint64_t{0}, rest = more < 0 ? all : 0;
            const Bytes<uint64_t> expected = {
                {(more < 0 ? all - 18 : 0) + static_cast<uint64_t>(more), rest, rest, rest >> 1}};
            for (int i = 0; i < 4; ++i)
                EXPECT_EQ(got.at[i], expected.at[i])
                    << multiple << " p + " << more << ", word " << i;
        }
}

}  // namespace
