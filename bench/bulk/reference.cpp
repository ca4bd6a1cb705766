// Slow, simple references: CTR, XTS, GCM and CCM over OpenSSL's ECB, for modes that OpenSSL lacks.
// Our own targets serve if OpenSSL lacks the cipher.
#include "bench/bulk/reference.h"

#include <algorithm>
#include <cstring>

#include "bench/bulk/openssl.h"
#include "bench/bulk/reference_output.h"
#include "cli/support/ciphers.h"

namespace warpseal::bench {
namespace {

// Bytes of keystream or of a data unit in one call of OpenSSL.
constexpr size_t at_once = 4096;

void add_big_endian(uint8_t* counter, size_t bytes, uint64_t count) {
    for (size_t i = bytes; i-- > 0 && count != 0; count >>= 8) {
        count += counter[i];
        counter[i] = static_cast<uint8_t>(count);
    }
}

void mix(uint8_t* out, const uint8_t* in, const uint8_t* stream, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) out[i] = in[i] ^ stream[i];
}

// ---- GHASH (SP 800-38D 6.4) with a table of 256 multiples for each byte of a block

class Ghash {
public:
    explicit Ghash(const uint8_t h[16]) : tables_(16 * 256) {
        Number power{load(h), load(h + 8)};
        // Bit 0 of GCM is the highest bit of the first byte.
        for (size_t bit = 0; bit < 128; ++bit) {
            Number* table = tables_.data() + bit / 8 * 256;
            const size_t value = size_t{0x80} >> bit % 8;
            for (size_t other = 0; other < 256; ++other)
                if (other & value)
                    table[other] = {table[other].high ^ power.high, table[other].low ^ power.low};
            const bool carry = (power.low & 1) != 0;
            power = {power.high >> 1 ^ (carry ? uint64_t{0xe1} << 56 : 0),
                     power.low >> 1 ^ power.high << 63};
        }
    }
    // Pads the last block with zeros.
    void add(const uint8_t* data, size_t bytes) {
        for (size_t done = 0; done < bytes; done += 16) {
            mix(sum_, sum_, data + done, std::min<size_t>(16, bytes - done));
            Number next{0, 0};
            for (size_t i = 0; i < 16; ++i) {
                const Number& entry = tables_[i * 256 + sum_[i]];
                next = {next.high ^ entry.high, next.low ^ entry.low};
            }
            for (size_t i = 0; i < 8; ++i) {
                sum_[i] = static_cast<uint8_t>(next.high >> (56 - 8 * i));
                sum_[8 + i] = static_cast<uint8_t>(next.low >> (56 - 8 * i));
            }
        }
    }
    void clear() { std::fill(sum_, sum_ + 16, uint8_t{0}); }
    const uint8_t* sum() const { return sum_; }

private:
    struct Number {
        uint64_t high, low;
    };
    static uint64_t load(const uint8_t* bytes) {
        uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
        return value;
    }
    std::vector<Number> tables_;
    uint8_t sum_[16] = {};
};

// ---- modes over OpenSSL's block cipher

class BlockByBlock : public Reference {
public:
    static std::unique_ptr<Reference> find(const BenchCase& what, const std::vector<uint8_t>& key) {
        const bool has_mode = what.mode == WARPSEAL_CTR || what.mode == WARPSEAL_XTS || what.aead();
        if (!has_mode || !find_openssl_ecb(what, key, true)) return nullptr;
        return std::unique_ptr<Reference>(new BlockByBlock(what, key));
    }
    bool set_key(const uint8_t* key) override {
        const std::vector<uint8_t> bytes(key, key + what_.key_bytes());
        forward_ = find_openssl_ecb(what_, bytes, true);
        backward_ = find_openssl_ecb(what_, bytes, false);
        if (what_.mode == WARPSEAL_XTS)
            tweak_ = find_openssl_ecb(what_, {bytes.begin() + what_.cipher.key_bytes, bytes.end()},
                                      true);
        if (what_.mode == WARPSEAL_GCM) {
            uint8_t h[16] = {};
            if (!ecb(*forward_, h, 16)) return false;
            ghash_.emplace(h);
        }
        return true;
    }
    bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
             uint8_t* tag) override {
        switch (what_.mode) {
            case WARPSEAL_CTR: return ctr(iv, in, out, bytes);
            case WARPSEAL_XTS: return xts(iv, in, out, bytes);
            case WARPSEAL_GCM: return gcm(iv, in, out, bytes, tag);
            default: return ccm(iv, in, out, bytes, tag);
        }
    }
    std::string name() const override {
        return "openssl " + forward_->cipher_name() + ", block by block";
    }

private:
    BlockByBlock(const BenchCase& what, const std::vector<uint8_t>& key) : what_(what) {
        set_key(key.data());
    }

