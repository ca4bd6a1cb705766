// Constant time: keys and texts are marked secret, and valgrind or MemorySanitizer then reports
// every branch and every address that depends on one. Covers all backend entries of a CPU target,
// for every cipher of the catalogue and every set of NTRU: 0 reports. Planted leaks must be
// reported. Branches on the result of a tag or a padding check, which is public, are named in
// secrets.supp and msan_ignore.txt.
//
//   valgrind -q --suppressions=secrets.supp warpseal-secrets [TARGET | padding | records |
//   planted]...
//   warpseal-secrets-msan [vaes256 | vaes512 | planted]...
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/block_loops.h"
#include "backends/kem_backend.h"
#include "engine/targets.h"
#include "provider/cipher_record.h"
#include "support/contiguous_batch.h"
#include "timing/secret_marks.h"

namespace {

using warpseal::CpuCipher;
using warpseal::direction_count;
using Text = std::vector<uint8_t>;

constexpr const char* mode_names[] = {"ecb", "ctr", "gcm", "cbc", "cfb",
                                      "ofb", "xts", "ccm", "cmac"};
static_assert(std::size(mode_names) == WARPSEAL_MODE_COUNT);

int passed = 0, failed = 0;

void result(bool right, const std::string& what, const char* how) {
    ++(right ? passed : failed);
    if (!right) std::printf("LEAK? %s: %s\n", what.c_str(), how);
}

// Reports count between these two alone. Elsewhere memcheck may doubt data that is marked defined:
// a tile with one used block has others that were never set, and it does not see that a ^ (a ^ b)
// is b.
unsigned watch() {
    tests::watch(true);
    return tests::reports();
}
bool complained(unsigned before) {
    const unsigned after = tests::reports();
    tests::watch(false);
    return after != before;
}

void secret(Text& text) { tests::mark_secret(text.data(), text.size()); }
void known(const void* at, size_t bytes) { tests::mark_public(at, bytes); }

Text pattern(size_t bytes, unsigned seed) {
    Text out(bytes);
    uint32_t x = seed * 2654435761u + 12345;
    for (uint8_t& byte : out) byte = static_cast<uint8_t>((x = x * 1664525u + 1013904223u) >> 24);
    return out;
}

struct State {
    explicit State(const CpuCipher& cipher) : memory(cipher.state_bytes + 64) {}
    void* get() {
        return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    }
    Text memory;
};

// The buffers of one call. `work` reads keys and `in`, and writes `out` and `tag`; its state was
// expanded from such a key.
struct Buffers {
    Text keys, in, out, tag;
    State* state;
    State* tweak;
};

class CipherCases {
public:
    CipherCases(const char* target, const CpuCipher& cipher) : target_(target), cipher_(cipher) {
        Text key = pattern(cipher.key_bytes, 1);
        cipher.expand(public_.get(), key.data());
        cipher.expand(public_tweak_.get(), pattern(cipher.key_bytes, 2).data());
        secret(key);
        const unsigned before = watch();
        cipher.expand(secret_.get(), key.data());
        cipher.expand(secret_tweak_.get(), key.data());
        if (cipher.weak != nullptr) {
            bool weak = cipher.weak(key.data());
            known(&weak, sizeof weak);
            if (weak) std::printf("a weak key by chance\n");
        }
        result(!complained(before), name("expansion of a key"),
               "a branch or an address depends on the key");
        Text same = secret_.memory;
        known(same.data(), same.size());
        Text tweak_key = pattern(cipher.key_bytes, 2);
        secret(tweak_key);
        cipher.expand(secret_tweak_.get(), tweak_key.data());
    }

    // Runs `work` on public texts, then on the same ones as secrets: no report, and the same
    // output, which it returns. Then runs it with a secret key and public texts: the output must
    // count as secret, or the reports are blind to something in between.
    Buffers run(const std::string& what, size_t bytes, size_t key_count, const Text& in,
                const Text& tag, const std::function<void(Buffers&)>& work) {
        Buffers open{pattern(key_count * cipher_.key_bytes, 3),
                     in,
                     Text(bytes),
                     tag,
                     &public_,
                     &public_tweak_};
        Buffers hidden{open.keys, in, Text(bytes), tag, &secret_, &secret_tweak_};
        work(open);
        secret(hidden.keys);
        secret(hidden.in);
        const unsigned before = watch();
        work(hidden);
        result(!complained(before), name(what), "a branch or an address depends on a key or text");
        for (Text* text : {&open.out, &open.tag, &hidden.out, &hidden.tag})
            known(text->data(), text->size());
        result(hidden.out == open.out && hidden.tag == open.tag, name(what),
               "secrets come out otherwise than known texts");
        if (!tests::marks_may_get_lost) return open;
        Buffers keyed{open.keys, in, Text(bytes), tag, &secret_, &secret_tweak_};
        secret(keyed.keys);
        work(keyed);
        for (const auto& [now, before] : {std::pair{&keyed.out, Text(bytes)}, {&keyed.tag, tag}}) {
            const bool hidden_all =
                tests::all_secret(now->data(), now->size(), cipher_.block_bytes);
            known(now->data(), now->size());
            if (*now != before)
                result(hidden_all, name(what), "a key that is secret makes output that is not");
        }
        return open;
    }

