// Modes without a tag in segments of all short lengths, while padding, direction, key and context
// change between them: each call equals OpenSSL's. Segments of whole blocks have a path of their
// own through the provider, which must be closed while a partial block is buffered.
#include "cipher.h"

namespace {

using namespace tests;

constexpr size_t lengths[] = {0, 1, 15, 16, 17, 32, 48, 63, 64, 65, 80, 128, 512, 528, 1040};
constexpr size_t capacity = 2048;

// One context of ours and one of OpenSSL's, with the same calls.
class Both {
public:
    Both(const std::string& name, Random& random)
        : name_(name),
          random_(random),
          mine_(our_cipher(name)),
          other_(stock_cipher(name)),
          ours_(mine_.get()),
          theirs_(other_.get()) {}

    void begin(bool new_key) {
        if (new_key) key_ = random_.text(key_bytes(mine_));
        const Bytes iv = random_.text(16);
        const bool encrypt = random_.one_in(2);
        for (Evp* evp : {&ours_, &theirs_}) ASSERT_TRUE(evp->init(encrypt, key_.data(), iv.data()));
    }
    // Restarts the message, with the IV that it had.
    void again() {
        for (Evp* evp : {&ours_, &theirs_}) ASSERT_TRUE(evp->more(nullptr, nullptr));
    }
    void pad(bool on) {
        for (Evp* evp : {&ours_, &theirs_}) ASSERT_TRUE(evp->pad(on));
    }
    // Continues with clones; the originals are not affected.
    void copy() {
        Evp ours(ours_), theirs(theirs_);
        for (int i = 0; i < 3; ++i) segment(ours, theirs);
    }
    void segment() { segment(ours_, theirs_); }
    void end() {
        Bytes mine(capacity), other(capacity);
        size_t n = 0, m = 0;
        const bool done = ours_.final(mine.data(), &n);
        ASSERT_EQ(done, theirs_.final(other.data(), &m));
        ASSERT_EQ(n, m);
        ASSERT_EQ(mine, other);
        begin(false);
    }

private:
    void segment(Evp& ours, Evp& theirs) {
        const size_t bytes = lengths[random_.below(std::size(lengths))], at = random_.below(17);
        const Bytes in = random_.text(bytes);
        const bool in_place = random_.one_in(2);
        Bytes mine(capacity), other(capacity);
        size_t n = 0, m = 0;
        std::copy(in.begin(), in.end(), mine.begin() + static_cast<ptrdiff_t>(at));
        std::copy(in.begin(), in.end(), other.begin() + static_cast<ptrdiff_t>(at));
        const bool done =
            ours.update(in_place ? mine.data() + at : in.data(), bytes, mine.data() + at, &n);
        // OpenSSL refuses in-place calls while it buffers part of a block; ours accepts them, with
        // the same output.
        ASSERT_TRUE(theirs.update(in.data(), bytes, other.data() + at, &m));
        ASSERT_TRUE(done) << name_ << " " << bytes;
        ASSERT_EQ(n, m) << name_ << " " << bytes;
        ASSERT_TRUE(
            std::equal(mine.begin(), mine.begin() + static_cast<ptrdiff_t>(at + n), other.begin()))
            << name_ << " " << bytes << (in_place ? " in place" : "");
    }

    const std::string name_;
    Random& random_;
    const Cipher mine_, other_;
    Evp ours_, theirs_;
    Bytes key_;
};

TEST(CipherSegments, EqualOpenSslWhateverChangesBetweenThem) {
    Random random(11);
    for (const char* name :
         {"AES-128-CBC", "AES-192-CBC", "AES-256-CBC", "AES-128-ECB", "AES-192-ECB", "AES-256-ECB",
          "AES-128-CTR", "AES-192-CTR", "AES-256-CTR", "AES-128-CFB", "AES-256-CFB", "AES-128-OFB",
          "AES-256-OFB", "ARIA-128-CBC", "ARIA-256-CTR"}) {
        Both both(name, random);
        both.begin(true);
        for (int i = 0; i < 3000 && !testing::Test::HasFatalFailure(); ++i)
            switch (random.below(20)) {
                case 0: both.begin(random.one_in(2)); break;
                case 1: both.again(); break;
                case 2: both.pad(true); break;
                case 3:
                case 4: both.pad(false); break;
                case 5: both.copy(); break;
                case 6: both.end(); break;
                default: both.segment();
            }
    }
    ERR_clear_error();
}

// No call writes out of bounds, nor reads input that it has overwritten.
TEST(CipherSegments, OfWholeBlocksOverlapWithoutHarm) {
    Random random(12);
    int overlaps = 0;
    for (const bool encrypt : {true, false})
        for (const size_t bytes : {16u, 48u, 64u, 128u, 512u})
            for (const int shift :
                 {-513, -512, -65, -64, -63, -16, -1, 0, 1, 16, 63, 64, 65, 511, 512}) {
                const Bytes key = random.text(16), iv = random.text(16), text = random.text(bytes);
                const Cipher mine = our_cipher("AES-128-CBC");
                Evp apart(mine.get()), over(mine.get());
                Bytes expected(bytes), first(16), memory(2048);
                size_t n = 0;
                for (Evp* evp : {&apart, &over}) {
                    ASSERT_TRUE(evp->init(encrypt, key.data(), iv.data()) && evp->pad(false));
                    ASSERT_TRUE(evp->update(text.data(), 16, first.data(),
                                            &n));  // the message is in progress
                }
                ASSERT_TRUE(apart.update(text.data(), bytes, expected.data(), &n));
                uint8_t *const in = memory.data() + 700, *const out = in + shift;
                std::copy(text.begin(), text.end(), in);
                if (!over.update(in, bytes, out, &n)) continue;  // libcrypto itself refuses some
                ASSERT_EQ(n, bytes);
                ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out))
                    << bytes << " " << shift;
                overlaps += shift != 0 && static_cast<size_t>(std::abs(shift)) < bytes;
            }
    EXPECT_NE(overlaps, 0);
    ERR_clear_error();
}

// A block held back for padding that is then switched off: only a call with an output buffer
// releases it.
TEST(CipherSegments, ABlockHeldForPaddingThatIsSwitchedOff) {
    const Cipher mine = our_cipher("AES-128-CBC");
    const Bytes key(16, 1), iv(16, 2), text(16, 3);
    Bytes out(64);
    size_t n = 0;
    Evp evp(mine.get());
    ASSERT_TRUE(evp.init(false, key.data(), iv.data()) &&
                evp.update(text.data(), 16, out.data(), &n));
    ASSERT_EQ(n, 0u);
    ASSERT_TRUE(evp.pad(false));
    EXPECT_FALSE(evp.update(nullptr, 0, nullptr, &n));
    EXPECT_TRUE(evp.update(nullptr, 0, out.data(), &n));
    EXPECT_EQ(n, 16u);
    ERR_clear_error();
}

}  // namespace