    static bool ecb(OpenSsl& side, uint8_t* blocks, size_t bytes) {
        return side.run(nullptr, blocks, blocks, bytes, nullptr);
    }

    bool ctr(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes) {
        const size_t block = what_.cipher.block_bytes;
        uint8_t counter[16], stream[at_once];
        std::copy_n(iv, block, counter);
        for (size_t done = 0; done < bytes; done += at_once) {
            for (size_t at = 0; at < at_once; at += block) {
                std::copy_n(counter, block, stream + at);
                add_big_endian(counter, block, 1);
            }
            if (!ecb(*forward_, stream, at_once)) return false;
            mix(out + done, in + done, stream, std::min(at_once, bytes - done));
        }
        return true;
    }

    // IEEE 1619 5.3; the bench's units consist of whole blocks.
    bool xts(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes) {
        uint8_t unit[16];
        std::copy_n(iv, sizeof unit, unit);
        std::vector<uint8_t> tweaks(what_.unit_bytes);
        for (size_t done = 0; done < bytes; done += what_.unit_bytes) {
            const size_t length = std::min<size_t>(what_.unit_bytes, bytes - done);
            std::copy_n(unit, sizeof unit, tweaks.data());
            if (!ecb(*tweak_, tweaks.data(), sizeof unit)) return false;
            for (size_t at = 16; at < length; at += 16) {
                uint8_t carry = 0;
                for (size_t i = 0; i < 16; ++i) {
                    const uint8_t byte = tweaks[at - 16 + i];
                    tweaks[at + i] = static_cast<uint8_t>(byte << 1 | carry);
                    carry = byte >> 7;
                }
                if (carry) tweaks[at] ^= 0x87;
            }
            mix(out + done, in + done, tweaks.data(), length);
            if (!ecb(what_.encrypt ? *forward_ : *backward_, out + done, length)) return false;
            mix(out + done, out + done, tweaks.data(), length);
            for (size_t i = 0; i < sizeof unit && ++unit[i] == 0; ++i) {
            }
        }
        return true;
    }

    bool gcm(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag) {
        uint8_t counter[16] = {}, mask[16], lengths[16] = {};
        std::copy_n(iv, bench_nonce_bytes, counter);
        counter[15] = 1;
        std::copy_n(counter, 16, mask);
        add_big_endian(counter, 16, 1);
        for (size_t i = 0; i < 8; ++i) lengths[15 - i] = static_cast<uint8_t>(8 * bytes >> 8 * i);
        ghash_->clear();
        if (!what_.encrypt) ghash_->add(in, bytes);
        if (!ecb(*forward_, mask, 16) || !ctr(counter, in, out, bytes)) return false;
        if (what_.encrypt) ghash_->add(out, bytes);
        ghash_->add(lengths, 16);
        mix(mask, mask, ghash_->sum(), 16);
        return settle(mask, tag);
    }