    void all() {
        for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode) {
            sweeps(mode);
            loops(mode);
            batches(mode);
        }
        xts();
        gcm();
    }

private:
    std::string name(const std::string& what) const {
        return std::string(target_) + " " + cipher_.name + " " + what;
    }
    static std::string call(int mode, int direction) {
        return std::string(mode_names[mode]) + (direction == 0 ? " encryption" : " decryption");
    }

    void sweeps(int mode) {
        const bool whole = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC;
        const Text iv = pattern(cipher_.block_bytes, 4);
        for (int d = 0; d < direction_count; ++d)
            for (const size_t bytes :
                 {size_t{cipher_.block_bytes}, many_blocks * cipher_.block_bytes + (whole ? 0 : 5)})
                if (const auto sweep = cipher_.sweep[mode][d])
                    run(call(mode, d) + " of " + std::to_string(bytes) + " bytes", bytes, 0,
                        pattern(bytes, 5), {}, [&](Buffers& b) {
                            sweep(b.state->get(), mode == WARPSEAL_ECB ? nullptr : iv.data(), 7,
                                  b.in.data(), b.out.data(), bytes);
                        });
    }

    // Runs the loops of a streaming message.
    void loops(int mode) {
        const warpseal::CpuBlockLoops* const loops = warpseal::cpu_block_loops(cipher_);
        if (loops == nullptr) return;
        for (int d = 0; d < direction_count; ++d)
            for (const size_t bytes : {size_t{16}, size_t{64}, many_blocks * 16})
                if (const auto blocks = loops->blocks[mode][d])
                    run(call(mode, d) + " of a message that goes on, " + std::to_string(bytes) +
                            " bytes",
                        bytes, 0, pattern(bytes, 5), {}, [&](Buffers& b) {
                            Text feedback = pattern(16, 4);
                            blocks(b.state->get(), feedback.data(), b.in.data(), b.out.data(),
                                   bytes);
                        });
    }

    void xts() {
        for (int d = 0; d < direction_count; ++d)
            if (const auto xts = cipher_.xts[d]) {
                const warpseal::XtsUnits units{{0xff, 0xff, 3}, 101};
                run(call(WARPSEAL_XTS, d), 330, 0, pattern(330, 6), {}, [&](Buffers& b) {
                    xts(b.state->get(), b.tweak->get(), units, b.in.data(), b.out.data(), 330);
                });
            }
    }

    void gcm() {
        if (cipher_.gcm_begin == nullptr) return;
        const Text iv = pattern(12, 7), long_iv = pattern(29, 8), aad = pattern(40, 9);
        for (int d = 0; d < direction_count; ++d)
            for (const size_t bytes : {size_t{16}, many_blocks * 16 + 5})
                run(call(WARPSEAL_GCM, d) + " of " + std::to_string(bytes) + " bytes", bytes, 0,
                    pattern(bytes, 10), Text(16), [&](Buffers& b) {
                        const Text& with = bytes == 16 ? iv : long_iv;
                        warpseal::GcmState run, segment{};
                        cipher_.gcm_begin(b.state->get(), with.data(), with.size(), aad.data(),
                                          aad.size(), &run);
                        // The one exception: the first counter under an IV of other than 96 bits is
                        // a hash under the key, and the carries of its increments are not hidden.
                        // (With 96 bits it is the IV itself.)
                        known(run.counter0, sizeof run.counter0);
                        std::memcpy(segment.counter0, run.counter0, 16);
                        cipher_.gcm_segment[d](b.state->get(), &segment, 0, b.in.data(),
                                               b.out.data(), bytes);
                        cipher_.gcm_combine(b.state->get(), run.sum, segment.sum,
                                            (bytes + 15) / 16);
                        cipher_.gcm_finish(b.state->get(), &run, aad.size(), bytes, b.tag.data());
                    });
    }

