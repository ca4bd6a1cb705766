// Device code compiled for the host: table representations over each layout, counters, and GHASH,
// equal to the reference.
#include "support/device_on_host.h"

#include <gtest/gtest.h>

#pragma GCC diagnostic push  // nvcc ignores these
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "backends/cuda/device/access.cuh"
#include "backends/cuda/device/ghash_field.cuh"
#include "backends/cuda/device/tables.cuh"
#include "backends/cuda/kernels/ghash_tensor.cuh"
#pragma GCC diagnostic pop

#include "core/bitsliced_byte.h"
#include "every_cipher.h"
#include "macs/ghash.h"
#include "modes/ctr.h"
#include "modes/gcm.h"
#include "reference/gcm.h"
#include "reference/modes.h"
#include "support/random.h"

namespace {

using namespace warpseal;
using reference::Text;

constexpr int cases = 500;

// The simplest layout behind the same constructor as the shared-memory ones.
template <class Tables>
struct Plain : ArrayLayout<Tables> {
    static constexpr uint32_t bytes = 0;
    explicit Plain(unsigned char*) : ArrayLayout<Tables>{cuda::stored_tables<Tables>} {}
};

// Lookups are not inlined: a cipher's code is then short, and a layout's lookup is compiled once
// for all key sizes.
template <class Layout>
struct Called {
    Layout layout;
    template <int table, int byte>
    [[gnu::noinline]] uint32_t lookup(uint32_t word) const {
        return layout.template lookup<table, byte>(word);
    }
};

template <class Cipher>
struct DecryptTablesOf {
    using type = typename Cipher::EncryptTables;
};
template <class Cipher>
requires requires { typename Cipher::DecryptTables; }
struct DecryptTablesOf<Cipher> {
    using type = typename Cipher::DecryptTables;
};

template <class Cipher>
[[gnu::noinline]] void expand(uint32_t (&forward)[Cipher::schedule_words],
                              uint32_t (&inverse)[Cipher::schedule_words], const uint8_t* key) {
    Cipher::expand(forward, key, WordSubstitution{});
    Cipher::invert(inverse, forward);
}

// One cipher through one layout, by lane `lane` of a block whose `threads` threads filled the
// layout's memory together.
template <class Cipher, template <class> class Layout>
class OneBlock {
public:
    using EncryptTables = typename Cipher::EncryptTables;
    using DecryptTables = typename DecryptTablesOf<Cipher>::type;

    explicit OneBlock(const Text& key)
        : shared_(std::max<size_t>(Layout<EncryptTables>::bytes, Layout<DecryptTables>::bytes) +
                  16) {
        expand<Cipher>(forward_, inverse_, key.data());
    }
    template <class Tables>
    void fill(uint32_t threads) {
        blockDim.x = threads;
        std::fill(shared_.begin(), shared_.end(), static_cast<unsigned char>(0xa5));
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) Layout<Tables>{memory()};
    }
    Text encrypt(const Text& in, uint32_t lane_number) {
        uint32_t s[words];
        std::memcpy(s, in.data(), sizeof s);
        Cipher::encrypt(s, forward_, lane<EncryptTables>(lane_number));
        return Text(reinterpret_cast<uint8_t*>(s), reinterpret_cast<uint8_t*>(s) + sizeof s);
    }
    Text decrypt(const Text& in, uint32_t lane_number) {
        uint32_t s[words];
        std::memcpy(s, in.data(), sizeof s);
        if constexpr (requires { typename Cipher::DecryptTables; })
            Cipher::decrypt(s, inverse_, lane<DecryptTables>(lane_number));
        else
            Cipher::encrypt(s, inverse_, lane<DecryptTables>(lane_number));
        return Text(reinterpret_cast<uint8_t*>(s), reinterpret_cast<uint8_t*>(s) + sizeof s);
    }

private:
    static constexpr int words = Cipher::block_bytes / 4;
    template <class Tables>
    Called<Layout<Tables>> lane(
        uint32_t lane) {  // a layout as that thread sees it, without filling again
        blockDim.x = 1u << 30;
        threadIdx.x = lane;
        return {Layout<Tables>{memory()}};
    }
    unsigned char* memory() {
        const auto address = reinterpret_cast<uintptr_t>(shared_.data());
        return shared_.data() + (16 - address % 16) % 16;
    }
    uint32_t forward_[Cipher::schedule_words], inverse_[Cipher::schedule_words];
    std::vector<unsigned char> shared_;
};