    // SP 800-38C 6 and A.2 without associated data. A 12-byte nonce leaves 3 bytes for lengths and
    // counters.
    bool ccm(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* tag) {
        constexpr uint8_t length_bytes = 15 - bench_nonce_bytes;
        uint8_t sum[16] = {static_cast<uint8_t>(8 * ((16 - 2) / 2) + length_bytes - 1)},
                counter[16] = {length_bytes - 1}, mask[16];
        std::copy_n(iv, bench_nonce_bytes, sum + 1);
        std::copy_n(iv, bench_nonce_bytes, counter + 1);
        for (size_t i = 0; i < length_bytes; ++i)
            sum[15 - i] = static_cast<uint8_t>(bytes >> 8 * i);
        std::copy_n(counter, 16, mask);
        add_big_endian(counter, 16, 1);
        std::vector<uint8_t> text;
        if (what_.encrypt) text.assign(in, in + bytes);
        if (!ecb(*forward_, mask, 16) || !ctr(counter, in, out, bytes)) return false;
        if (!what_.encrypt) text.assign(out, out + bytes);
        if (!ecb(*forward_, sum, 16)) return false;
        for (size_t done = 0; done < bytes; done += 16) {
            mix(sum, sum, text.data() + done, std::min<size_t>(16, bytes - done));
            if (!ecb(*forward_, sum, 16)) return false;
        }
        mix(sum, sum, mask, 16);
        return settle(sum, tag);
    }

    bool settle(const uint8_t* computed, uint8_t* tag) const {
        if (!what_.encrypt) return std::equal(computed, computed + 16, tag);
        std::copy_n(computed, 16, tag);
        return true;
    }

    const BenchCase what_;
    std::unique_ptr<OpenSsl> forward_, backward_, tweak_;
    std::optional<Ghash> ghash_;
};

// ---- another of our targets

class AnotherTarget : public Reference {
public:
    // Uses the first target that works.
    AnotherTarget(const BenchCase& what, const std::vector<uint8_t>& key,
                  const std::vector<std::string>& targets)
        : what_(what) {
        warpseal_engine_options options{};
        options.struct_bytes = sizeof options;
        options.threads = 1;
        for (const std::string& target : targets) {
            options.device = target.c_str();
            warpseal_engine* engine = nullptr;
            if (warpseal_engine_create(&options, &engine) != WARPSEAL_OK) continue;
            engine_.reset(engine);
            target_ = target;
            if (set_key(key.data())) return;
        }
        throw BenchWrong("OpenSSL has no " + std::string(what.cipher.name) +
                         ", and no other target has: there is nothing to compare with");
    }
    bool set_key(const uint8_t* key) override {
        warpseal_key* made = nullptr;
        const auto create =
            what_.mode == WARPSEAL_XTS ? warpseal_key_create_xts : warpseal_key_create;
        const bool good =
            create(engine_.get(), what_.cipher.name, key, what_.key_bytes(), &made) == WARPSEAL_OK;
        key_.reset(made);
        return good;
    }
    bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
             uint8_t* tag) override {
        return bench_call_one(what_, key_.get(), iv, in, out, bytes, tag) == WARPSEAL_OK;
    }
    std::string name() const override { return target_; }

private:
    const BenchCase what_;
    cli::EngineHandle engine_;
    BenchKey key_;
    std::string target_;
};

std::vector<std::string> core_targets_but(const std::string& device) {
    std::vector<std::string> names;
    for (const warpseal_target_info& target : cli::all_targets())
        if (target.usable && target.name != device && std::string(target.name) != "cuda")
            names.emplace_back(target.name);
    return names;
}

}  // namespace

size_t bench_iv_bytes(const BenchCase& what) {
    if (what.mode == WARPSEAL_ECB || what.mac()) return 0;
    return what.aead()                 ? bench_nonce_bytes
           : what.mode == WARPSEAL_XTS ? 16
                                       : what.cipher.block_bytes;
}

std::unique_ptr<Reference> make_reference(const BenchCase& what, const std::vector<uint8_t>& key,
                                          const std::string& device) {
    if (std::unique_ptr<Reference> openssl = OpenSsl::find(what, key)) return openssl;
    if (std::unique_ptr<Reference> slow = BlockByBlock::find(what, key)) return slow;
    return std::make_unique<AnotherTarget>(what, key, core_targets_but(device));
}

std::unique_ptr<Reference> make_quick_reference(const BenchCase& what,
                                                const std::vector<uint8_t>& key) {
    std::vector<std::string> targets = core_targets_but("");
    std::reverse(targets.begin(), targets.end());  // The list starts with the slowest target.
    return std::make_unique<AnotherTarget>(what, key, targets);
}

}  // namespace warpseal::bench
