// Constant time by timing, for targets that valgrind cannot run: every backend entry of every
// cipher and of every set of NTRU, with secrets (keys, texts, coins) that are all zero and with
// random ones. Planted leaks must reach |t| = 50, or the test is blind.
//
//   warpseal-dudect TARGET [TIMINGS] [--list | --only CASE] [--placed PROGRAM]...
//
// TIMINGS of each test case, by default a million. --list prints the test cases, a line each;
// --only measures one of them, so that cores can split them: tests/timing/million. --placed: the
// same program with its code at other addresses, which measures a suspected leak again.
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "backends/cipher_backend.h"
#include "engine/targets.h"
#include "timing/dudect.h"

namespace {

using dudect::dearer;
using dudect::expect_constant;
using dudect::expect_leak;
using dudect::more;
using dudect::report;
using dudect::timings;
using timing::Work;
using warpseal::CpuCipher;
using warpseal::direction_count;
using Text = std::vector<uint8_t>;

constexpr double limit = 4.5, planted_at_least = 50;
constexpr size_t keys_capacity =
    64;  // offset of texts: after a key and a tweak key of up to 32 bytes each
constexpr int confirmations = 3;  // maximum measurements after the first

// Returns two tiles of the widest representation and one block: bitsliced ones take 512 blocks of
// 64 bits, pairs of vectors 128 of 128.
size_t many_blocks(const CpuCipher& cipher) {
    return cipher.block_bytes == 8 ? 2 * 512 + 1 : 2 * 128 + 1;
}

bool only_names = false;
std::string only;  // empty: all
std::vector<std::string> placed;
int passed = 0, failed = 0, of_placement = 0;
double greatest = 0;  // |t| of the test cases, by the last measurement of each

std::string figure(double t) {
    char text[32];
    std::snprintf(text, sizeof text, " %+.1f", t);
    return text;
}

// Measures a test case with the program `placed`. Returns t, or 0 if that finds no leak.
double t_placed(const std::string& program, const std::string& target, const std::string& what) {
    const std::string command =
        "'" + program + "' " + target + " " + std::to_string(timings) + " --only '" + what + "'";
    FILE* const output = popen(command.c_str(), "r");
    if (output == nullptr) return std::numeric_limits<double>::quiet_NaN();
    double t = std::numeric_limits<double>::quiet_NaN();  // it measured nothing
    for (char line[256]; std::fgets(line, sizeof line, output) != nullptr;)
        if (const char* const at = std::strstr(line, " t ="); at != nullptr)
            t = std::strncmp(line, "LEAK", 4) == 0 ? std::strtod(at + 4, nullptr) : 0;
    (void)pclose(output);
    return t;
}

class TestCases {
public:
    TestCases(const char* target, const CpuCipher& cipher) : target_(target), cipher_(cipher) {}

    void all() {
        judge("expansion of a key", 0, 1, {},
              [this](const uint8_t* in) { cipher_.expand(state_.get(), in); });
        for (int mode = 0; mode < WARPSEAL_MODE_COUNT; ++mode)
            for (int d = 0; d < direction_count; ++d) {
                if (cipher_.batch[mode][d] != nullptr) {
                    batch(mode, d, 2, 2, true);
                    // The blocks that fill tiles: those of one message, or in serial modes messages
                    // in parallel.
                    const bool within_one =
                        cipher_.sweep[mode][d] != nullptr || mode == WARPSEAL_GCM;
                    batch(mode, d, within_one ? 1 : many_, within_one ? many_ : 1, false);
                }
                for (const size_t blocks : {size_t{1}, many_}) {
                    if (cipher_.sweep[mode][d] != nullptr) sweep(mode, d, blocks);
                    if (mode == WARPSEAL_XTS && cipher_.xts[d] != nullptr) xts(d, blocks);
                    if (mode == WARPSEAL_GCM && cipher_.gcm_segment[d] != nullptr) gcm(d, blocks);
                }
            }
    }

private:
    struct State {
        explicit State(const CpuCipher& cipher) : memory(cipher.state_bytes + 64) {}
        void* get() {
            return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 *
                                           64);
        }
        Text memory;
    };
    using Step = std::function<void(const uint8_t* in)>;

    // A state under the key of the class is made before the clock starts: its expansion is a
    // test case of its own.
    void judge(const std::string& what, size_t text_bytes, size_t blocks, Step prepare,
               const Step& timed) {
        if (!prepare) prepare = [](const uint8_t*) {};
        expect_constant(std::string(target_) + " " + cipher_.name + " " + what,
                        {keys_capacity + text_bytes, prepare, timed},
                        blocks < many_ ? timings : timings / dearer);
    }
    Step keyed() {
        return [this](const uint8_t* in) {
            cipher_.expand(state_.get(), in);
            if (cipher_.xts[0] != nullptr) cipher_.expand(tweak_.get(), in + cipher_.key_bytes);
        };
    }
    static std::string call(int mode, int d, size_t blocks) {
        return std::string(warpseal_mode_name(static_cast<warpseal_mode>(mode))) +
               (d == 0 ? " encryption, " : " decryption, ") + std::to_string(blocks) +
               (blocks == 1 ? " block" : " blocks");
    }