    void batches(int mode) {
        const size_t block = cipher_.block_bytes, count = 21;
        const bool tagged = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM || mode == WARPSEAL_CMAC;
        const size_t tag_bytes = tagged ? block : 0,
                     iv_bytes = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM ? 12 : block;
        const Text ivs = pattern(count * iv_bytes, 11), aad = pattern(count * 23, 12);
        std::vector<uint64_t> lengths, offsets;
        uint64_t bytes = 0;
        for (size_t i = 0; i < count; ++i) {
            offsets.push_back(bytes);
            lengths.push_back(mode == WARPSEAL_CBC ? block * (1 + i % 3) : 1 + 5 * i % (3 * block));
            bytes += lengths.back();
        }
        for (const bool own_keys : {true, false}) {
            Text text = pattern(bytes, 13), tags(count * tag_bytes);
            for (int d = 0; d < direction_count; ++d) {
                const auto call_batch = cipher_.batch[mode][d];
                if (call_batch == nullptr) continue;
                const Buffers after = run(
                    call(mode, d) + (own_keys ? " of a batch, a key per message" : " of a batch"),
                    bytes, count, text, tags, [&](Buffers& b) {
                        std::vector<int32_t> statuses(count);
                        warpseal_batch batch{};
                        batch.struct_bytes = sizeof batch;
                        batch.iv_bytes =
                            mode == WARPSEAL_CMAC ? 0 : static_cast<uint32_t>(iv_bytes);
                        batch.tag_bytes = static_cast<uint32_t>(tag_bytes);
                        batch.message_count = count;
                        batch.lengths = lengths.data();
                        batch.keys = own_keys ? b.keys.data() : nullptr;
                        batch.ivs = ivs.data();
                        batch.iv_stride = iv_bytes;
                        batch.aad = aad.data();
                        batch.aad_bytes = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM ? 23 : 0;
                        batch.aad_stride = 23;
                        batch.in = b.in.data();
                        batch.in_offsets = offsets.data();
                        batch.out = mode == WARPSEAL_CMAC ? nullptr : b.out.data();
                        batch.out_offsets = offsets.data();
                        batch.tags = tagged ? b.tag.data() : nullptr;
                        batch.tag_stride = tag_bytes;
                        batch.statuses = statuses.data();
                        uint64_t wrong =
                            call_batch(own_keys ? nullptr : b.state->get(), batch, 0, count);
                        known(&wrong, sizeof wrong);
                        known(statuses.data(), statuses.size() * sizeof statuses[0]);
                        result(wrong == 0, name(call(mode, d)), "a message did not verify");
                    });
                if (mode != WARPSEAL_CMAC) text = after.out;
                tags = after.tag;
            }
        }
    }

    static constexpr size_t many_blocks = 35;
    const char* target_;
    const CpuCipher& cipher_;
    State public_{cipher_}, public_tweak_{cipher_}, secret_{cipher_}, secret_tweak_{cipher_};
};

// NTRU, from secret coins to shared secrets, with valid and invalid ciphertexts. Network data is
// then marked public.
class KemCases {
public:
    KemCases(const char* target, const warpseal::CpuKem& kem) : target_(target), kem_(kem) {}

    void all() {
        const warpseal::kem::Params& params = *kem_.params;
        Text publics(count * params.public_key_bytes()), secrets(count * params.secret_key_bytes());
        Text ciphertexts(count * params.ciphertext_bytes()), sent(count * 32), received(count * 32);
        warpseal_kem_batch batch = tests::contiguous_batch(params, count);
        batch.public_keys = publics.data();
        batch.secret_keys = secrets.data();
        batch.ciphertexts = ciphertexts.data();

        batch.shared_secrets = sent.data();
        Text coins = pattern(count * params.keypair_coins(), 20);
        batch.coins_stride = params.keypair_coins();
        std::memset(coins.data(), 0, params.iid_coins());  // a first pair that has no key
        run(KemOperation::keypair, batch, coins, 1);
        known(publics.data(), publics.size());
        // The second key replaces that of the first pair, so that the next two operations have
        // valid input.
        std::copy_n(publics.begin() + static_cast<long>(params.public_key_bytes()),
                    params.public_key_bytes(), publics.begin());
        std::copy_n(secrets.begin() + static_cast<long>(params.secret_key_bytes()),
                    params.secret_key_bytes(), secrets.begin());

        Text other_coins = pattern(count * params.encapsulation_coins(), 21);
        batch.coins_stride = params.encapsulation_coins();
        run(KemOperation::encapsulate, batch, other_coins, 0);
        if (tests::marks_may_get_lost)
            result(tests::all_secret(ciphertexts.data(), ciphertexts.size(), 1) &&
                       tests::all_secret(sent.data(), sent.size(), 1),
                   name("encapsulation"), "secret coins make output that is not");
        known(ciphertexts.data(), ciphertexts.size());
        known(sent.data(), sent.size());

        batch.shared_secrets = received.data();
        ciphertexts[params.ciphertext_bytes() + 9] ^= 4;
        secret(ciphertexts);  // plaintext checks on chosen ciphertexts must not leak either
        Text none;
        run(KemOperation::decapsulate, batch, none, 0);
        known(received.data(), received.size());
        result(std::equal(received.begin(), received.begin() + 32, sent.begin()),
               name("decapsulation"), "a valid ciphertext was rejected");
        result(!std::equal(received.begin() + 32, received.begin() + 64, sent.begin() + 32),
               name("decapsulation"), "an invalid ciphertext was accepted");
        result(std::equal(received.begin() + 64, received.end(), sent.begin() + 64),
               name("decapsulation"), "a valid ciphertext was rejected");
    }

private:
    using KemOperation = warpseal::KemOperation;

