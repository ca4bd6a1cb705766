// Tests of the self-test: it accepts every target of this machine, and refuses every path with any
// broken function.
#include "engine/self_test/self_test.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "engine/fake_cores.h"
#include "engine/limits.h"
#include "engine/pattern.h"
#include "engine/targets.h"
#include "support/contiguous_batch.h"
#include "support/fake_backend.h"

namespace {

using namespace warpseal;
using tests::Break;
using tests::Text;

constexpr warpseal_mode all_modes[] = {WARPSEAL_ECB, WARPSEAL_CTR, WARPSEAL_GCM,
                                       WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB,
                                       WARPSEAL_XTS, WARPSEAL_CCM, WARPSEAL_CMAC};

// ---- accepted and refused paths

TEST(SelfTest, EveryTargetOfThisMachinePasses) {
    for (const Target target : cpu_targets_best_first) {
        if (!cpu_has(target)) continue;
        for (size_t i = 0; const CpuCipher* portable = cpu_cipher_at(i); ++i) {
            const CpuCipher* test_case = cpu_cipher(target, portable->name);
            ASSERT_NE(test_case, nullptr);
            for (const warpseal_mode mode : all_modes)
                for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                    if ((test_case->modes >> mode & 1) == 0) continue;
                    EXPECT_EQ(test_cores(*test_case, mode, direction), WARPSEAL_OK)
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
        for (const warpseal_mode mode :
             {WARPSEAL_ECB, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_OFB, WARPSEAL_CTR})
            for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
                mode_under_test = mode, direction_under_test = direction;
                EXPECT_EQ(test_loops(*under_test, *intact, mode, direction), WARPSEAL_OK);
                const CpuBlockLoops::Blocks broken[] = {broken_loop<0>, broken_loop<1>,
                                                        broken_loop<2>, broken_loop<3>};
                for (size_t fault = 0; fault < std::size(broken); ++fault) {
                    if (fault == 1 && mode == WARPSEAL_ECB) continue;
                    CpuBlockLoops loops = *intact;
                    loops.blocks[mode][static_cast<int>(direction)] = broken[fault];
                    EXPECT_EQ(test_loops(*under_test, loops, mode, direction),
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
    const Text secret = tests::pattern(64, 1), iv = tests::pattern(16, 2),
               in = tests::pattern(4096, 3);
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

TEST(SelfTest, ABrokenPortableTargetClosesItselfAlone) {
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

// No mode is tested with another one: only the broken mode is closed.
TEST(SelfTest, ABrokenModeClosesItselfAlone) {
    Notices notices;
    warpseal_status status = WARPSEAL_OK;
    tests::break_cores(Target::portable, Break::sweep, WARPSEAL_ECB, Direction::encrypt);
    for (const warpseal_mode mode :
         {WARPSEAL_CTR, WARPSEAL_GCM, WARPSEAL_CBC, WARPSEAL_CFB, WARPSEAL_CCM})
        EXPECT_FALSE(use(*engine_on("portable", notices), mode, Direction::encrypt, status).empty())
            << warpseal_mode_name(mode);
    EXPECT_TRUE(notices.texts.empty());
    EXPECT_TRUE(
        use(*engine_on("portable", notices), WARPSEAL_ECB, Direction::encrypt, status).empty());
    EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
}

TEST(SelfTest, ATargetThatFailsThePublishedExampleIsRefused) {
    for (const warpseal_mode mode : {WARPSEAL_ECB, WARPSEAL_GCM}) {
        Notices notices;
        warpseal_status status = WARPSEAL_OK;
        tests::break_all_cores(Break::known_answer, WARPSEAL_ECB, Direction::encrypt);
        EXPECT_TRUE(use(*engine_on("auto", notices), mode, Direction::encrypt, status).empty());
        EXPECT_EQ(status, WARPSEAL_SELF_TEST_FAILED);
    }
}

const CpuCipher* unknown_cipher(Target target, const char* name) {
    static const CpuCipher unknown = [] {
        CpuCipher made = *cpu_cipher(Target::portable, "aes-256");
        made.name = "unknown-256";
        return made;
    }();
    return target == Target::portable && std::strcmp(name, unknown.name) == 0 ? &unknown : nullptr;
}

TEST(SelfTest, ACipherWithoutDigestsIsRefusedAndTheNoticeNamesTheCommand) {
    Notices notices;
    EngineOptions options;
    options.notice = [&](const char* text) { notices.add(text); };
    options.cuda = nullptr;
    options.cores = unknown_cipher;
    std::unique_ptr<Engine> engine;
    ASSERT_EQ(Engine::create(options, engine), WARPSEAL_OK);
    EXPECT_STREQ(engine->pick("unknown-256", WARPSEAL_CTR, 4096), "");
    ASSERT_EQ(notices.texts.size(), 1u);
    EXPECT_NE(notices.texts[0].find("scripts/self-test-digests"), std::string::npos)
        << notices.texts[0];
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
    const KnownAnswer& known = cpu_cipher(Target::portable, "aes-256")->known;
    tests::Script good, bad;
    bad.wrong_host = bad.wrong_device = bit;
    bad.wrong_batches_only = batches_only;
    const GpuBackend* backend = tests::fake_backend(good);
    const CudaCipher& cipher = *backend->cipher("aes-256");
    EXPECT_EQ(test_through_gpu(*backend, 0, cipher, known, mode, direction), WARPSEAL_OK);
    EXPECT_EQ(test_device_memory(*backend, 0, cipher, known, mode, direction), WARPSEAL_OK);
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
