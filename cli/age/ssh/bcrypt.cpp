// bcrypt_pbkdf over Blowfish (B. Schneier, 1993) with the expensive key schedule of N. Provos and
// D. Mazières, 1999. Its table lookups depend on the passphrase, as in every bcrypt.
#include "cli/age/ssh/bcrypt.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

namespace warpseal::cli::age {
namespace {

constexpr size_t round_keys = 18, box_count = 4, box_words = 256;
constexpr size_t state_words = round_keys + box_count * box_words;

// Number in fixed point: a whole word, the words of the fraction, and two for errors of rounding.
using Fixed = std::vector<uint32_t>;
constexpr size_t guard_words = 2, fixed_words = 1 + state_words + guard_words;

// Divides from word `first` on, before which all are 0. Returns the first word that is not.
size_t divide(Fixed& number, uint32_t divisor, size_t first) {
    uint64_t rest = 0;
    for (size_t i = first; i < number.size(); ++i) {
        rest = rest << 32 | number[i];
        number[i] = static_cast<uint32_t>(rest / divisor);
        rest %= divisor;
    }
    while (first < number.size() && number[first] == 0) ++first;
    return first;
}

void add(Fixed& to, const Fixed& number, bool negative) {
    int64_t carry = 0;
    for (size_t i = to.size(); i-- > 0;) {
        carry += int64_t{to[i]} + (negative ? -int64_t{number[i]} : int64_t{number[i]});
        to[i] = static_cast<uint32_t>(carry);
        carry >>= 32;
    }
}

// Adds factor * arctan(1 / x), by its power series.
void add_arctan(Fixed& to, uint32_t factor, uint32_t x, bool negative) {
    Fixed power(fixed_words);
    power[0] = factor;
    size_t first = divide(power, x, 0);
    for (uint32_t n = 1; first < fixed_words; n += 2) {
        Fixed term = power;
        (void)divide(term, n, first);
        add(to, term, negative != (n % 4 == 3));
        first = divide(power, x * x, first);
    }
}

// The first words of the fraction of pi, from which every Blowfish begins: by Machin's formula,
// pi = 16 arctan(1/5) - 4 arctan(1/239).
const Fixed& pi_fraction() {
    static const Fixed words = [] {
        Fixed pi(fixed_words);
        add_arctan(pi, 16, 5, false);
        add_arctan(pi, 4, 239, true);
        return Fixed(pi.begin() + 1, pi.begin() + 1 + state_words);
    }();
    return words;
}

// The words of a byte string, again and again.
class Words {
public:
    explicit Words(View bytes) : bytes_(bytes) {}
    uint32_t next() {
        uint32_t word = 0;
        for (int i = 0; i < 4; ++i) {
            word = word << 8 | bytes_[at_];
            at_ = (at_ + 1) % bytes_.size();
        }
        return word;
    }

private:
    const View bytes_;
    size_t at_ = 0;
};

class Blowfish {
public:
    Blowfish() { std::copy(pi_fraction().begin(), pi_fraction().end(), words_); }
    ~Blowfish() { sodium_memzero(words_, sizeof words_); }
    Blowfish(const Blowfish&) = delete;
    Blowfish& operator=(const Blowfish&) = delete;

    // `salt` is empty, or goes into each block.
    void expand(View salt, View key) {
        Words key_words(key), salt_words(salt);
        for (size_t i = 0; i < round_keys; ++i) words_[i] ^= key_words.next();
        uint32_t left = 0, right = 0;
        for (size_t i = 0; i < state_words; i += 2) {
            if (!salt.empty()) {
                left ^= salt_words.next();
                right ^= salt_words.next();
            }
            encrypt(left, right);
            words_[i] = left;
            words_[i + 1] = right;
        }
    }
    void encrypt(uint32_t& left, uint32_t& right) const {
        uint32_t l = left ^ words_[0], r = right;
        for (size_t i = 1; i < round_keys - 1; i += 2) {
            r ^= f(l) ^ words_[i];
            l ^= f(r) ^ words_[i + 1];
        }
        left = r ^ words_[round_keys - 1];
        right = l;
    }

private:
    uint32_t f(uint32_t x) const {
        const uint32_t* const boxes = words_ + round_keys;
        return ((boxes[x >> 24] + boxes[box_words + (x >> 16 & 255)]) ^
                boxes[2 * box_words + (x >> 8 & 255)]) +
               boxes[3 * box_words + (x & 255)];
    }

    uint32_t words_[state_words];
};

constexpr size_t block_bytes = 32;
constexpr unsigned repetitions = 64;
constexpr std::string_view block_text = "OxychromaticBlowfishSwatDynamite";
static_assert(block_text.size() == block_bytes);

// 32 bytes from two digests.
Secret hash(View passphrase_digest, View salt_digest) {
    Blowfish cipher;
    cipher.expand(salt_digest, passphrase_digest);
    for (unsigned i = 0; i < repetitions; ++i) {
        cipher.expand({}, salt_digest);
        cipher.expand({}, passphrase_digest);
    }
    Words text(view(block_text));
    Secret out(block_bytes);
    for (size_t at = 0; at < block_bytes; at += 8) {
        uint32_t halves[] = {text.next(), text.next()};
        for (unsigned i = 0; i < repetitions; ++i) cipher.encrypt(halves[0], halves[1]);
        for (size_t i = 0; i < 8; ++i)  // little-endian
            out[at + i] = static_cast<uint8_t>(halves[i / 4] >> 8 * (i % 4));
        sodium_memzero(halves, sizeof halves);
    }
    return out;
}

Secret digest_of(View bytes) {
    Secret digest(crypto_hash_sha512_BYTES);
    crypto_hash_sha512(digest.data(), bytes.data(), bytes.size());
    return digest;
}

// Block `number` of the output, from 1 on.
Secret derive_block(View passphrase_digest, View salt, uint32_t rounds, uint32_t number,
                    const std::function<void()>& between) {
    Secret numbered(salt.begin(), salt.end());
    for (int shift = 24; shift >= 0; shift -= 8)
        numbered.push_back(static_cast<uint8_t>(number >> shift));
    between();
    Secret last = hash(passphrase_digest, digest_of(numbered));
    Secret out = last;
    for (uint32_t round = 1; round < rounds; ++round) {
        between();
        last = hash(passphrase_digest, digest_of(last));
        for (size_t i = 0; i < block_bytes; ++i) out[i] ^= last[i];
    }
    return out;
}

}  // namespace

Secret bcrypt_pbkdf(View passphrase, View salt, uint32_t rounds, size_t bytes,
                    const std::function<void()>& between) {
    const Secret passphrase_digest = digest_of(passphrase);
    const size_t blocks = (bytes + block_bytes - 1) / block_bytes;
    Secret key(bytes);
    for (size_t block = 0; block < blocks; ++block) {
        const Secret part = derive_block(passphrase_digest, salt, rounds,
                                         static_cast<uint32_t>(block + 1), between);
        // The bytes of the blocks take turns.
        for (size_t i = 0; i < block_bytes && i * blocks + block < bytes; ++i)
            key[i * blocks + block] = part[i];
    }
    return key;
}

}  // namespace warpseal::cli::age