    std::string name(const char* what) const {
        return std::string(target_) + " " + kem_.params->name + " " + what;
    }

    void run(KemOperation operation, warpseal_kem_batch& batch, Text& coins,
             uint64_t expected_to_fail) {
        static constexpr const char* names[] = {"key generation", "encapsulation", "decapsulation"};
        const char* what = names[static_cast<int>(operation)];
        std::vector<int32_t> statuses(count);
        batch.statuses = statuses.data();
        batch.coins = coins.data();
        Text memory(kem_.work_bytes(operation, count) + 64);
        secret(coins);
        const unsigned before = watch();
        uint64_t failed = kem_.run[static_cast<int>(operation)](
            batch, 0, count,
            reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64));
        result(!complained(before), name(what), "a branch or an address depends on a secret");
        known(&failed, sizeof failed);
        result(failed == expected_to_fail, name(what), "an item has no result");
    }

    static constexpr size_t count = 3;
    const char* target_;
    const warpseal::CpuKem& kem_;
};

#if !defined(WARPSEAL_MSAN)  // the engine is not under it
// Padding of a decrypted message, good and bad, through the public call: the only part of the
// engine that reads plaintext.
void padding() {
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.threads = 1;
    options.device = "portable";
    warpseal_engine* engine = nullptr;
    warpseal_key* key = nullptr;
    const Text key_bytes = pattern(16, 16), iv = pattern(16, 17);
    result(warpseal_engine_create(&options, &engine) == WARPSEAL_OK &&
               warpseal_key_create(engine, "aes-128", key_bytes.data(), key_bytes.size(), &key) ==
                   WARPSEAL_OK,
           "padding", "no engine or key");
    for (const bool good : {true, false}) {
        Text in(64), out(64);
        size_t written = 0;
        (void)warpseal_encrypt_padded(key, iv.data(), 16, pattern(55, 18).data(), 55, in.data(),
                                      in.size(), &written);
        // Runs once before, so that the engine's self-test is done.
        (void)warpseal_decrypt_padded(key, iv.data(), 16, in.data(), in.size(), out.data(),
                                      out.size(), &written);
        if (!good) in[47] ^= 1;  // the last byte of padding
        secret(in);
        const unsigned before = watch();
        written = 0;
        warpseal_status status = warpseal_decrypt_padded(key, iv.data(), 16, in.data(), in.size(),
                                                         out.data(), out.size(), &written);
        result(!complained(before), "padding", "a branch or an address depends on the plaintext");
        known(&status, sizeof status);
        known(&written, sizeof written);
        result(status == (good ? WARPSEAL_OK : WARPSEAL_BAD_PADDING) && written == (good ? 55 : 0),
               "padding", "wrong result");
    }
    warpseal_key_destroy(key);
    warpseal_engine_destroy(engine);
}

#endif