template <class Cipher, template <class> class Layout>
void table_representation(uint64_t number) {
    tests::Random random(number);
    for (int key_number = 0; key_number < 4; ++key_number) {
        const Text key = random.text(Cipher::key_bytes);
        const auto reference_cipher = reference::cipher(Cipher::name, key);
        OneBlock<Cipher, Plain> plain(
            key);  // replaces a reference that tests/reference does not have
        OneBlock<Cipher, Layout> block(key);
        using Block = OneBlock<Cipher, Layout>;
        block.template fill<typename Block::EncryptTables>(key_number % 2 == 0 ? 1024 : 96);
        std::vector<Text> in, out;
        for (int i = 0; i < cases; ++i) {
            const auto lane = static_cast<uint32_t>(i) % 1024;
            in.push_back(random.text(Cipher::block_bytes));
            out.push_back(reference_cipher != nullptr
                              ? reference::ecb_encrypt(*reference_cipher, in.back())
                              : plain.encrypt(in.back(), 0));
            ASSERT_EQ(block.encrypt(in.back(), lane), out.back())
                << Cipher::name << " lane " << lane;
        }
        block.template fill<typename Block::DecryptTables>(key_number % 2 == 0 ? 1024 : 96);
        for (size_t i = 0; i < cases; ++i)
            ASSERT_EQ(block.decrypt(out[i], static_cast<uint32_t>(i)), in[i])
                << Cipher::name << " lane " << i;
    }
}

TEST(DeviceCode, TablesInEveryLayout) {
    warpseal::for_each_cipher([]<class Cipher>(warpseal::CipherType<Cipher>) {
        if constexpr (requires { typename Cipher::EncryptTables; }) {
            table_representation<Cipher, Plain>(41);
            table_representation<Cipher, cuda::WideLayout>(42);
            table_representation<Cipher, cuda::MergedLayout>(43);
        }
    });
}

// Two blocks at a time, and precomputed early rounds of counters, give the same output as one block
// alone.
TEST(DeviceCode, BlockPairsAndCounters) {
    int pairs = 0, counting = 0;
    warpseal::for_each_cipher([&]<class Cipher>(warpseal::CipherType<Cipher>) {
        if constexpr (requires { typename Cipher::EncryptTables; }) {
            tests::Random random(45);
            constexpr int n = Cipher::block_bytes / 4;
            const Called<Plain<typename Cipher::EncryptTables>> tables{
                Plain<typename Cipher::EncryptTables>(nullptr)};
            using DecryptTables = typename DecryptTablesOf<Cipher>::type;
            const Called<Plain<DecryptTables>> inverse_tables{Plain<DecryptTables>(nullptr)};
            for (int i = 0; i < cases; ++i) {
                uint32_t k[Cipher::schedule_words], inverse[Cipher::schedule_words], s[4][4] = {};
                expand<Cipher>(k, inverse, random.text(Cipher::key_bytes).data());
                for (int w = 0; w < 16; ++w) s[w / 4][w % 4] = static_cast<uint32_t>(random.next());
                const auto block = [&](int b) -> uint32_t(&)[n] {
                    return reinterpret_cast<uint32_t(&)[n]>(s[b]);
                };
                const auto equal = [&](int a, int b) { return std::equal(s[a], s[a] + n, s[b]); };
                if constexpr (requires { Cipher::encrypt(block(0), block(1), k, tables); }) {
                    ++pairs;
                    std::copy(s[0], s[2], s[2]);
                    Cipher::encrypt(block(0), block(1), k, tables);
                    Cipher::encrypt(block(2), k, tables);
                    Cipher::encrypt(block(3), k, tables);
                    ASSERT_TRUE(equal(0, 2) && equal(1, 3)) << Cipher::name;
                    Cipher::decrypt(block(0), block(1), inverse, inverse_tables);
                    Cipher::decrypt(block(2), inverse, inverse_tables);
                    Cipher::decrypt(block(3), inverse, inverse_tables);
                    ASSERT_TRUE(equal(0, 2) && equal(1, 3)) << Cipher::name;
                }
                if constexpr (requires { Cipher::counting_words; }) {
                    ++counting;
                    uint32_t last[Cipher::counting_words], next[Cipher::counting_words];
                    std::copy(s[0], s[1], s[1]);
                    std::copy(s[0], s[1], s[2]);
                    s[1][3] ^= static_cast<uint32_t>(random.below(256))
                               << 16;  // for any other byte
                    s[2][3] ^= static_cast<uint32_t>(random.below(256)) << 24;
                    Cipher::count_last(last, block(1), k, tables);
                    Cipher::count_next(next, block(2), k, tables);
                    for (int w = 0; w < Cipher::counting_words; ++w) last[w] ^= next[w];
                    Cipher::encrypt(block(0), k, tables);
                    if constexpr (requires { Cipher::encrypt_counting(last, next, k, tables); }) {
                        std::copy(last, last + Cipher::counting_words, next);
                        Cipher::encrypt_counting(last, next, k, tables);
                        ASSERT_TRUE(std::equal(s[0], s[1], next)) << Cipher::name;
                    } else {
                        Cipher::encrypt_counting(last, k, tables);
                    }
                    ASSERT_TRUE(std::equal(s[0], s[1], last)) << Cipher::name;
                }
            }
        }
    });
    EXPECT_GE(pairs, 3 * cases);
    EXPECT_GE(counting, 9 * cases);
}