    void sweep(int mode, int d, size_t blocks) {
        const size_t bytes = blocks * cipher_.block_bytes;
        judge(call(mode, d, blocks), bytes, blocks, keyed(), [=, this](const uint8_t* in) {
            cipher_.sweep[mode][d](state_.get(), mode == WARPSEAL_ECB ? nullptr : iv_, 0,
                                   in + keys_capacity, out_.data(), bytes);
        });
    }

    void xts(int d, size_t blocks) {
        judge(call(WARPSEAL_XTS, d, blocks), 16 * blocks, blocks, keyed(),
              [=, this](const uint8_t* in) {
                  const warpseal::XtsUnits units{{5}, 512};
                  cipher_.xts[d](state_.get(), tweak_.get(), units, in + keys_capacity, out_.data(),
                                 16 * blocks);
              });
    }

    void gcm(int d, size_t blocks) {
        judge(call(WARPSEAL_GCM, d, blocks), 16 * blocks, blocks, keyed(),
              [=, this](const uint8_t* in) {
                  warpseal::GcmState run, segment{};
                  cipher_.gcm_begin(state_.get(), iv_, 12, iv_, 5, &run);
                  std::memcpy(segment.counter0, run.counter0, sizeof segment.counter0);
                  cipher_.gcm_segment[d](state_.get(), &segment, 0, in + keys_capacity, out_.data(),
                                         16 * blocks);
                  cipher_.gcm_combine(state_.get(), run.sum, segment.sum, blocks);
                  cipher_.gcm_finish(state_.get(), &run, 5, 16 * blocks, tags_.data());
              });
    }

    // Tags to verify are zero, so messages of both classes fail: the result, which is public, is
    // the same.
    void batch(int mode, int d, size_t messages, size_t blocks, bool own_keys) {
        const bool aead = mode == WARPSEAL_GCM || mode == WARPSEAL_CCM, mac = mode == WARPSEAL_CMAC;
        const size_t bytes = blocks * cipher_.block_bytes,
                     keys_bytes = own_keys ? messages * cipher_.key_bytes : 0;
        warpseal_batch b{};
        b.struct_bytes = sizeof b;
        b.message_count = messages;
        b.message_bytes = b.in_stride = b.out_stride = bytes;
        b.iv_bytes = mac ? 0 : aead ? 12 : cipher_.block_bytes;
        b.ivs = iv_;
        b.tag_bytes = aead || mac ? cipher_.block_bytes : 0;
        b.tags = aead || mac ? tags_.data() : nullptr;
        b.tag_stride = b.tag_bytes;
        b.out = mac ? nullptr : out_.data();
        b.statuses = statuses_.data();
        const auto none = [](const uint8_t*) {};
        judge(call(mode, d, blocks) + " in each of " + std::to_string(messages) +
                  (own_keys ? " with keys" : ""),
              keys_bytes + messages * bytes, messages * blocks, own_keys ? Step(none) : keyed(),
              [=, this](const uint8_t* in) mutable {
                  if (d == 1) std::memset(tags_.data(), 0, messages * b.tag_bytes);
                  b.keys = own_keys ? in + keys_capacity : nullptr;
                  b.in = in + keys_capacity + keys_bytes;
                  (void)cipher_.batch[mode][d](own_keys ? nullptr : state_.get(), b, 0, messages);
              });
    }

    const char* target_;
    const CpuCipher& cipher_;
    const size_t many_ = many_blocks(cipher_);
    const uint8_t iv_[16] = {3};
    State state_{cipher_}, tweak_{cipher_};
    Text out_ = Text(16 * many_), tags_ = Text(16 * many_);
    std::vector<int32_t> statuses_ = std::vector<int32_t>(many_);
};

void controls() {
    static uint8_t table[1 << 20];
    std::memset(table, 1, sizeof table);
    const auto none = [](const uint8_t*) {};
    const Work branch{64, none, [](const uint8_t* in) {  // the leak of square and multiply
                          unsigned x = 1;
                          for (int i = 0; i < 128; ++i) {
                              x = x * x + 1;
                              if (in[i / 8] >> (i % 8) & 1) x = x * 3 + in[0];
                              __asm__ volatile("" : "+r"(x));
                          }
                      }};
    const Work lookup{64, none, [](const uint8_t* in) {  // the leak of tables
                          for (size_t i = 0; i < 64; i += 4) {
                              uint32_t at;
                              std::memcpy(&at, in + i, 4);
                              const uint8_t found = table[at % sizeof table];
                              __asm__ volatile("" : : "r"(found));
                          }
                      }};
    expect_leak("planted: a branch for each bit of the key", branch, more * timings);
    expect_leak("planted: look-ups by the key", lookup, more * timings);
    expect_constant("control: both classes the same", branch, timings, true);
}

