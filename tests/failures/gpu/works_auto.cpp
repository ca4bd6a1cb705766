// Calls with "auto": see works_auto.h.
#include "works_auto.h"

#include <algorithm>

#include "../handles.h"
#include "../works.h"
#include "on_auto.h"
#include "unnamed.h"
#include "warpseal/batch.h"
#include "warpseal/warpseal.h"

namespace works {
namespace {

// Enough for chunks of their own on several slots of the GPU.
constexpr size_t bytes = size_t{8} << 20, count = 64, message_bytes = bytes / count;
constexpr uint8_t iv[16] = {5, 5, 5};
constexpr unsigned threads = 3;

uint8_t plain[bytes], out[bytes], tag[16];
uint8_t ivs[count * 16], tags[count * 16];
int32_t statuses[count];
struct Made {
    uint8_t ctr[bytes], gcm[bytes], tag[16], ctr_batch[bytes], gcm_batch[bytes], tags[count * 16];
};
Made made;

void must_be(const char* function, const void* got, const void* expected, size_t size) {
    if (std::memcmp(got, expected, size) != 0) complain(function, "a wrong result");
}

warpseal_batch batch_of(const uint8_t* in, size_t iv_bytes, uint8_t* with_tags) {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count, batch.message_bytes = message_bytes;
    batch.ivs = ivs, batch.iv_bytes = static_cast<uint32_t>(iv_bytes), batch.iv_stride = 16;
    batch.in = in, batch.in_stride = message_bytes;
    batch.out = out, batch.out_stride = message_bytes;
    if (with_tags != nullptr) batch.tags = with_tags, batch.tag_bytes = 16, batch.tag_stride = 16;
    batch.statuses = statuses;
    return batch;
}

warpseal_file_options options_with(const warpseal_secret& one) {
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.secrets = &one, options.secret_count = 1;
    return options;
}

}  // namespace

warpseal_status auto_messages() {
    const OnAuto on_auto;
    const Engine engine(threads);
    const Key key(engine, "aes-256", secret, 32);
    return Steps({engine.status, key.status})
        .then("warpseal_encrypt", {{out, bytes}},
              [&] { return warpseal_encrypt(key.get(), WARPSEAL_CTR, iv, 16, plain, out, bytes); })
        .and_if_all_did([] { must_be("warpseal_encrypt", out, made.ctr, bytes); })
        .then("warpseal_seal_unsafe_iv", {{out, bytes}, {tag, sizeof tag}},
              [&] {
                  return warpseal_seal_unsafe_iv(key.get(), WARPSEAL_GCM, iv, 12, "a", 1, plain,
                                                 out, bytes, tag, 16);
              })
        .and_if_all_did([] {
            must_be("warpseal_seal_unsafe_iv", out, made.gcm, bytes);
            must_be("warpseal_seal_unsafe_iv", tag, made.tag, 16);
        })
        .then("warpseal_open", {{out, bytes}},
              [&] {
                  return warpseal_open(key.get(), WARPSEAL_GCM, iv, 12, "a", 1, made.gcm, out,
                                       bytes, made.tag, 16);
              })
        .and_if_all_did([] { must_be("warpseal_open", out, plain, bytes); });
}

warpseal_status auto_batches() {
    const OnAuto on_auto;
    const Engine engine(threads);
    const Key key(engine, "aes-256", secret, 32);
    const warpseal_batch ctr = batch_of(plain, 16, nullptr), seal = batch_of(plain, 12, tags),
                         open = batch_of(made.gcm_batch, 12, made.tags);
    return Steps({engine.status, key.status})
        .then("warpseal_encrypt_batch", {{out, bytes}},
              [&] { return warpseal_encrypt_batch(key.get(), WARPSEAL_CTR, &ctr); })
        .and_if_all_did([] { must_be("warpseal_encrypt_batch", out, made.ctr_batch, bytes); })
        .then("warpseal_seal_batch_unsafe_iv", {{out, bytes}, {tags, sizeof tags}},
              [&] { return warpseal_seal_batch_unsafe_iv(key.get(), WARPSEAL_GCM, &seal); })
        .and_if_all_did([] {
            must_be("warpseal_seal_batch_unsafe_iv", out, made.gcm_batch, bytes);
            must_be("warpseal_seal_batch_unsafe_iv", tags, made.tags, sizeof tags);
        })
        .then("warpseal_open_batch", {{out, bytes}},
              [&] { return warpseal_open_batch(key.get(), WARPSEAL_GCM, &open); })
        .and_if_all_did([] { must_be("warpseal_open_batch", out, plain, bytes); });
}

warpseal_status auto_files() {
    const OnAuto on_auto;
    const Engine engine(threads);
    const Unnamed in(plain, bytes), sealed, opened;
    const warpseal_secret key = {WARPSEAL_SECRET_KEY, secret, 32};
    const warpseal_file_options options = options_with(key);
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    return Steps({engine.status})
        .then("warpseal_file_seal",
              [&] {
                  return warpseal_file_seal(engine.get(), in.get(), sealed.get(), &options,
                                            &result);
              })
        .and_if_all_did([&] { sealed.rewind(); })
        .then("warpseal_file_open",
              [&] {
                  return warpseal_file_open(engine.get(), sealed.get(), opened.get(), &options,
                                            &result);
              })
        .and_if_all_did([&] {
            if (opened.read(out, bytes) != bytes) complain("warpseal_file_open", "a wrong size");
            must_be("warpseal_file_open", out, plain, bytes);
        });
}

void prepare_auto() {
    for (size_t i = 0; i < bytes; ++i) plain[i] = static_cast<uint8_t>(i * 5 + i / 257);
    for (size_t i = 0; i < count; ++i) ivs[16 * i] = static_cast<uint8_t>(i + 1);
    const Engine engine(threads);
    const Key key(engine, "aes-256", secret, 32);
    const warpseal_batch ctr = batch_of(plain, 16, nullptr), gcm = batch_of(plain, 12, made.tags);
    const auto ok = [](warpseal_status status) {
        if (status != WARPSEAL_OK) complain("prepare_auto", "a call fails");
    };
    ok(warpseal_encrypt(key.get(), WARPSEAL_CTR, iv, 16, plain, made.ctr, bytes));
    ok(warpseal_seal_unsafe_iv(key.get(), WARPSEAL_GCM, iv, 12, "a", 1, plain, made.gcm, bytes,
                               made.tag, 16));
    ok(warpseal_encrypt_batch(key.get(), WARPSEAL_CTR, &ctr));
    std::copy(out, out + bytes, made.ctr_batch);
    ok(warpseal_seal_batch_unsafe_iv(key.get(), WARPSEAL_GCM, &gcm));
    std::copy(out, out + bytes, made.gcm_batch);
}

}  // namespace works
