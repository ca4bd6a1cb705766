// Equal work on secrets of many kinds, one call after another, for a profiler to count. Test cases:
// each cipher and kernel, each operation of each set of key encapsulation, and kernels that leak.
// tests/timing/counters runs it and judges.
//
//   warpseal-counters [--seconds S] [--shard I/N] [--but WORD]... [WORD...]
//
// S: after which no further test case is started. I/N: of all test cases each Nth, from the Ith on,
// to split them over GPUs. WORD: only those whose names contain one, or with --but none. Planted
// ones are in each shard. Prints a line of JSON for each test case, in the order in which
// `test_case_begins` is launched before their calls. Counted work lies between cudaProfilerStart
// and cudaProfilerStop.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/batch_message.h"
#include "backends/cuda/host/device.h"
#include "backends/gpu_backend.h"
#include "support/random.h"
#include "timing/counting.h"

// CUDA runtime functions whose header is in a package that the pinned ones lack.
extern "C" cudaError_t CUDARTAPI cudaProfilerStart();
extern "C" cudaError_t CUDARTAPI cudaProfilerStop();

namespace {

using counting::expect;
using counting::Input;
using warpseal::CudaCipher;
using warpseal::Direction;
using Text = std::vector<uint8_t>;

constexpr size_t text_bytes = size_t{64} << 10;
constexpr size_t most_messages = 256, most_key_bytes = 32;

const warpseal::GpuBackend& backend() { return *warpseal::gpu_backend(); }

__global__ void test_case_begins() {}

// Planted leak: all lanes share one copy of a table, so that equal bytes of a secret are one access
// and different ones up to 32.
__global__ void single_copy(const uint8_t* text, uint8_t* out) {
    __shared__ uint32_t table[256];
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) table[i] = i * 0x9e3779b1u;
    __syncthreads();
    const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t state = text[at];
    for (int i = 0; i < 64; ++i) state = table[(state ^ text[at + i]) & 0xff] >> 8;
    out[at] = static_cast<uint8_t>(state);
}

// Planted leak: a check that ends early takes longer where bytes are equal.
__global__ void early_end(const uint8_t* text, uint8_t* out) {
    const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t i = 0;
    while (i < 64 && text[at + i] == text[at]) ++i;
    out[at] = static_cast<uint8_t>(i);
}

// Memory shared by the calls of all test cases: the same addresses for every input.
struct CallMemory {
    CallMemory() {
        expect(
            backend().device_alloc(0, text_bytes, &in) == WARPSEAL_OK &&
                backend().device_alloc(0, text_bytes, &out) == WARPSEAL_OK &&
                backend().device_alloc(0, most_messages * most_key_bytes, &keys) == WARPSEAL_OK &&
                backend().device_alloc(0, 16 * most_messages, &ivs) == WARPSEAL_OK &&
                backend().device_alloc(0, 16 * most_messages, &tags) == WARPSEAL_OK &&
                backend().device_alloc(0, 4 * most_messages, &statuses) == WARPSEAL_OK,
            "device memory");
        const Text iv = tests::Random(1).text(16 * most_messages);
        expect(backend().upload(0, ivs, iv.data(), iv.size()) == WARPSEAL_OK, "upload");
    }
    void *in = nullptr, *out = nullptr, *keys = nullptr, *ivs = nullptr, *tags = nullptr,
         *statuses = nullptr;
    const uint8_t iv[16] = {1};
};

struct Secrets {
    Text keys = Text(most_messages * most_key_bytes), text = Text(text_bytes);
};

void draw(Secrets& s, uint64_t number) {
    tests::Random random(number);
    random.fill(s.keys.data(), s.keys.size());
    random.fill(s.text.data(), s.text.size());
}

// A method to fill memory with secrets.
struct Fill {
    std::string name;
    std::function<void(Secrets&)> fill;
};

std::vector<Fill> fills() {
    const auto bytes = [](Text& to, auto byte_at) {
        for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<uint8_t>(byte_at(i));
    };
    const auto both = [=](auto byte_at) {
        return [=](Secrets& s) { bytes(s.keys, byte_at), bytes(s.text, byte_at); };
    };
    const auto zero = [](size_t) { return 0; };
    std::vector<Fill> all = {
        {"zeros", both(zero)},
        {"ones", both([](size_t) { return 0xff; })},
        {"0x55", both([](size_t) { return 0x55; })},
        {"0xaa", both([](size_t) { return 0xaa; })},
        {"counting bytes", both([](size_t i) { return i; })},
        {"one bit", both([](size_t i) { return i % 64 == 0 ? 1 : 0; })},
        {"zero key", [=](Secrets& s) { draw(s, 2), bytes(s.keys, zero); }},
        {"zero text", [=](Secrets& s) { draw(s, 3), bytes(s.text, zero); }},
    };
    for (int i = 0; i < counting::random_inputs; ++i)
        all.push_back({"random " + std::to_string(i),
                       [=](Secrets& s) { draw(s, 100 + static_cast<uint64_t>(i)); }});
    return all;
}