// The host's lookups, which read every entry, equal plain ones.
TEST(DeviceCode, ScansEqualLookups) {
    warpseal::for_each_cipher([]<class Cipher>(warpseal::CipherType<Cipher>) {
        if constexpr (requires { typename Cipher::EncryptTables; }) {
            using Tables = typename Cipher::EncryptTables;
            const cuda::ScanLayout<Tables> scan{cuda::stored_tables<Tables>};
            const ArrayLayout<Tables> plain{cuda::stored_tables<Tables>};
            for (uint32_t x = 0; x < cuda::entries_of<Tables>(); ++x) {
                ASSERT_EQ((scan.template lookup<0, 0>(x)), (plain.template lookup<0, 0>(x)));
                ASSERT_EQ((scan.template lookup<1, 3>(x << 24)),
                          (plain.template lookup<1, 3>(x << 24)));
            }
        }
    });
}

// The modes' counter blocks and tweaks against the reference, one block at a time as a GPU thread
// computes them.
TEST(DeviceCode, Modes) {
    tests::Random random(44);
    const auto reference_cipher = reference::cipher("aes-128", random.text(16));
    for (int i = 0; i < cases; ++i) {
        const Text iv = random.counter(64), text = random.text(16);
        const uint64_t n = random.next() >> (1 + random.below(63));
        const Block<4> iv_block = load_block<4>(iv.data()), data = load_block<4>(text.data());
        const auto keystream = [&](Block<4> mask, const Block<4>& in) {
            Text block(16);
            store_block<4>(block.data(), mask);
            reference_cipher->encrypt(block.data());
            return modes::Ctr::after(in, mask, load_block<4>(block.data()));
        };
        Text out(16);
        store_block<4>(out.data(),
                       keystream(modes::Ctr::before(data, modes::Ctr::mask(iv_block, n)), data));
        ASSERT_EQ(out, reference::ctr(*reference_cipher, iv, text, n)) << "block " << n;

        Text padded(16 * 40);  // GCM's counter: 32 bits, from J0 + 1
        std::copy(text.begin(), text.end(), padded.end() - 16);
        const Text gcm = reference::gcm_decrypt_from(*reference_cipher, iv, padded);
        store_block<4>(out.data(), keystream(modes::Gcm::mask(iv_block, 39), data));
        ASSERT_EQ(out, Text(gcm.end() - 16, gcm.end()));
        Text far(16);
        store_block<4>(far.data(), modes::Gcm::mask(iv_block, 39 + (uint64_t{1} << 32)));
        store_block<4>(out.data(), modes::Gcm::mask(iv_block, 39));
        ASSERT_EQ(far, out);
    }
}

