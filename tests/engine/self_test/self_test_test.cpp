// Tests of the self-test: its reference outputs equal the standards', and it refuses every path
// with any broken function.
#include "engine/self_test/self_test.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "engine/fake_cores.h"
#include "engine/limits.h"
#include "engine/self_test/reference_output.h"
#include "engine/targets.h"
#include "support/contiguous_batch.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using reference_output::Text;
using tests::Break;

Text bytes_of(const std::string& hex) {
    Text bytes;
    for (size_t i = 0; i < hex.size(); i += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return bytes;
}

constexpr warpseal_mode all_modes[] = {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_GCM,
                                       WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB,
                                       WARPSEAL_XTS, WARPSEAL_CCM, WARPSEAL_CMAC};

// ---- reference outputs

TEST(ReferenceOutput, CtrOfSp80038aF5) {
    const Text key = bytes_of("2b7e151628aed2a6abf7158809cf4f3c");
    const reference_output::Blocks blocks(*cpu_cipher(Target::portable, "aes-128"), key.data());
    const Text plaintext =
        bytes_of("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
    const Text stream = reference_output::keystream(
        blocks, bytes_of("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"), 16, plaintext.size());
    EXPECT_EQ(reference_output::xor_bytes(plaintext, stream),
              bytes_of("874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"));
}

TEST(ReferenceOutput, TheCounterWrapsAtItsWidth) {
    const Text key(16, 7);
    const reference_output::Blocks blocks(*cpu_cipher(Target::portable, "aes-128"), key.data());
    const Text full = reference_output::keystream(blocks, Text(16, 0xff), 16, 32),
               low = reference_output::keystream(blocks, Text(16, 0xff), 4, 32);
    Text zero(16), low_zero(16, 0xff);
    for (int i = 12; i < 16; ++i) low_zero[i] = 0;
    EXPECT_EQ(Text(full.begin() + 16, full.end()), reference_output::ecb(blocks, zero));
    EXPECT_EQ(Text(low.begin() + 16, low.end()), reference_output::ecb(blocks, low_zero));
}

// Test cases 4, 5 and 6 of the GCM submission (McGrew and Viega): IVs of 96, 64 and 480 bits.
TEST(ReferenceOutput, TagsOfTheGcmSubmission) {
    const Text key = bytes_of("feffe9928665731c6d6a8f9467308308");
    const reference_output::Blocks blocks(*cpu_cipher(Target::portable, "aes-128"), key.data());
    const Text plaintext = bytes_of(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449"
        "a6b525b16aedf5aa0de657ba637b39");
    const Text aad = bytes_of("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    const struct {
        const char *iv, *tag;
    } cases[] = {{"cafebabefacedbaddecaf888", "5bc94fbc3221a5db94fae95ae7121a47"},
                 {"cafebabefacedbad", "3612d2e79e3b0785561be14aaca2fccb"},
                 {"9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539"
                  "fcf0e2429a6b525416aedbf5a0de6a57a637b39b",
                  "619cc5aefffe0bfa462af43c1699d050"}};
    for (const auto& c : cases) {
        Text first = reference_output::counter0(blocks, bytes_of(c.iv));
        for (int i = 15; i >= 12 && ++first[i] == 0; --i) {
        }
        const Text ciphertext = reference_output::xor_bytes(
            plaintext, reference_output::keystream(blocks, first, 4, plaintext.size()));
        EXPECT_EQ(reference_output::tag(blocks, bytes_of(c.iv), aad, ciphertext), bytes_of(c.tag))
            << c.iv;
    }
}

// SP 800-38A F.2.1, F.3.13 from its second segment, and F.4.1.
TEST(ReferenceOutput, FeedbackModesOfSp80038a) {
    const Text key = bytes_of("2b7e151628aed2a6abf7158809cf4f3c"),
               iv = bytes_of("000102030405060708090a0b0c0d0e0f");
    const reference_output::Blocks blocks(*cpu_cipher(Target::portable, "aes-128"), key.data());
    const Text plaintext =
        bytes_of("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
    EXPECT_EQ(reference_output::cbc(blocks, iv, plaintext),
              bytes_of("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"));
    EXPECT_EQ(reference_output::cfb(
                  blocks, bytes_of("3b3fd92eb72dad20333449f8e83cfb4a"),
                  bytes_of("ae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef")),
              bytes_of("c8a64537a0b3a93fcde3cdad9f1ce58b26751f67a3cbb140b1808cf187a4f4df"));
    EXPECT_EQ(reference_output::ofb(blocks, iv, plaintext),
              bytes_of("3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825"));
}

// IEEE 1619 annex B: vectors 2, 15 and 17.
TEST(ReferenceOutput, XtsOfIeee1619) {
    const Text data = bytes_of("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0"),
               fixed = bytes_of("22222222222222222222222222222222"),
               other = bytes_of("bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0");
    const CpuCipher& aes = *cpu_cipher(Target::portable, "aes-128");
    const reference_output::Blocks blocks(aes, data.data());
    EXPECT_EQ(
        reference_output::xts(blocks, reference_output::Blocks(aes, fixed.data()),
                              bytes_of("33333333330000000000000000000000"), 32, Text(32, 0x44)),
        bytes_of("af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89"));
    const Text number = bytes_of("9a785634120000000000000000000000");
    const reference_output::Blocks tweak(aes, other.data());
    EXPECT_EQ(reference_output::xts(blocks, tweak, number, 18,
                                    bytes_of("000102030405060708090a0b0c0d0e0f1011")),
              bytes_of("d069444b7a7e0cab09e24447d24deb1fedbf"));
    EXPECT_EQ(reference_output::xts(blocks, tweak, number, 4096,
                                    bytes_of("000102030405060708090a0b0c0d0e0f10111213")),
              bytes_of("9d84c813f719aa2c7be3f66171c7c5c2edbf9dac"));
}

// SP 800-38B D.1, RFC 3610 packet vectors 5 and 6.
TEST(ReferenceOutput, CmacAndCcm) {
    const CpuCipher& aes = *cpu_cipher(Target::portable, "aes-128");
    const reference_output::Blocks mac(aes, bytes_of("2b7e151628aed2a6abf7158809cf4f3c").data());
    const Text text = bytes_of(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a"
        "0a52eff69f2445df4f9b17ad2b417be66c3710");
    EXPECT_EQ(reference_output::cmac(mac, Text(text.begin(), text.begin() + 40)),
              bytes_of("dfa66747de9ae63030ca32611497c827"));
    EXPECT_EQ(reference_output::cmac(mac, text), bytes_of("51f0bebf7e3b9d92fc49741779363cfe"));
    const reference_output::Blocks ccm(aes, bytes_of("c0c1c2c3c4c5c6c7c8c9cacbcccdcecf").data());
    EXPECT_EQ(reference_output::ccm(
                  ccm, bytes_of("00000005040302a0a1a2a3a4a5"), bytes_of("0001020304050607"),
                  bytes_of("08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"), 8),
              bytes_of("51b1e5f44a197d1da46b0f8e2d282ae871e838bb64da8596574adaa76fbd9fb0c5"));
    EXPECT_EQ(reference_output::ccm(ccm, bytes_of("00000006050403a0a1a2a3a4a5"),
                                    bytes_of("000102030405060708090a0b"),
                                    bytes_of("0c0d0e0f101112131415161718191a1b1c1d1e"), 8),
              bytes_of("a28c6865939a9a79faaa5c4c2a9d4a91cdac8c96c861b9c9e61ef1"));
}

// ---- accepted and refused paths

TEST(SelfTest, EveryTargetOfThisMachinePasses) {
    for (const Target target : cpu_targets_best_first) {
        if (!cpu_has(target)) continue;
        for (size_t i = 0; const CpuCipher* reference = cpu_cipher_at(i); ++i) {
            const CpuCipher* test_case = cpu_cipher(target, reference->name);
            ASSERT_NE(test_case, nullptr);
            EXPECT_TRUE(gives_known_answer(*test_case)) << test_case->name;
            for (const warpseal_mode mode : all_modes)
                for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                    if ((test_case->modes >> mode & 1) == 0) continue;
                    EXPECT_EQ(test_cores(*test_case, *reference, mode, direction), WARPSEAL_OK)
                        << target_name(target) << " " << test_case->name << " "
                        << warpseal_mode_name(mode);
                }
        }
    }
}

const CpuCipher* under_test = nullptr;
warpseal_mode mode_under_test;
Direction direction_under_test;
template <int fault>
void broken_loop(const void* state, uint8_t* feedback, const uint8_t* in, uint8_t* out,
                 size_t bytes) {
    uint8_t before[16];
    std::memcpy(before, feedback, 16);
    cpu_block_loops(*under_test)
        ->blocks[mode_under_test][static_cast<int>(direction_under_test)](state, feedback, in, out,
                                                                          bytes);
    if (fault == 0) out[bytes - 1] ^= 1;                       // of every segment
    if (fault == 1) std::memcpy(feedback, before, 16);         // as if each were the first
    if (fault == 2 && bytes == 48) out[40] ^= 1;               // of one length
    if (fault == 3 && in != out && bytes > 512) out[16] ^= 1;  // of long ones, out of place
}

// Wrong outputs, or right outputs with a wrong state for the next segment.
TEST(SelfTest, RefusesABrokenLoop) {
    size_t refused = 0;
    for (const Target target : cpu_targets_best_first) {
        under_test = cpu_has(target) ? cpu_cipher(target, "aes-192") : nullptr;
        const CpuBlockLoops* const intact =
            under_test == nullptr ? nullptr : cpu_block_loops(*under_test);
        if (intact == nullptr) continue;
        const CpuCipher& reference = *cpu_cipher(Target::portable, "aes-192");
        for (const warpseal_mode mode :
             {WARPSEAL_ECB, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CTR})
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                mode_under_test = mode, direction_under_test = direction;
                EXPECT_EQ(test_loops(*under_test, *intact, reference, mode, direction),
                          WARPSEAL_OK);
                const CpuBlockLoops::Blocks broken[] = {broken_loop<0>, broken_loop<1>,
                                                        broken_loop<2>, broken_loop<3>};
                for (size_t fault = 0; fault < std::size(broken); ++fault) {
                    if (fault == 1 && mode == WARPSEAL_ECB) continue;
                    CpuBlockLoops loops = *intact;
                    loops.blocks[mode][static_cast<int>(direction)] = broken[fault];
                    EXPECT_EQ(test_loops(*under_test, loops, reference, mode, direction),
                              WARPSEAL_SELF_TEST_FAILED)
                        << target_name(target) << " " << warpseal_mode_name(mode) << " " << fault;
                    ++refused;
                }
            }
    }
    EXPECT_EQ(refused != 0, cpu_has(Target::aesni));
}

bool concerns(Break what, warpseal_mode mode, Direction direction) {
    const bool batches = mode != WARPSEAL_ECB && mode != WARPSEAL_XTS;
    switch (what) {
        case Break::expand: return true;
        case Break::sweep: return sweeps(mode, direction);
        case Break::xts: return mode == WARPSEAL_XTS;
        case Break::batch_text: return batches && mode != WARPSEAL_CMAC;
        case Break::batch_count: return batches;
        case Break::batch_tag: return tagged(mode);
        default: return mode == WARPSEAL_GCM;
    }
}

struct Notices {
    std::vector<std::string> texts;
    void add(const char* text) { texts.emplace_back(text); }
};

std::unique_ptr<Engine> engine_on(const char* device, Notices& notices) {
    EngineOptions options;
    options.device = device;
    options.threads = 2;
    options.notice = [&notices](const char* text) { notices.add(text); };
    options.cuda = nullptr;
    options.cores = tests::machine_cipher;
    options.cores_have = tests::machine_has;
    std::unique_ptr<Engine> engine;
    EXPECT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    return engine;
}

// Runs a message long enough to show every break. Returns its output, or nothing if it was refused.
Text use(Engine& engine, warpseal_mode mode, Direction direction, warpseal_status& status) {
    const Text secret = reference_output::pattern(64, 1), iv = reference_output::pattern(16, 2),
               in = reference_output::pattern(4096, 3);
    std::unique_ptr<Key> key;
    const bool xts = mode == WARPSEAL_XTS;
    EXPECT_EQ(engine.key("aes-256", {secret.data(), xts ? size_t{64} : 32}, key,
                         xts ? KeyKind::xts : KeyKind::one),
              WARPSEAL_OK);
    Text out(in.size());
    uint8_t tag[16] = {};
    if (aead(mode) && direction == Direction::encrypt)
        status =
            engine.seal(*key, mode, {iv.data(), 12}, {}, in.data(), out.data(), in.size(), tag, 16);
    else if (aead(mode))
        status =
            engine.open(*key, mode, {iv.data(), 12}, {}, in.data(), out.data(), in.size(), tag, 16);
    else if (mode == WARPSEAL_CMAC)
        status = engine.mac(*key, mode, direction, {in.data(), in.size()}, tag, 16);
    else if (xts)
        status = engine.xts(*key, direction, {{1}, 1000}, in.data(), out.data(), in.size());
    else
        status = engine.message(*key, mode, direction,
                                {iv.data(), mode == WARPSEAL_ECB ? size_t{0} : 16}, in.data(),
                                out.data(), in.size());
    out.insert(out.end(), tag, tag + 16);
    return status == WARPSEAL_SELF_TEST_FAILED ? Text() : out;
}

// Returns true if both directions use the broken function, which closes both.
bool shared(Break what) {
    return what == Break::expand || what == Break::gcm_begin || what == Break::gcm_combine ||
           what == Break::gcm_finish;
}

std::vector<std::tuple<Break, warpseal_mode, Direction>> all_breaks() {
    std::vector<std::tuple<Break, warpseal_mode, Direction>> all;
    for (const Break what : tests::breaks)
        for (const warpseal_mode mode : all_modes)
            for (const Direction direction : {Direction::encrypt, Direction::decrypt})
                if (concerns(what, mode, direction)) all.emplace_back(what, mode, direction);
    return all;
}

class EachBreak : public testing::TestWithParam<std::tuple<Break, warpseal_mode, Direction>> {};

TEST_P(EachBreak, IsRefusedReportedOnceAndReplaced) {
    const auto [what, mode, direction] = GetParam();
    Notices notices;
    warpseal_status status = WARPSEAL_OK, intact = WARPSEAL_OK;
    tests::mend_cores();
    const Text expected = use(*engine_on("auto", notices), mode, direction, intact);
    ASSERT_TRUE(notices.texts.empty());

    tests::break_cores(Target::vaes512, what, mode, direction);
    EXPECT_EQ(use(*engine_on("auto", notices), mode, direction, status), expected);
    EXPECT_EQ(status, intact);
    ASSERT_EQ(notices.texts.size(), 1u);
    EXPECT_EQ(notices.texts[0].rfind("vaes512 failed its self-test in aes-256-", 0), 0u)
        << notices.texts[0];
    const bool encryption_closed = direction == Direction::encrypt || shared(what);
    EXPECT_STREQ(engine_on("auto", notices)->pick("aes-256", mode, 4096),
                 encryption_closed ? "vaes256" : "vaes512");

    // Every engine refuses it by name from now on, and does not report it again.
    const size_t said = notices.texts.size();
    EXPECT_TRUE(use(*engine_on("vaes512", notices), mode, direction, status).empty());
    EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
    EXPECT_TRUE(use(*engine_on("vaes512", notices), mode, direction, status).empty());
    EXPECT_EQ(use(*engine_on("vaes256", notices), mode, direction, status), expected);
    EXPECT_EQ(notices.texts.size(), said);
}

TEST_P(EachBreak, WithoutAnyTargetTheCallFails) {
    const auto [what, mode, direction] = GetParam();
    Notices notices;
    warpseal_status status = WARPSEAL_OK;
    tests::break_all_cores(what, mode, direction);
    EXPECT_TRUE(use(*engine_on("auto", notices), mode, direction, status).empty());
    EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
    EXPECT_EQ(notices.texts.size(), size_t{cpu_target_count});  // one for each target
}

INSTANTIATE_TEST_SUITE_P(All, EachBreak, testing::ValuesIn(all_breaks()));

TEST(SelfTest, ABrokenReferenceClosesItselfAlone) {
    Notices notices;
    warpseal_status status = WARPSEAL_OK;
    tests::break_cores(Target::portable, Break::expand, WARPSEAL_ECB, Direction::encrypt);
    EXPECT_FALSE(
        use(*engine_on("auto", notices), WARPSEAL_CTR, Direction::encrypt, status).empty());
    EXPECT_TRUE(notices.texts.empty());
    EXPECT_TRUE(
        use(*engine_on("portable", notices), WARPSEAL_CTR, Direction::encrypt, status).empty());
    EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
}

// The reference falls back to single blocks: only the broken mode of the reference is closed.
TEST(SelfTest, AReferenceThatIsWrongInLongCallsGivesSingleBlocks) {
    Notices notices;
    warpseal_status status = WARPSEAL_OK;
    tests::break_cores(Target::portable, Break::sweep, WARPSEAL_ECB, Direction::encrypt);
    for (const char* device : {"auto", "portable"})
        for (const warpseal_mode mode :
             {WARPSEAL_CTR, WARPSEAL_GCM, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_CCM})
            EXPECT_FALSE(use(*engine_on(device, notices), mode, Direction::encrypt, status).empty())
                << device << " " << warpseal_mode_name(mode);
    EXPECT_FALSE(
        use(*engine_on("auto", notices), WARPSEAL_ECB, Direction::encrypt, status).empty());
    EXPECT_TRUE(notices.texts.empty());
    EXPECT_TRUE(
        use(*engine_on("portable", notices), WARPSEAL_ECB, Direction::encrypt, status).empty());
    EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
}

TEST(SelfTest, ATargetThatFailsPublishedVectorsIsNoReference) {
    Notices notices;
    warpseal_status status = WARPSEAL_OK;
    tests::break_all_cores(Break::known_answer, WARPSEAL_ECB, Direction::encrypt);
    EXPECT_TRUE(use(*engine_on("auto", notices), WARPSEAL_ECB, Direction::encrypt, status).empty());
    EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
}

// KEM coins are drawn by self-tested AES or not at all.
TEST(SelfTest, CoinsAreNotDrawnByABrokenCipher) {
    Notices notices;
    tests::break_all_cores(Break::sweep, WARPSEAL_ECB, Direction::encrypt);
    const auto engine = engine_on("auto", notices);
    const kem::Params& set = kem::ntruhps2048509;
    const auto draw = [](void* out, size_t bytes) { return std::memset(out, 5, bytes) != nullptr; };
    Text publics(set.public_key_bytes(), 0xa5), secrets(set.secret_key_bytes(), 0xa5),
        coins(set.keypair_coins(), 0x17);
    warpseal_kem_batch batch = tests::contiguous_batch(set, 1);
    batch.public_keys = publics.data();
    batch.secret_keys = secrets.data();
    EXPECT_EQ(engine->kem(KemOperation::keypair, set.name, batch, draw), WARPSEAL_SELF_TEST_FAILED);
    EXPECT_EQ(publics, Text(publics.size(), 0xa5));
    EXPECT_EQ(secrets, Text(secrets.size(), 0xa5));
    batch.coins = coins.data();
    batch.coins_stride = coins.size();
    EXPECT_EQ(engine->kem(KemOperation::keypair, set.name, batch, draw), WARPSEAL_OK);
}

// ---- the GPU's paths

class EachGpuBreak : public testing::TestWithParam<std::tuple<warpseal_mode, Direction, bool>> {};

TEST_P(EachGpuBreak, IsRefused) {
    const auto [mode, direction, batches_only] = GetParam();
    const uint32_t bit = 1u << (2 * mode + static_cast<int>(direction));
    const CpuCipher& reference = *cpu_cipher(Target::portable, "aes-256");
    tests::Script good, bad;
    bad.wrong_host = bad.wrong_device = bit;
    bad.wrong_batches_only = batches_only;
    const GpuBackend* backend = tests::fake_backend(good);
    const CudaCipher& cipher = *backend->cipher("aes-256");
    EXPECT_EQ(test_through_gpu(*backend, 0, cipher, reference, mode, direction), WARPSEAL_OK);
    EXPECT_EQ(test_device_memory(*backend, 0, cipher, reference, mode, direction), WARPSEAL_OK);
    EXPECT_EQ(tests::script().live_device_allocations, 0u);

    Notices notices;
    EngineOptions options;
    options.notice = [&](const char* text) { notices.add(text); };
    options.cuda = tests::fake_backend(bad);
    options.device = "cuda";
    std::unique_ptr<Engine> named;
    ASSERT_EQ(Engine::create(options, named), WARPSEAL_OK);
    warpseal_status status = WARPSEAL_OK;
    EXPECT_TRUE(use(*named, mode, direction, status).empty());
    EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
    EXPECT_LE(notices.texts.size(), 2u);  // through host memory, and on device memory
    EXPECT_EQ(notices.texts.at(0).rfind("cuda failed its self-test in aes-256-", 0), 0u)
        << notices.texts[0];

    // auto, on a machine where the GPU would pay: the cores compute, and the output is right.
    options.device = "auto";
    options.cores_have = tests::portable_alone;
    std::unique_ptr<Engine> automatic;
    ASSERT_EQ(Engine::create(options, automatic), WARPSEAL_OK);
    const Text out = use(*automatic, mode, direction, status);
    EXPECT_NE(status, WARPSEAL_SELF_TEST_FAILED);
    EXPECT_FALSE(out.empty());
}

std::vector<std::tuple<warpseal_mode, Direction, bool>> all_gpu_breaks() {
    std::vector<std::tuple<warpseal_mode, Direction, bool>> all;
    for (const warpseal_mode mode : all_modes)
        for (const Direction direction : {Direction::encrypt, Direction::decrypt})
            for (const bool batches_only : {false, true})
                if ((mode != WARPSEAL_ECB && mode != WARPSEAL_XTS) || !batches_only)
                    all.emplace_back(mode, direction, batches_only);
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, EachGpuBreak, testing::ValuesIn(all_gpu_breaks()));

}  // namespace