// The end of a TLS CBC record, with right and wrong padding, which must not show before the MAC is
// compared.
void records() {
    for (const size_t mac_bytes : {size_t{20}, size_t{32}, size_t{48}})
        for (const size_t padding : {size_t{0}, size_t{15}, size_t{255}})
            for (const bool good : {true, false}) {
                Text record = pattern(400, 19), mac(mac_bytes);
                std::fill(record.end() - static_cast<ptrdiff_t>(padding) - 1, record.end(),
                          static_cast<uint8_t>(padding));
                if (!good)
                    record[record.size() - 2] = record.back() = 255, record[record.size() - 3] = 0;
                const size_t begin = record.size() - (good ? padding + 1 : 0) - mac_bytes;
                const Text wanted(record.begin() + static_cast<ptrdiff_t>(begin),
                                  record.begin() + static_cast<ptrdiff_t>(begin + mac_bytes));
                secret(record);
                const unsigned before = watch();
                warpseal::provider::RecordEnd end =
                    warpseal::provider::find_record_end(record.data(), record.size(), mac_bytes);
                warpseal::provider::copy_record_mac(record.data(), record.size(), end.text_bytes,
                                                    mac.data(), mac_bytes);
                result(!complained(before), "records",
                       "a branch or an address depends on the padding");
                known(&end, sizeof end);
                known(mac.data(), mac.size());
                result(end.text_bytes == begin && (end.valid != 0) == good && mac == wanted,
                       "records", "wrong end");
            }
}

// Planted leaks that must be reported, or the test is blind.
__attribute__((noinline)) uint8_t lookup(const uint8_t* table, const uint8_t* key) {
    return table[key[0]];
}
__attribute__((noinline)) uint8_t branch(const uint8_t* table, const uint8_t* key) {
    if (key[0] & 1)
        __asm__ volatile("" ::: "memory");  // prevents the compiler from using a conditional move
    return table[0];
}

void planted() {
#if defined(WARPSEAL_MSAN)
    result(tests::models_are_right(), "planted", "a model differs from its instruction");
#endif
    const Text table = pattern(256, 14);
    const auto must_be_reported = [&](const std::string& where, const uint8_t* secret_bytes) {
        for (const auto leak : {lookup, branch}) {
            const unsigned before = watch();
            const uint8_t got = leak(table.data(), secret_bytes);
            __asm__ volatile("" : : "r"(got));
            result(complained(before), where + (leak == branch ? " branch" : " look-up"),
                   "went unnoticed");
        }
    };
    Text key = pattern(16, 15);
    secret(key);
    must_be_reported("planted", key.data());
    // On what each cipher makes of a secret key and a known block.
    for (int t = 0; t < warpseal::cpu_target_count; ++t) {
        const auto target = static_cast<warpseal::Target>(t);
        if (!tests::is_watched(target) || !warpseal::cpu_has(target)) continue;
        for (size_t c = 0; const CpuCipher* listed = warpseal::cpu_cipher_at(c); ++c) {
            const CpuCipher& cipher = *warpseal::cpu_cipher(target, listed->name);
            State state(cipher);
            Text long_key = pattern(cipher.key_bytes, 15), out(cipher.block_bytes);
            secret(long_key);
            cipher.expand(state.get(), long_key.data());
            cipher.sweep[WARPSEAL_ECB][0](state.get(), nullptr, 0,
                                          pattern(cipher.block_bytes, 5).data(), out.data(),
                                          cipher.block_bytes);
            must_be_reported(std::string("planted ") + target_name(target) + " " + cipher.name,
                             out.data());
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (!tests::marks_are_watched()) {
        std::printf("NOT RUN: without valgrind this shows nothing\n");
        return 77;
    }
    tests::watch(false);
    bool ran = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "planted") == 0) {
            planted();
            ran = true;
            continue;
        }
#if !defined(WARPSEAL_MSAN)
        if (std::strcmp(argv[i], "padding") == 0) {
            padding();
            ran = true;
            continue;
        }
#endif
        if (std::strcmp(argv[i], "records") == 0) {
            records();
            ran = true;
            continue;
        }
        for (int t = 0; t < warpseal::cpu_target_count; ++t) {
            const auto target = static_cast<warpseal::Target>(t);
            if (!tests::is_watched(target) || std::strcmp(argv[i], target_name(target)) != 0)
                continue;
            if (!warpseal::cpu_has(target)) {
                std::printf("NOT RUN %s: this machine, or valgrind, does not have it\n", argv[i]);
                continue;
            }
            ran = true;
            for (size_t c = 0; const CpuCipher* portable = warpseal::cpu_cipher_at(c); ++c)
                if (const CpuCipher* cipher = warpseal::cpu_cipher(target, portable->name))
                    CipherCases(argv[i], *cipher).all();
                else
                    result(false, std::string(argv[i]) + " " + portable->name, "no backend");
            if (!warpseal::cpu_has_kem(target)) continue;
            for (const warpseal::kem::Params* set : warpseal::kem::sets)
                KemCases(argv[i], *warpseal::cpu_kem(target, set->name)).all();
        }
    }
    tests::watch(true);  // or memcheck reports it
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 ? 1 : ran ? 0 : 77;
}