void pin_to_this_core() {  // each has a clock and caches of its own
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<size_t>(std::max(0, sched_getcpu())), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

int usage() {
    std::fprintf(stderr,
                 "usage: warpseal-dudect TARGET [TIMINGS] [--list | --only CASE] [--placed "
                 "PROGRAM]...\n");
    return 2;
}

}  // namespace

uint64_t dudect::timings = 1000000;

bool dudect::wanted(const std::string& what) {
    if (only_names) std::printf("%s\n", what.c_str());
    return !only_names && (only.empty() || only == what);
}

void dudect::report(bool right, const std::string& what, const std::string& figures,
                    uint64_t count) {
    ++(right ? passed : failed);
    std::printf("%s %-58s t =%s, %llu timings\n", right ? "    " : "LEAK", what.c_str(),
                figures.c_str(), static_cast<unsigned long long>(count));
    std::fflush(stdout);
}

// Among hundreds of test cases on a busy machine some exceed the limit by chance. A leak makes the
// same class slower each time and, with `more` timings, by a greater t; chance does not, three
// times in a row. Only the random class is drawn anew: another fixed input might change the sign of
// a real leak.
// On some CPUs (AMD Zen 4) t also reaches dozens by where code lies: the same instructions, a
// multiple of 16 bytes away, have another t or another sign. A leak is there at every address.
void dudect::expect_constant(const std::string& what, const Work& work, uint64_t count,
                             bool equal) {
    if (!wanted(what)) return;
    const double first = timing::measure(work, count, 1, equal);
    std::string figures = figure(first);
    double least = std::fabs(first);
    for (int again = 1; again <= confirmations && least > limit; ++again) {
        const double t =
            timing::measure(work, more * count, 1 + static_cast<uint64_t>(again), equal);
        figures += figure(t);
        least = (t > 0) == (first > 0) ? std::fabs(t) : 0;
    }
    const bool suspected = least > limit;
    bool leaks = suspected;
    for (const std::string& program : placed) {
        if (!leaks) break;
        const double t = t_placed(program, what.substr(0, what.find(' ')), what);
        figures += " elsewhere" + figure(t);
        leaks = std::isnan(t) || t * first > 0;
    }
    of_placement += suspected && !leaks;
    if (!equal && leaks == suspected) greatest = std::max(greatest, least);
    report(!leaks, what, figures, count);
}

// The t of a leak grows with the square root of the number of timings, under any load: more timings
// reveal it.
void dudect::expect_leak(const std::string& what, const Work& work, uint64_t count) {
    if (!wanted(what)) return;
    std::string figures;
    double t = 0;
    for (int again = 0; again <= confirmations && std::fabs(t) <= planted_at_least; ++again) {
        if (again != 0) count *= more;
        t = timing::measure(work, count, 9 + static_cast<uint64_t>(again), false);
        figures += figure(t);
    }
    report(std::fabs(t) > planted_at_least, what, figures, count);
}

int main(int argc, char** argv) {
    warpseal::Target target;
    if (argc < 2 || !warpseal::target_by_name(argv[1], target) || target == warpseal::Target::cuda)
        return usage();
    for (int i = 2; i < argc; ++i) {
        const std::string argument = argv[i];
        char* end = argv[i];
        if (argument == "--list")
            only_names = true;
        else if (argument == "--only" && i + 1 < argc)
            only = argv[++i];
        else if (argument == "--placed" && i + 1 < argc)
            placed.emplace_back(argv[++i]);
        else if ((timings = std::strtoull(argv[i], &end, 10)) == 0 || *end != 0)
            return usage();
    }
    if (!warpseal::cpu_has(target)) {
        std::printf("NOT RUN %s: this machine does not have it\n", argv[1]);
        return 77;
    }
    pin_to_this_core();
    controls();
    for (size_t c = 0; const CpuCipher* portable = warpseal::cpu_cipher_at(c); ++c)
        if (const CpuCipher* cipher = warpseal::cpu_cipher(target, portable->name))
            TestCases(argv[1], *cipher).all();
        else
            report(false, std::string(argv[1]) + " " + portable->name, " no backend", 0);
    dudect::kem_test_cases(argv[1], target);
    if (only_names) return 0;
    std::printf(
        "%s: %d passed, %d failed; greatest |t| of a test case %.1f, %llu timings each; %d "
        "more depend on where the code lies\n",
        argv[1], passed, failed, greatest, static_cast<unsigned long long>(timings), of_placement);
    return failed != 0 || passed == 0 ? 1 : 0;
}