template <class Word>
void ghash_text(uint64_t number) {
    using macs::ghash::Element;
    tests::Random random(number);
    const auto element = [](const Text& text) {
        return macs::ghash::from_block<Word>(load_block<4>(text.data()));
    };
    const auto text = [](const Element<Word>& e) {
        Text out(16);
        store_block<4>(out.data(), macs::ghash::to_block(e));
        return out;
    };
    for (int i = 0; i < cases; ++i) {
        const auto reference_cipher = reference::cipher("aes-128", random.text(16));
        Text h(16, 0);
        reference_cipher->encrypt(h.data());
        const Text sum = random.text(16), block = i % 3 == 0 ? Text(16, 0xff) : random.text(16),
                   zero(16, 0);
        ASSERT_EQ(text(element(sum)), sum);
        ASSERT_EQ(text(absorb(element(sum), element(h), element(block))),
                  reference::gcm_ghash(*reference_cipher, block, sum));
        const size_t n = 1 + random.below(40);
        Text expected = reference::gcm_ghash(*reference_cipher, Text(16 * n, 0), sum);
        for (size_t b = 0; b < 16; ++b) expected[b] = static_cast<uint8_t>(expected[b] ^ block[b]);
        ASSERT_EQ(text(combine(element(sum), power(element(h), n), element(block))), expected) << n;
    }
    ASSERT_EQ(load_block<4>(Text{0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 2, 0, 0, 0, 16}.data()).word[0],
              macs::ghash::length_block(0x20000001, 0x40000002).word[0]);
}

TEST(DeviceCode, GhashOf32BitWords) { ghash_text<uint32_t>(45); }
TEST(DeviceCode, GhashOf64BitWords) { ghash_text<uint64_t>(46); }

// The GPU's own GF(2^128) multiplication, whose integer sums come closest to overflow where many
// bits are set.
TEST(DeviceCode, GhashByAPreparedMultiplier) {
    tests::Random random(47);
    const auto element = [](const Text& text) {
        return macs::ghash::from_block<uint32_t>(load_block<4>(text.data()));
    };
    for (int i = 0; i < 20 * cases; ++i) {
        Text a = random.text(16), b = random.text(16);
        if (i % 4 != 0)
            for (size_t j = 0; j < 16; ++j) {
                a[j] = static_cast<uint8_t>(a[j] | random.next() | random.next());
                b[j] = static_cast<uint8_t>(b[j] | random.next() | random.next());
            }
        if (i % 16 == 1) a.assign(16, 0xff);
        if (i % 32 == 1) b.assign(16, 0xff);
        const cuda::Element product = cuda::multiply(element(a), cuda::multiplier(element(b)));
        const cuda::Element expected = macs::ghash::multiply(element(a), element(b));
        for (int w = 0; w < 4; ++w) ASSERT_EQ(product.word[w], expected.word[w]) << "case " << i;
    }
}

