// Random calls of the C interface on each CPU target and on `portable`, which must answer alike:
// every cipher and mode, lengths, alignments, batches and streams. Statuses and all bytes around
// the outputs are compared too.
#include <memory>

#include "c_api/internal_stream.h"
#include "differences.h"
#include "support/targets.h"

namespace {

using fuzz::Record;
using tests::Random;
using Text = std::vector<uint8_t>;

// The engines of `portable` and of every other CPU target of this machine.
struct Engines {
    std::vector<std::string> names;
    std::vector<targets::EngineHandle> handles;

    Engines() {
        for (const warpseal_target_info& target : targets::all()) {
            if (!target.usable || std::string(target.name) == "cuda") continue;
            warpseal_engine_options options{};
            options.struct_bytes = sizeof options;
            options.threads = 2;
            options.device = target.name;
            warpseal_engine* engine = nullptr;
            if (warpseal_engine_create(&options, &engine) != WARPSEAL_OK)
                throw std::runtime_error(std::string("no engine for ") + target.name);
            const bool first = std::string(target.name) == "portable";
            names.insert(first ? names.begin() : names.end(), target.name);
            handles.emplace(first ? handles.begin() : handles.end(), engine);
        }
    }
};

const Engines& engines() {
    static const Engines& all = *new Engines;
    return all;
}

// What one engine answered: the statuses, and all memory that it could write.
struct Answer {
    std::vector<int32_t> statuses;  // that of the call itself first
    Text memory;
    bool operator==(const Answer&) const = default;
};

// One key on every engine; `call` runs on each.
class Work {
public:
    Work(const warpseal_cipher_info& cipher, bool xts, Random& random, Record& record)
        : record_(record) {
        const Text key = random.text(cipher.key_bytes * (xts ? 2u : 1u));
        for (const targets::EngineHandle& engine : engines().handles) {
            warpseal_key* made = nullptr;
            const warpseal_status status = (xts ? warpseal_key_create_xts : warpseal_key_create)(
                engine.get(), cipher.name, key.data(), key.size(), &made);
            if (status != WARPSEAL_OK) throw std::runtime_error(warpseal_status_text(status));
            keys_.emplace_back(made);
        }
    }
    // Returns the answer of `portable`, after the others gave the same.
    template <class Call>
    Answer all(const std::string& what, const Call& call) {
        record_.call(what);
        const Answer expected = call(keys_[0].get());
        for (size_t i = 1; i < keys_.size(); ++i) {
            record_.compare(call(keys_[i].get()) == expected, what + " on " + engines().names[i]);
            if (expected.statuses[0] == WARPSEAL_OK) record_.output();
        }
        return expected;
    }

private:
    Record& record_;
    std::vector<targets::KeyHandle> keys_;
};

size_t some_length(Random& random) {
    return random.one_in(40) ? random.below(200'000) : random.length(random.one_in(3) ? 5000 : 600);
}

// Input and output in one memory at random alignments; in place in half of the cases.
struct Places {
    size_t bytes, in, out, all;
    Text memory;

    Places(size_t text_bytes, Random& random, size_t extra = 0) : bytes(text_bytes) {
        const bool in_place = random.one_in(2);
        in = random.below(64);
        out = in_place ? in : in + bytes + random.below(64);
        all = out + bytes + extra + 64;
        memory = random.text(all);
    }
    std::string text() const {
        return std::to_string(bytes) + " bytes at " + std::to_string(in) + " to " +
               std::to_string(out);
    }
};

void plain(const warpseal_cipher_info& cipher, warpseal_mode mode, Work& work, Random& random) {
    const size_t block = cipher.block_bytes, bytes = some_length(random);
    const bool whole = (mode == WARPSEAL_ECB || mode == WARPSEAL_CBC) && !random.one_in(20);
    const Places at(whole ? bytes / block * block : bytes, random);
    const Text iv = mode == WARPSEAL_ECB ? Text() : random.counter(bytes / block + 1, block);
    for (const auto call : {warpseal_encrypt, warpseal_decrypt})
        work.all(std::string(call == warpseal_encrypt ? "encrypt " : "decrypt ") +
                     warpseal_mode_name(mode) + " " + at.text(),
                 [&](const warpseal_key* key) {
                     Answer out{{}, at.memory};
                     out.statuses = {call(key, mode, iv.empty() ? nullptr : iv.data(), iv.size(),
                                          out.memory.data() + at.in, out.memory.data() + at.out,
                                          at.bytes)};
                     return out;
                 });
}

void padded(const warpseal_cipher_info& cipher, Work& work, Random& random) {
    const size_t block = cipher.block_bytes, bytes = some_length(random);
    const Text iv = random.text(block);
    const Places at(bytes, random, block);
    for (const bool encrypts : {true, false})
        work.all(
            (encrypts ? "encrypt padded " : "decrypt padded ") + at.text(),
            [&](const warpseal_key* key) {
                Answer out{{}, at.memory};
                size_t made = 0;
                const auto call = encrypts ? warpseal_encrypt_padded : warpseal_decrypt_padded;
                out.statuses = {call(key, iv.data(), block, out.memory.data() + at.in, at.bytes,
                                     out.memory.data() + at.out,
                                     encrypts ? (at.bytes / block + 1) * block : at.bytes, &made)};
                out.statuses.push_back(static_cast<int32_t>(made));
                return out;
            });
}

void xts(Work& work, Random& random) {
    const Places at(some_length(random), random);
    const uint64_t unit = random.one_in(2) ? 512 : 16 + random.length(5000);
    Text first = random.text(16);
    for (size_t i = 0; i < 8 && random.one_in(2); ++i) first[i] = 0xff;
    for (const auto call : {warpseal_xts_encrypt, warpseal_xts_decrypt})
        work.all(std::string(call == warpseal_xts_encrypt ? "encrypt" : "decrypt") + " xts units " +
                     std::to_string(unit) + " " + at.text(),
                 [&](const warpseal_key* key) {
                     Answer out{{}, at.memory};
                     out.statuses = {call(key, first.data(), unit, out.memory.data() + at.in,
                                          out.memory.data() + at.out, at.bytes)};
                     return out;
                 });
}

void mac(const warpseal_cipher_info& cipher, Work& work, Random& random) {
    const Places at(some_length(random), random);
    const size_t tag_bytes = 1 + random.below(cipher.block_bytes);
    work.all("mac " + at.text(), [&](const warpseal_key* key) {
        Answer out{{}, Text(tag_bytes, 0xa5)};
        out.statuses = {warpseal_mac(key, WARPSEAL_CMAC, at.memory.data() + at.in, at.bytes,
                                     out.memory.data(), tag_bytes),
                        warpseal_mac_verify(key, WARPSEAL_CMAC, at.memory.data() + at.in, at.bytes,
                                            out.memory.data(), tag_bytes)};
        return out;
    });
}

// Seals, then opens what `portable` sealed, with one changed bit in a third of the cases.
void sealed(warpseal_mode mode, Work& work, Random& random) {
    const bool gcm = mode == WARPSEAL_GCM;
    Places at(some_length(random), random);
    const Text iv = random.text(!gcm               ? 6 + random.below(8)
                                : random.one_in(2) ? 12
                                                   : 1 + random.below(100)),
               aad = random.text(random.one_in(3) ? 0 : random.length(3000));
    const size_t tag_bytes = gcm ? 12 + random.below(5) : 4 + 2 * random.below(7);
    const std::string what = std::string(warpseal_mode_name(mode)) + " IV " +
                             std::to_string(iv.size()) + " AAD " + std::to_string(aad.size()) +
                             " tag " + std::to_string(tag_bytes) + " " + at.text();
    Answer sealed = work.all("seal " + what, [&](const warpseal_key* key) {
        Answer out{{}, at.memory};
        out.memory.resize(at.all + tag_bytes);
        out.statuses = {warpseal_seal_unsafe_iv(
            key, mode, iv.data(), iv.size(), aad.data(), aad.size(), out.memory.data() + at.in,
            out.memory.data() + at.out, at.bytes, out.memory.data() + at.all, tag_bytes)};
        return out;
    });
    Text tag(sealed.memory.end() - static_cast<ptrdiff_t>(tag_bytes), sealed.memory.end());
    if (random.one_in(3)) tag[random.below(tag_bytes)] ^= 1;
    work.all("open " + what, [&](const warpseal_key* key) {
        Answer out{{}, sealed.memory};
        std::copy_n(sealed.memory.begin() + static_cast<ptrdiff_t>(at.out), at.bytes,
                    out.memory.begin() + static_cast<ptrdiff_t>(at.in));
        out.statuses = {warpseal_open(key, mode, iv.data(), iv.size(), aad.data(), aad.size(),
                                      out.memory.data() + at.in, out.memory.data() + at.out,
                                      at.bytes, tag.data(), tag_bytes)};
        return out;
    });
}

// A batch in which each message has its length, its IV and, in half of the cases, its key.
void batch(const warpseal_cipher_info& cipher, warpseal_mode mode, Work& work, Random& random) {
    const size_t block = cipher.block_bytes, count = 1 + random.below(random.one_in(4) ? 70 : 12),
                 largest = random.length(random.one_in(4) ? 3000 : 300) / block * block;
    std::vector<uint64_t> lengths(count);
    for (uint64_t& length : lengths) {
        length = random.below(largest + 1);
        if (mode == WARPSEAL_CBC) length = length / block * block;
    }
    const bool tagged = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM, macs = mode == WARPSEAL_CMAC;
    warpseal_batch shape{};
    shape.struct_bytes = sizeof shape;
    shape.iv_bytes = static_cast<uint32_t>(macs ? 0 : tagged ? 12 : block);
    shape.tag_bytes = tagged ? 16 : macs ? static_cast<uint32_t>(block) : 0;
    shape.message_count = count;
    shape.message_bytes = largest;
    shape.lengths = random.one_in(2) ? lengths.data() : nullptr;
    shape.iv_stride = shape.iv_bytes;
    shape.aad_bytes = shape.aad_stride = tagged ? random.below(60) : 0;
    shape.in_stride = shape.out_stride = largest + random.below(40);
    shape.tag_stride = shape.tag_bytes;
    const Text keys = random.text(random.one_in(2) ? count * cipher.key_bytes : 0),
               ivs = random.text(count * shape.iv_stride + 1),
               aad = random.text(count * shape.aad_stride + 1),
               tags = random.text(count * shape.tag_stride + 1);
    const Places at(count * shape.in_stride, random);
    const auto encrypt = macs     ? warpseal_mac_batch
                         : tagged ? warpseal_seal_batch_unsafe_iv
                                  : warpseal_encrypt_batch;
    const auto decrypt = macs     ? warpseal_mac_verify_batch
                         : tagged ? warpseal_open_batch
                                  : warpseal_decrypt_batch;
    work.all("batch " + std::string(warpseal_mode_name(mode)) + " of " + std::to_string(count) +
                 ", " + at.text(),
             [&](const warpseal_key* key) {
                 Answer out{std::vector<int32_t>(2 * count, -1), at.memory};
                 Text made = tags;
                 warpseal_batch one = shape;
                 one.keys = keys.empty() ? nullptr : keys.data();
                 one.ivs = macs ? nullptr : ivs.data();
                 one.aad = shape.aad_bytes == 0 ? nullptr : aad.data();
                 one.in = out.memory.data() + at.in;
                 one.out = macs ? nullptr : out.memory.data() + at.out;
                 one.tags = shape.tag_bytes == 0 ? nullptr : made.data();
                 one.statuses = out.statuses.data();
                 const warpseal_status sealed = encrypt(key, mode, &one);
                 const Text after = out.memory;
                 if (shape.tag_bytes != 0) made[count / 2 * shape.tag_stride] ^= 1;
                 if (!macs) one.in = one.out;
                 one.statuses += count;
                 const warpseal_status opened = decrypt(key, mode, &one);
                 out.statuses.insert(out.statuses.begin(), {sealed, opened});
                 out.memory.insert(out.memory.end(), after.begin(), after.end());
                 out.memory.insert(out.memory.end(), made.begin(), made.end());
                 return out;
             });
}

struct FreeStream {
    void operator()(warpseal_internal_stream* one) const { warpseal_internal_stream_destroy(one); }
};

// A streaming context: updates of any size, some after a copy.
void stream(const warpseal_cipher_info& cipher, warpseal_mode mode, Work& work, Random& random) {
    const Places at(random.length(6000), random);
    const bool decrypts = random.one_in(2), gcm = mode == WARPSEAL_GCM;
    const size_t whole = mode == WARPSEAL_ECB || mode == WARPSEAL_CBC ? cipher.block_bytes : 1;
    const Text iv = random.text(mode == WARPSEAL_ECB ? 0
                                : gcm                ? 1 + random.below(40)
                                                     : size_t{cipher.block_bytes});
    const uint64_t cuts = random.next();
    work.all(
        "stream " + std::string(warpseal_mode_name(mode)) + " " + at.text(),
        [&](const warpseal_key* key) {
            Answer out{{}, at.memory};
            Random sizes(cuts);
            warpseal_internal_stream* made = nullptr;
            out.statuses = {warpseal_internal_stream_create(key, mode, decrypts, &made)};
            std::unique_ptr<warpseal_internal_stream, FreeStream> message(made);
            out.statuses.push_back(warpseal_internal_stream_init(made, iv.data(), iv.size()));
            for (size_t done = 0; done < at.bytes / whole * whole;) {
                const size_t n =
                    std::min(at.bytes / whole - done / whole, 1 + sizes.length(400)) * whole;
                if (sizes.one_in(8)) {
                    out.statuses.push_back(warpseal_internal_stream_copy(message.get(), &made));
                    message.reset(made);
                }
                out.statuses.push_back(
                    warpseal_internal_stream_update(message.get(), out.memory.data() + at.in + done,
                                                    out.memory.data() + at.out + done, n));
                done += n;
            }
            uint8_t end[16] = {};
            uint32_t used = 0;
            warpseal_internal_stream_position(message.get(), end, &used);
            out.memory.insert(out.memory.end(), end, end + cipher.block_bytes);
            if (gcm)
                out.statuses.push_back(
                    warpseal_internal_stream_tag(message.get(), end, sizeof end));
            out.memory.insert(out.memory.end(), end, end + sizeof end);
            out.statuses.push_back(static_cast<int32_t>(used));
            return out;
        });
}

void sequence(Random& random, Record& record) {
    static const std::vector<warpseal_cipher_info>& ciphers = *new auto(targets::ciphers());
    const warpseal_cipher_info& cipher = ciphers[random.below(ciphers.size())];
    std::vector<warpseal_mode> modes;
    for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
        if (targets::has(cipher, static_cast<warpseal_mode>(mode)))
            modes.push_back(static_cast<warpseal_mode>(mode));
    const warpseal_mode mode = modes[random.below(modes.size())];
    record.call(cipher.name);
    Work work(cipher, mode == WARPSEAL_XTS, random, record);
    for (size_t i = 0, count = 1 + random.below(4); i < count; ++i) {
        const bool tagged = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM;
        if (mode == WARPSEAL_XTS)
            xts(work, random);
        else if (mode != WARPSEAL_ECB && random.one_in(3))
            batch(cipher, mode, work, random);
        else if (mode != WARPSEAL_CCM && mode != WARPSEAL_CMAC && random.one_in(3))
            stream(cipher, mode, work, random);
        else if (mode == WARPSEAL_CMAC)
            mac(cipher, work, random);
        else if (tagged)
            sealed(mode, work, random);
        else if (mode == WARPSEAL_CBC && random.one_in(2))
            padded(cipher, work, random);
        else
            plain(cipher, mode, work, random);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (engines().names.size() < 2) {
        std::printf("NOT RUN: this machine has no CPU target besides portable\n");
        return 0;
    }
    return fuzz::run(argc, argv, sequence);
}
