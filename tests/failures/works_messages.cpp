// One message and batches in host memory. Each function has an engine of its own, so that it makes
// the requests of a first call.
#include <algorithm>

#include "handles.h"
#include "warpseal/batch.h"
#include "works.h"

namespace works {
namespace {

constexpr uint8_t iv[16] = {9, 9, 9};
size_t padded_bytes() { return text_bytes - 5; }

// Right outputs.
struct Made {
    uint8_t ctr[most_bytes], cbc[most_bytes], padded[most_bytes], xts[most_bytes];
    uint8_t gcm[most_bytes], tag[16], mac[16];
};
Made made;
uint8_t out[most_bytes], tag[16], drawn[12];

constexpr unsigned threads = 3;

// Calls the function with a key of a new engine. It must write `bytes` bytes of `expected`.
template <class KeyType = Key, class Call>
warpseal_status one(const char* function, void* output, const uint8_t* expected, size_t bytes,
                    Call call) {
    const Engine engine(threads);
    const KeyType key(engine, "aes-256", secret, std::is_same_v<KeyType, Key> ? 32 : 64);
    return Steps({engine.status, key.status})
        .then(function, {{output, bytes}}, [&] { return call(key.get()); })
        .and_if_all_did([&] {
            if (bytes != 0 && std::memcmp(output, expected, bytes) != 0)
                complain(function, "a wrong result");
        });
}

warpseal_status plain_messages() {
    size_t written = 0;
    return Steps()
        .run([] {
            return one("warpseal_encrypt", out, made.ctr, text_bytes, [](auto* key) {
                return warpseal_encrypt(key, WARPSEAL_CTR, iv, 16, text, out, text_bytes);
            });
        })
        .run([] {
            return one("warpseal_decrypt", out, text, text_bytes, [](auto* key) {
                return warpseal_decrypt(key, WARPSEAL_CBC, iv, 16, made.cbc, out, text_bytes);
            });
        })
        .run([&] {
            return one("warpseal_encrypt_padded", out, made.padded, text_bytes, [&](auto* key) {
                return warpseal_encrypt_padded(key, iv, 16, text, padded_bytes(), out, text_bytes,
                                               &written);
            });
        })
        .run([&] {
            return one("warpseal_decrypt_padded", out, text, padded_bytes(), [&](auto* key) {
                return warpseal_decrypt_padded(key, iv, 16, made.padded, text_bytes, out,
                                               text_bytes, &written);
            });
        })
        .run([] {
            return one<XtsKey>("warpseal_xts_encrypt", out, made.xts, text_bytes, [](auto* key) {
                return warpseal_xts_encrypt(key, iv, 4096, text, out, text_bytes);
            });
        })
        .run([] {
            return one<XtsKey>("warpseal_xts_decrypt", out, text, text_bytes, [](auto* key) {
                return warpseal_xts_decrypt(key, iv, 4096, made.xts, out, text_bytes);
            });
        });
}

warpseal_status authenticated_messages() {
    return Steps()
        .run([] {
            return one("warpseal_mac", tag, made.mac, 16, [](auto* key) {
                return warpseal_mac(key, WARPSEAL_CMAC, text, text_bytes, tag, 16);
            });
        })
        .run([] {
            return one("warpseal_mac_verify", nullptr, nullptr, 0, [](auto* key) {
                return warpseal_mac_verify(key, WARPSEAL_CMAC, text, text_bytes, made.mac, 16);
            });
        })
        .run([] {
            return one("warpseal_seal_unsafe_iv", out, made.gcm, text_bytes, [](auto* key) {
                return warpseal_seal_unsafe_iv(key, WARPSEAL_GCM, iv, 12, "a", 1, text, out,
                                               text_bytes, tag, 16);
            });
        })
        .run([] {
            return one("warpseal_open", out, text, text_bytes, [](auto* key) {
                return warpseal_open(key, WARPSEAL_GCM, iv, 12, "a", 1, made.gcm, out, text_bytes,
                                     made.tag, 16);
            });
        });
}

// The IV is drawn: the text must come back.
warpseal_status seal() {
    const Engine engine(threads);
    const Key key(engine, "aes-128", secret, 16);
    return Steps({engine.status, key.status})
        .then("warpseal_seal", {{out, text_bytes}, {drawn, 12}, {tag, 16}},
              [&] {
                  return warpseal_seal(key.get(), WARPSEAL_GCM, drawn, "a", 1, text, out,
                                       text_bytes, tag, 16);
              })
        .then("warpseal_open",
              [&] {
                  return warpseal_open(key.get(), WARPSEAL_GCM, drawn, 12, "a", 1, out, out,
                                       text_bytes, tag, 16);
              })
        .and_if_all_did([] {
            if (std::memcmp(out, text, text_bytes) != 0)
                complain("warpseal_seal", "a wrong result");
        });
}

warpseal_status pick() {
    const Engine engine(threads);
    return Steps({engine.status}).then("warpseal_engine_pick", [&] {
        const char* const picked =
            warpseal_engine_pick(engine.get(), "aes-256", WARPSEAL_GCM, text_bytes);
        return *picked == 0 ? WARPSEAL_OUT_OF_MEMORY : WARPSEAL_OK;
    });
}

constexpr size_t count = 64;
size_t message_bytes() { return text_bytes / count; }
uint8_t ivs[count * 16], tags[count * 16];
int32_t statuses[count];

// Right outputs of batches.
struct MadeByBatches {
    uint8_t ctr[most_bytes], gcm[most_bytes], tags[count * 16], macs[count * 16];
};
MadeByBatches batched;

warpseal_batch batch_of(const uint8_t* in, size_t iv_bytes) {
    warpseal_batch batch = {};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count, batch.message_bytes = message_bytes();
    if (iv_bytes != 0) {
        batch.ivs = ivs, batch.iv_bytes = static_cast<uint32_t>(iv_bytes), batch.iv_stride = 16;
        batch.out = out, batch.out_stride = message_bytes();
    }
    if (iv_bytes != 16) batch.tags = tags, batch.tag_bytes = 16, batch.tag_stride = 16;
    batch.in = in, batch.in_stride = message_bytes();
    batch.statuses = statuses;
    return batch;
}

template <class Call>
warpseal_status one_batch(const char* function, Call call, warpseal_mode mode,
                          const warpseal_batch& batch, const uint8_t* expected) {
    void* const output = batch.out != nullptr ? batch.out : batch.tags;
    const size_t bytes = batch.out != nullptr ? text_bytes : sizeof tags;
    return one(function, expected == nullptr ? nullptr : output, expected,
               expected == nullptr ? 0 : bytes, [&](auto* key) { return call(key, mode, &batch); });
}

warpseal_batch tagged(warpseal_batch batch, uint8_t* with) {
    batch.tags = with;
    return batch;
}

// A batch in GCM of which every part has a place of its own.
struct Scattered {
    // aad: some messages have a byte of AAD.
    Scattered(const uint8_t* in, uint8_t* with_tags, bool aad) {
        for (size_t i = 0; i < count; ++i) {
            const size_t reversed = count - 1 - i;
            texts[i] = in + reversed * message_bytes(), outs[i] = out + reversed * message_bytes();
            ivs_[i] = 16 * reversed, tags_[i] = with_tags + 16 * reversed;
            aad_lengths[i] = aad ? i / 8 % 2 : 0;
        }
        all.batch.struct_bytes = sizeof all;
        all.batch.iv_bytes = 12, all.batch.tag_bytes = 16;
        all.batch.message_count = count, all.batch.message_bytes = message_bytes();
        all.batch.ivs = ivs, all.batch.aad = secret, all.batch.statuses = statuses;
        all.iv_offsets = ivs_, all.aad_lengths = aad_lengths;
        all.in_pointers = texts, all.out_pointers = outs, all.tag_pointers = tags_;
    }
    const uint8_t* texts[count];
    uint8_t *outs[count], *tags_[count];
    uint64_t ivs_[count], aad_lengths[count];
    warpseal_scattered_batch all = {};
};

warpseal_status scattered_batches() {
    return Steps()
        .run([] {
            const Scattered sealed(text, tags, true);
            return one(
                "warpseal_seal_batch_unsafe_iv", out, batched.gcm, text_bytes, [&](auto* key) {
                    return warpseal_seal_batch_unsafe_iv(key, WARPSEAL_GCM, &sealed.all.batch);
                });
        })
        .run([] {
            const Scattered opened(batched.gcm, batched.tags, false);
            return one("warpseal_open_batch", out, text, text_bytes, [&](auto* key) {
                return warpseal_open_batch(key, WARPSEAL_GCM, &opened.all.batch);
            });
        });
}

// The IVs are drawn: the text must come back.
warpseal_status seal_batch() {
    static uint8_t drawn_ivs[count * 16];
    const Engine engine(threads);
    const Key key(engine, "aes-256", secret, 32);
    Scattered sealed(text, tags, true);
    sealed.all.batch.ivs = nullptr;
    Scattered opened(out, tags, true);
    opened.all.batch.ivs = drawn_ivs;
    return Steps({engine.status, key.status})
        .then("warpseal_seal_batch",
              {{out, text_bytes}, {drawn_ivs, sizeof drawn_ivs}, {tags, sizeof tags}},
              [&] {
                  return warpseal_seal_batch(key.get(), WARPSEAL_GCM, &sealed.all.batch, drawn_ivs);
              })
        .then("warpseal_open_batch",
              [&] { return warpseal_open_batch(key.get(), WARPSEAL_GCM, &opened.all.batch); })
        .and_if_all_did([] {
            if (std::memcmp(out, text, text_bytes) != 0)
                complain("warpseal_seal_batch", "a wrong result");
        });
}

}  // namespace

warpseal_status messages() {
    return Steps().run(plain_messages).run(authenticated_messages).run(seal).run(pick);
}

warpseal_status batches() {
    return Steps()
        .run([] {
            return one_batch("warpseal_encrypt_batch", warpseal_encrypt_batch, WARPSEAL_CTR,
                             batch_of(text, 16), batched.ctr);
        })
        .run([] {
            return one_batch("warpseal_decrypt_batch", warpseal_decrypt_batch, WARPSEAL_CTR,
                             batch_of(batched.ctr, 16), text);
        })
        .run([] {
            return one_batch("warpseal_seal_batch_unsafe_iv", warpseal_seal_batch_unsafe_iv,
                             WARPSEAL_GCM, batch_of(text, 12), batched.gcm);
        })
        .run([] {
            return one_batch("warpseal_open_batch", warpseal_open_batch, WARPSEAL_GCM,
                             tagged(batch_of(batched.gcm, 12), batched.tags), text);
        })
        .run([] {
            return one_batch("warpseal_mac_batch", warpseal_mac_batch, WARPSEAL_CMAC,
                             batch_of(text, 0), batched.macs);
        })
        .run([] {
            return one_batch("warpseal_mac_verify_batch", warpseal_mac_verify_batch, WARPSEAL_CMAC,
                             tagged(batch_of(text, 0), batched.macs), nullptr);
        })
        .run(scattered_batches)
        .run(seal_batch);
}

void prepare_messages() {
    for (size_t i = 0; i < count; ++i) ivs[16 * i] = static_cast<uint8_t>(i + 1);
    const Engine engine(threads);
    const Key key(engine, "aes-256", secret, 32);
    const XtsKey units(engine, "aes-256", secret, 64);
    size_t written = 0;
    const warpseal_batch ctr = batch_of(text, 16), gcm = batch_of(text, 12),
                         mac = batch_of(text, 0);
    const auto ok = [](warpseal_status status) {
        if (status != WARPSEAL_OK) complain("prepare_messages", "a call fails");
    };
    ok(warpseal_encrypt(key.get(), WARPSEAL_CTR, iv, 16, text, made.ctr, text_bytes));
    ok(warpseal_encrypt(key.get(), WARPSEAL_CBC, iv, 16, text, made.cbc, text_bytes));
    ok(warpseal_encrypt_padded(key.get(), iv, 16, text, padded_bytes(), made.padded, text_bytes,
                               &written));
    ok(warpseal_xts_encrypt(units.get(), iv, 4096, text, made.xts, text_bytes));
    ok(warpseal_mac(key.get(), WARPSEAL_CMAC, text, text_bytes, made.mac, 16));
    ok(warpseal_seal_unsafe_iv(key.get(), WARPSEAL_GCM, iv, 12, "a", 1, text, made.gcm, text_bytes,
                               made.tag, 16));
    ok(warpseal_encrypt_batch(key.get(), WARPSEAL_CTR, &ctr));
    std::copy(out, out + text_bytes, batched.ctr);
    ok(warpseal_seal_batch_unsafe_iv(key.get(), WARPSEAL_GCM, &gcm));
    std::copy(out, out + text_bytes, batched.gcm);
    std::copy(tags, tags + sizeof tags, batched.tags);
    ok(warpseal_mac_batch(key.get(), WARPSEAL_CMAC, &mac));
    std::copy(tags, tags + sizeof tags, batched.macs);
    ok(messages());
    ok(batches());
}

// One path of the smallest cipher: the portable target has the fewest tests.
warpseal_status self_test() {
    const char* const before = device;
    device = "portable";
    const Engine engine(1);
    device = before;
    const Key key(engine, "sm4-128", secret, 16);
    return Steps({engine.status, key.status}).then("warpseal_encrypt", {{out, 4096}}, [&] {
        return warpseal_encrypt(key.get(), WARPSEAL_CTR, iv, 16, text, out, 4096);
    });
}

}  // namespace works