// The matrix for GHASH on tensor cores, and the assignment of lanes' words to its bits: counts as
// computed by the cores, fragment by fragment.
class Matrices {
public:
    explicit Matrices(const cuda::Element& h) {
        for (int step = 0; step < cuda::image::steps; ++step)
            for (int half = 0; half < 2; ++half)
                for (int t = 0; t < 4; ++t) {
                    cuda::Element power = cuda::image::monomial(0);
                    for (uint32_t i = 0; i < cuda::image::exponent(step, t); ++i)
                        power = macs::ghash::multiply(power, h);
                    for (int bit = 0; bit < 32; ++bit) {
                        const Block<4> row = cuda::image::row(power, step, half, t, bit);
                        for (int column = 0; column < 128; ++column)
                            words_[cuda::image::word_at(step, half, t, column)] |=
                                cuda::image::bit_of_column(row, column) << bit;
                    }
                }
    }
    // PTX ISA: lane t of a quad holds bits from 32 t of a row, and those 128 further; d[2 j + e] is
    // its count of column 8 j + 2 t + e.
    void strip(Block<4> (&sum)[2], const Block<4>* blocks) const {
        Block<4> next[2] = {};
        for (int row = 0; row < 2; ++row)
            for (int column = 0; column < 128; ++column) {
                int ones = 0;
                for (int step = 0; step < cuda::image::steps; ++step)
                    for (int t = 0; t < 4; ++t)
                        for (int half = 0; half < 2; ++half) {
                            uint32_t a = half == 0 ? sum[row].word[t] : 0;
                            if (step != cuda::image::sum_step)
                                a = blocks[4 * step + t].word[2 * half + row];
                            ones += __builtin_popcount(
                                a & words_[cuda::image::word_at(step, half, t, column)]);
                        }
                const int j = column / 8, t = column % 8 / 2, e = column % 2;
                next[row].word[t] |= static_cast<uint32_t>(ones & 1) << (2 * j + e);
            }
        sum[0] = next[0], sum[1] = next[1];
    }

private:
    uint32_t words_[cuda::image::bytes / 4] = {};
};

TEST(DeviceCode, GhashByMatrices) {
    tests::Random random(49);
    const auto element = [](const Text& text) {
        return macs::ghash::from_block<uint32_t>(load_block<4>(text.data()));
    };
    for (int i = 0; i < 12; ++i) {
        Text key = i < 2 ? Text(16, i == 0 ? 0x00 : 0xff) : random.text(16);
        if (i == 2) key = Text(16, 0), key[0] = 0x80;
        const cuda::Element h = element(key);
        const Matrices matrices(h);
        Block<4> sum[2] = {};
        cuda::Element expected;
        for (int strip = 0; strip < 3; ++strip) {
            Block<4> blocks[cuda::strip_blocks];
            for (Block<4>& block : blocks) {
                const Text text = i % 4 == 1 ? Text(16, 0xff) : random.text(16);
                block = load_block<4>(text.data());
                expected = macs::ghash::multiply(expected, h) ^ element(text);
            }
            matrices.strip(sum, blocks);
        }
        const cuda::Element got = macs::ghash::from_block<uint32_t>(sum[0]) ^
                                  cuda::times_x32(macs::ghash::from_block<uint32_t>(sum[1]));
        for (int w = 0; w < 4; ++w) ASSERT_EQ(got.word[w], expected.word[w]) << "case " << i;
    }
}

// Blocks in and out at every width and length: no access outside.
TEST(DeviceCode, PartialBlocks) {
    tests::Random random(48);
    for (uint32_t bytes = 0; bytes <= 16; ++bytes)
        for (uint32_t shift = 0; shift < 16; ++shift) {
            alignas(16) uint8_t in[48], out[48];
            random.fill(in, sizeof in);
            std::memset(out, 0xa5, sizeof out);
            const uint32_t width = cuda::common_width(in + shift, out + shift);
            ASSERT_EQ(shift % width, 0u);
            const Block<4> block = cuda::load_partial<4>(in + shift, bytes, width);
            uint8_t whole[16];
            store_block<4>(whole, block);
            for (uint32_t i = 0; i < 16; ++i) ASSERT_EQ(whole[i], i < bytes ? in[shift + i] : 0);
            cuda::store_partial(out + shift, block, bytes, width);
            for (uint32_t i = 0; i < 48; ++i)
                ASSERT_EQ(out[i], i >= shift && i < shift + bytes ? in[i] : 0xa5);
            store_block<4>(whole, cuda::first_bytes(load_block<4>(in), bytes));
            for (uint32_t i = 0; i < 16; ++i) ASSERT_EQ(whole[i], i < bytes ? in[i] : 0);
        }
    EXPECT_EQ(cuda::bytes_in_block<4>(33, 2), 1u);
    EXPECT_EQ(cuda::bytes_in_block<4>(32, 1), 16u);
    EXPECT_EQ(cuda::bytes_in_block<4>(31, 1), 15u);
}

}  // namespace