// Makes a test case from a call on keys and text.
counting::TestCase test_case(const std::string& name, const CallMemory& call_memory,
                             const std::function<void(const Secrets&)>& call) {
    return {name, [=, &call_memory] {
                Secrets secrets;
                const auto input = [&](const Fill& fill) {
                    return Input{
                        fill.name, [&, fill] {
                            fill.fill(secrets);
                            expect(backend().upload(0, call_memory.in, secrets.text.data(),
                                                    text_bytes) == WARPSEAL_OK &&
                                       backend().upload(0, call_memory.keys, secrets.keys.data(),
                                                        secrets.keys.size()) == WARPSEAL_OK,
                                   "upload");
                        }};
                };
                std::vector<Input> inputs;
                for (const Fill& fill : fills()) inputs.push_back(input(fill));
                counting::count(name, inputs, input({"equal", [](Secrets& s) { draw(s, 4); }}),
                                [&] { call(secrets); });
            }};
}

// The kind of call: a sweep, or a batch of messages.
struct CallSpec {
    const char* name;
    warpseal_mode mode;
    int direction;
    size_t messages;  // 0: a sweep
    bool own_keys;
};
constexpr CallSpec call_specs[] = {
    {"ctr", WARPSEAL_CTR, 0, 0, false},           {"cbc encryption", WARPSEAL_CBC, 0, 256, false},
    {"gcm", WARPSEAL_GCM, 0, 1, false},           {"ctr with keys", WARPSEAL_CTR, 0, 64, true},
    {"ecb", WARPSEAL_ECB, 0, 0, false},           {"cbc decryption", WARPSEAL_CBC, 1, 0, false},
    {"gcm with keys", WARPSEAL_GCM, 0, 64, true}, {"gcm of messages", WARPSEAL_GCM, 0, 16, false},
};

warpseal_batch batch_of(const CallSpec& spec, const CudaCipher& cipher,
                        const CallMemory& call_memory) {
    warpseal_batch b{};
    b.struct_bytes = sizeof b;
    b.message_count = spec.messages;
    b.message_bytes = b.in_stride = b.out_stride = text_bytes / spec.messages;
    b.in = static_cast<const uint8_t*>(call_memory.in);
    b.out = static_cast<uint8_t*>(call_memory.out);
    b.ivs = static_cast<const uint8_t*>(call_memory.ivs);
    b.iv_stride = 16;
    b.iv_bytes = spec.mode == WARPSEAL_GCM ? 12 : cipher.block_bytes;
    b.tags = static_cast<uint8_t*>(call_memory.tags);
    b.tag_stride = 16;
    b.tag_bytes = spec.mode == WARPSEAL_GCM ? 16 : 0;
    b.statuses = static_cast<int32_t*>(call_memory.statuses);
    b.keys = spec.own_keys ? static_cast<const uint8_t*>(call_memory.keys) : nullptr;
    return b;
}

counting::TestCase test_case_of(const std::string& name, const CallSpec& spec,
                                const CudaCipher& cipher, const CallMemory& call_memory) {
    return test_case(name, call_memory, [=, &spec, &cipher, &call_memory](const Secrets& secrets) {
        Text state(cipher.state_bytes);
        cipher.expand(state.data(), secrets.keys.data());
        const warpseal_status status =
            spec.messages == 0
                ? cipher.sweep[spec.mode][spec.direction](
                      state.data(), call_memory.iv, 0, static_cast<const uint8_t*>(call_memory.in),
                      static_cast<uint8_t*>(call_memory.out), text_bytes, nullptr)
                : cipher.batch[spec.mode][spec.direction](
                      spec.own_keys ? nullptr : state.data(),
                      warpseal::as_scattered(batch_of(spec, cipher, call_memory)), nullptr);
        expect(status == WARPSEAL_OK, name);
    });
}

