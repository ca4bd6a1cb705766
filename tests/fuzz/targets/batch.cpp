// Batches with any strides, lengths, offsets and IV lengths: refused whole, or each message equals
// a call of its own, and no byte outside the outputs changes.
#include "container/readers.h"
#include "fuzz/target.h"

namespace {

using fuzz::claim;
using fuzz::Data;

constexpr size_t room = 4096;  // of the input, and of the output

// The batch's last byte of an input or output must lie in its memory, as the caller promises.
bool fits(const warpseal_batch& batch, const uint64_t* offsets, uint64_t stride) {
    for (uint64_t i = 0; i < batch.message_count; ++i) {
        const uint64_t at = offsets != nullptr ? offsets[i] : i * stride,
                       bytes = batch.lengths != nullptr ? batch.lengths[i] : batch.message_bytes;
        if (at > room || bytes > room - at) return false;
    }
    return true;
}

void run(const uint8_t* data, size_t bytes) {
    static constexpr warpseal_mode modes[] = {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_CFB,
                                              WARPSEAL_OFB};
    static warpseal_key* const key = [] {
        warpseal_key* made = nullptr;
        const Data secret(16, 3);
        claim(warpseal_key_create(tests::c_engine(), "aes-128", secret.data(), secret.size(),
                                  &made) == WARPSEAL_OK,
              "a key is made");
        return made;
    }();
    fuzz::Input input(data, bytes);
    const warpseal_mode mode = modes[input.below(4)];
    const bool encrypts = input.below(2) == 0;
    warpseal_batch batch{};
    batch.struct_bytes = input.below(16) == 15 ? static_cast<uint32_t>(input.number(1))
                                               : static_cast<uint32_t>(sizeof batch);
    batch.message_count = input.below(9);
    batch.message_bytes = input.number(2) % 700;
    batch.iv_bytes = input.below(8) == 7 ? static_cast<uint32_t>(input.number(1) % 33) : 16;
    batch.iv_stride = input.number(1) % 40;
    batch.in_stride = input.number(2) % 800;
    batch.out_stride = input.number(2) % 800;
    std::vector<uint64_t> lengths(8), in_offsets(8), out_offsets(8);
    const uint64_t given = input.number(1);
    for (size_t i = 0; i < 8; ++i) {
        lengths[i] = given & 1 ? input.number(2) % 700 : 0;
        in_offsets[i] = given & 2 ? input.number(2) % room : 0;
        out_offsets[i] = given & 4 ? input.number(2) % room : 0;
    }
    if (given & 1) batch.lengths = lengths.data();
    if (given & 2) batch.in_offsets = in_offsets.data();
    if (given & 4) batch.out_offsets = out_offsets.data();
    if (!fits(batch, batch.in_offsets, batch.in_stride) ||
        !fits(batch, batch.out_offsets, batch.out_stride))
        return;
    // With offsets the caller promises that outputs are apart.
    Data written(room);
    for (uint64_t i = 0; i < batch.message_count && batch.out_offsets != nullptr; ++i)
        for (uint64_t j = 0; j < (batch.lengths ? lengths[i] : batch.message_bytes); ++j)
            if (written[out_offsets[i] + j]++ != 0) return;
    const Data ivs = tests::Random(1).text(9 * 40), in = tests::Random(2).text(room);
    Data out(room, 0xa5), expected = out;
    batch.ivs = ivs.data();
    batch.in = in.data();
    batch.out = out.data();
    const warpseal_status status =
        (encrypts ? warpseal_encrypt_batch : warpseal_decrypt_batch)(key, mode, &batch);
    if (status == WARPSEAL_OK)
        for (uint64_t i = 0; i < batch.message_count; ++i) {
            const uint64_t from = batch.in_offsets ? in_offsets[i] : i * batch.in_stride,
                           to = batch.out_offsets ? out_offsets[i] : i * batch.out_stride;
            claim((encrypts ? warpseal_encrypt : warpseal_decrypt)(
                      key, mode, ivs.data() + i * batch.iv_stride, batch.iv_bytes, in.data() + from,
                      expected.data() + to,
                      batch.lengths ? lengths[i] : batch.message_bytes) == WARPSEAL_OK,
                  "a message of an accepted batch is accepted alone");
        }
    claim(out == expected, "a batch writes what its messages alone write");
}

FUZZ_TARGET("batch", run);

}  // namespace
