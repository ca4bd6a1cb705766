// Allowed positions of a KEM batch's arrays, to the byte. No address here is of real memory, as
// nothing is read.
#include "engine/kem/check.h"

#include <gtest/gtest.h>

namespace {

using warpseal::check_kem;
using warpseal::KemOperation;

using Batch = warpseal_kem_batch;

// An array of the batch.
struct Field {
    const char* name;
    uint8_t* Batch::*at;
    uint64_t Batch::*stride;
    size_t bytes;
    bool written;
};

std::vector<Field> fields_of(const warpseal::KemSet& set, KemOperation operation) {
    const bool keypair = operation == KemOperation::keypair,
               decapsulate = operation == KemOperation::decapsulate;
    std::vector<Field> fields;
    if (!decapsulate)
        fields.push_back({"public keys", &Batch::public_keys, &Batch::public_key_stride,
                          set.public_key_bytes(), keypair});
    if (keypair || decapsulate)
        fields.push_back({"secret keys", &Batch::secret_keys, &Batch::secret_key_stride,
                          set.secret_key_bytes(), keypair});
    if (keypair) return fields;
    fields.push_back({"ciphertexts", &Batch::ciphertexts, &Batch::ciphertext_stride,
                      set.ciphertext_bytes(), !decapsulate});
    fields.push_back(
        {"shared secrets", &Batch::shared_secrets, &Batch::shared_secret_stride, 32, true});
    return fields;
}

uint8_t* address(size_t at) { return reinterpret_cast<uint8_t*>(at); }

constexpr size_t apart = size_t{1} << 30, first = size_t{1} << 20;

class KemCheck : public testing::TestWithParam<std::tuple<KemOperation, uint64_t>> {
protected:
    KemOperation operation() const { return std::get<0>(GetParam()); }
    uint64_t count() const { return std::get<1>(GetParam()); }

    // Returns a batch with all arrays far apart and contiguous items.
    Batch batch() const {
        Batch batch{};
        batch.struct_bytes = sizeof batch;
        batch.count = count();
        size_t at = first;
        for (const Field& field : fields()) {
            batch.*field.at = address(at);
            batch.*field.stride = field.bytes;
            at += apart;
        }
        return batch;
    }
    std::vector<Field> fields() const { return fields_of(set_, operation()); }
    warpseal_status check(const Batch& batch) const { return check_kem(set_, operation(), batch); }

    // Calls `work` for each pair of arrays of which one is written.
    template <class Work>
    void each_pair(const Work& work) const {
        const std::vector<Field> all = fields();
        for (size_t i = 0; i < all.size(); ++i)
            for (size_t j = 0; j < all.size(); ++j)
                if (i != j && (all[i].written || all[j].written)) work(all[i], all[j]);
    }

    const warpseal::KemSet& set_ = warpseal::kem_sets[0];
};

// One array right behind another, and a byte less.
TEST_P(KemCheck, ArraysMayTouchAndNotOverlapByAByte) {
    ASSERT_EQ(check(batch()), WARPSEAL_OK);
    each_pair([&](const Field& low, const Field& high) {
        for (const uint64_t more : {0, 1, 64}) {  // added to the strides of one array or of both
            Batch some = batch();
            some.*low.stride += more;
            some.*high.stride += more / 2;
            const uint64_t extent = (count() - 1) * (some.*low.stride) + low.bytes;
            some.*low.at = address(first + 3 * apart);
            some.*high.at = address(first + 3 * apart + extent);
            EXPECT_EQ(check(some), WARPSEAL_OK)
                << low.name << ", then " << high.name << ", " << more;
            some.*high.at -= 1;
            EXPECT_EQ(check(some), WARPSEAL_INVALID_ARGUMENT)
                << low.name << ", then " << high.name << ", " << more;
        }
    });
}

// Fields of records: adjacent, and a byte nearer on each side.
TEST_P(KemCheck, FieldsMayTouchAndNotOverlapByAByte) {
    each_pair([&](const Field& low, const Field& high) {
        Batch some = batch();
        some.*low.stride = some.*high.stride = low.bytes + high.bytes;
        some.*low.at = address(first + 3 * apart);
        some.*high.at = some.*low.at + low.bytes;
        EXPECT_EQ(check(some), WARPSEAL_OK) << low.name << ", " << high.name;
        some.*high.at -= 1;
        EXPECT_EQ(check(some), WARPSEAL_INVALID_ARGUMENT)
            << "into the field before: " << low.name << ", " << high.name;
        if (count() == 1) return;  // one record has no next
        some.*high.at += 2;
        EXPECT_EQ(check(some), WARPSEAL_INVALID_ARGUMENT)
            << "into the next record: " << low.name << ", " << high.name;
        some.*low.stride = some.*high.stride += 1;
        EXPECT_EQ(check(some), WARPSEAL_OK) << low.name << ", " << high.name;
    });
}

INSTANTIATE_TEST_SUITE_P(Operations, KemCheck,
                         testing::Combine(testing::Values(KemOperation::keypair,
                                                          KemOperation::encapsulate,
                                                          KemOperation::decapsulate),
                                          testing::Values(1, 2, 5)));

}  // namespace