// Returns the last of the key sizes of each header: "aes-256" represents aes.
std::vector<const CudaCipher*> one_of_each() {
    std::vector<const CudaCipher*> all;
    const auto family = [](const CudaCipher* c) {
        return std::string(c->name).substr(0, std::string(c->name).find('-'));
    };
    const warpseal::CpuCipher* cpu = nullptr;
    for (size_t i = 0; (cpu = warpseal::cpu_cipher_at(i)) != nullptr; ++i) {
        const CudaCipher* cipher = backend().cipher(cpu->name);
        if (!all.empty() && family(all.back()) == family(cipher)) all.pop_back();
        all.push_back(cipher);
    }
    return all;
}

std::vector<counting::TestCase> planted(const CallMemory& call_memory) {
    const auto leak = [&](const char* name, void (*kernel)(const uint8_t*, uint8_t*)) {
        return test_case(name, call_memory, [&call_memory, kernel](const Secrets&) {
            kernel<<<16, 1024>>>(static_cast<const uint8_t*>(call_memory.in),
                                 static_cast<uint8_t*>(call_memory.out));
        });
    };
    return {leak("planted: a table of one copy", single_copy),
            leak("planted: a check that ends early", early_end)};
}

// Returns all test cases except the planted ones.
std::vector<counting::TestCase> test_cases(const CallMemory& call_memory) {
    std::vector<counting::TestCase> all = counting::ntru_test_cases();
    for (const counting::TestCase& one : counting::mlkem_test_cases()) all.push_back(one);
    for (const counting::TestCase& one : counting::x25519_test_cases()) all.push_back(one);
    for (const CallSpec& spec : call_specs)
        for (const CudaCipher* cipher : one_of_each())
            if (spec.messages == 0 || cipher->batch[spec.mode][spec.direction] != nullptr)
                all.push_back(test_case_of(std::string(cipher->name) + " " + spec.name, spec,
                                           *cipher, call_memory));
    return all;
}

int usage() {
    std::fprintf(
        stderr, "usage: warpseal-counters [--seconds S] [--shard I/N] [--but WORD]... [WORD]...\n");
    return 2;
}

}  // namespace

void counting::expect(bool right, const std::string& what) {
    if (right) return;
    std::fprintf(stderr, "%s failed\n", what.c_str());
    std::exit(1);
}

void counting::count(const std::string& name, const std::vector<Input>& inputs,
                     const Input& repeated, const std::function<void()>& call) {
    constexpr size_t between = 5;  // so that drift affects both
    std::string names;
    const auto counted = [&](const std::function<void()>& launches) {
        expect(cudaDeviceSynchronize() == cudaSuccess && cudaProfilerStart() == cudaSuccess, name);
        launches();
        expect(cudaDeviceSynchronize() == cudaSuccess && cudaProfilerStop() == cudaSuccess, name);
    };
    const auto measure = [&](const Input& input) {
        names += (names.empty() ? "\"" : ", \"") + input.name + "\"";
        input.bring();
        counted(call);
    };
    counted([] { test_case_begins<<<1, 1>>>(); });
    for (size_t i = 0; i < inputs.size(); ++i) {
        measure(inputs[i]);
        if (i % between == 0) measure(repeated);
    }
    std::printf("{\"case\": \"%s\", \"inputs\": [%s]}\n", name.c_str(), names.c_str());
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    double seconds = 1e9;
    size_t shard = 0, shards = 1;
    std::vector<std::string> only, but;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = std::atof(argv[++i]);
        else if (std::strcmp(argv[i], "--shard") == 0 && i + 1 < argc) {
            if (std::sscanf(argv[++i], "%zu/%zu", &shard, &shards) != 2 || shard >= shards)
                return usage();
        } else if (std::strcmp(argv[i], "--but") == 0 && i + 1 < argc)
            but.emplace_back(argv[++i]);
        else if (argv[i][0] == '-')
            return usage();
        else
            only.emplace_back(argv[i]);
    }
    const auto start = std::chrono::steady_clock::now();
    int devices = 0;
    if (backend().device_count(&devices) != WARPSEAL_OK || devices == 0) {
        std::printf("NOT RUN: no GPU\n");
        return 77;
    }
    warpseal::cuda::accept_any_length(true);
    const CallMemory call_memory;
    for (const counting::TestCase& test_case : planted(call_memory)) test_case.count();
    size_t index = 0;
    for (const counting::TestCase& test_case : test_cases(call_memory)) {
        const auto holds = [&](const std::string& word) {
            return test_case.name.find(word) != std::string::npos;
        };
        if (!only.empty() && std::none_of(only.begin(), only.end(), holds)) continue;
        if (std::any_of(but.begin(), but.end(), holds)) continue;
        if (index++ % shards != shard) continue;
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
            seconds)
            test_case.count();
        else
            std::printf("NOT RUN %s: no time left\n", test_case.name.c_str());
    }
    return 0;
}
