// Checks a cipher's C functions on cores, times them, and hands the results to the GPU's part.
//
//   PROGRAM [--sizes | --require-gpu]
//
// Exit status: 0 if all that ran holds, 1 if a check failed, 2 for wrong usage or a cipher beyond
// the limits, 77 if --require-gpu was given and the GPU's part was not run.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu.h"
#include "trial.h"

namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t context_limit = 65536, guard_bytes = 64, checked_blocks = 1000,
                 sample_limit_bytes = size_t{1} << 30;

struct Wrong {
    std::string what;
};

void require(bool right, const std::string& what) {
    if (!right) throw Wrong{what};
}

const trial_cipher& cipher = cipher_under_trial;
const size_t block = cipher.block_bytes;

std::mt19937_64& random_engine() {
    static std::mt19937_64 engine(20080215);  // fixed: a failure can be repeated
    return engine;
}

Bytes random_bytes(size_t count) {
    Bytes bytes(count);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random_engine()());
    return bytes;
}

std::string hex(const uint8_t* bytes, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
        text += digits;
    }
    return text;
}

// Memory of exactly the size that a function may write, between guard bytes, aligned to 16.
class Guarded {
public:
    Guarded(size_t bytes, uint8_t fill, uint8_t guard)
        : bytes_(bytes), guard_(guard), memory_(bytes + 2 * guard_bytes + 16, guard) {
        const auto address = reinterpret_cast<uintptr_t>(memory_.data()) + guard_bytes;
        begin_ = guard_bytes + (16 - address % 16) % 16;
        for (size_t i = 0; i < bytes; ++i) memory_[begin_ + i] = fill;
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    uint8_t* data() { return memory_.data() + begin_; }
    void require_guards(const std::string& function, const std::string& what) const {
        for (size_t i = 0; i < memory_.size(); ++i) {
            if (i >= begin_ && i < begin_ + bytes_) continue;
            require(memory_[i] == guard_, function + " writes outside " + what + " of " +
                                              std::to_string(bytes_) + " bytes, at offset " +
                                              std::to_string(long(i) - long(begin_)));
        }
    }

private:
    size_t bytes_, begin_;
    uint8_t guard_;
    Bytes memory_;
};

std::vector<Bytes> snapshot_of_variables() {
    std::vector<Bytes> all;
    for (size_t i = 0; i < cipher.variable_count; ++i) {
        const auto* data = static_cast<const uint8_t*>(cipher.variables[i].data);
        all.emplace_back(data, data + cipher.variables[i].bytes);
    }
    return all;
}

void require_variables(const std::vector<Bytes>& before, const std::string& function) {
    for (size_t i = 0; i < cipher.variable_count; ++i)
        require(!std::memcmp(before[i].data(), cipher.variables[i].data, before[i].size()),
                function + " changes the variable " + cipher.variables[i].name +
                    ": threads would overwrite each other. Fill it in the key function");
}

// Expands a key twice into memory with the same fill at two addresses. The results must agree.
void expand(const Bytes& key, Guarded& context, uint8_t fill, uint8_t guard) {
    Guarded again(cipher.context_bytes, fill, static_cast<uint8_t>(~guard));
    Bytes copy = key;
    cipher.expand(copy.data(), context.data());
    cipher.expand(copy.data(), again.data());
    require(copy == key, std::string(cipher.key_name) + " changes its key");
    context.require_guards(cipher.key_name, "its context");
    again.require_guards(cipher.key_name, "its context");
    require(!std::memcmp(context.data(), again.data(), cipher.context_bytes),
            std::string(cipher.key_name) +
                " gives two contexts for one key: it is not deterministic, or the context holds a "
                "pointer");
}

// One block in guarded memory. The output has `fill` before.
Bytes checked_block(trial_block_function* function, const char* name, Guarded& context,
                    const uint8_t* text, uint8_t fill) {
    Guarded in(block, 0, 0x3c), out(block, fill, 0xc3);
    std::memcpy(in.data(), text, block);
    function(context.data(), in.data(), out.data());
    in.require_guards(name, "its input");
    out.require_guards(name, "its block");
    require(!std::memcmp(in.data(), text, block), std::string(name) + " changes its input");
    return Bytes(out.data(), out.data() + block);
}

// Runs a block function twice over blocks, in opposite orders, over different old outputs, and
// under contexts that had different contents before the key was expanded.
Bytes checked_blocks_of(trial_block_function* function, const char* name, const Bytes& key,
                        const Bytes& text) {
    Guarded first(cipher.context_bytes, 0x00, 0x5a), second(cipher.context_bytes, 0xff, 0x5a);
    expand(key, first, 0x00, 0x5a);
    expand(key, second, 0xff, 0x5a);
    const Bytes before(first.data(), first.data() + cipher.context_bytes);
    const auto variables = snapshot_of_variables();
    Bytes result, again(text.size());
    for (size_t i = 0; i < text.size(); i += block) {
        const Bytes out = checked_block(function, name, first, &text[i], 0x00);
        result.insert(result.end(), out.begin(), out.end());
        require_variables(variables, name);
    }
    for (size_t i = text.size(); i > 0; i -= block) {
        const Bytes out = checked_block(function, name, second, &text[i - block], 0xff);
        std::memcpy(&again[i - block], out.data(), block);
    }
    first.require_guards(name, "its context");
    require(!std::memcmp(before.data(), first.data(), before.size()),
            std::string(name) + " changes its context: threads would overwrite each other");
    for (size_t j = 0; j < block; ++j) {
        bool untouched = true;
        for (size_t i = j; i < result.size(); i += block)
            untouched &= result[i] == 0x00 && again[i] == 0xff;
        require(!untouched,
                std::string(name) + " does not write byte " + std::to_string(j) + " of its block");
    }
    require(result == again,
            std::string(name) +
                " gives two results for one key and block: it is not deterministic, or reads "
                "memory that nobody has written");
    return result;
}

void check_functions() {
    const Bytes key = random_bytes(cipher.key_bytes), text = random_bytes(checked_blocks * block);
    const Bytes encrypted = checked_blocks_of(cipher.encrypt, cipher.encrypt_name, key, text);
    std::set<Bytes> distinct;
    for (size_t i = 0; i < encrypted.size(); i += block)
        distinct.emplace(encrypted.begin() + i, encrypted.begin() + i + block);
    require(distinct.size() == checked_blocks,
            std::string(cipher.encrypt_name) + " maps two blocks to one: it is no permutation");
    const Bytes other = random_bytes(cipher.key_bytes);
    require(checked_blocks_of(cipher.encrypt, cipher.encrypt_name, other, text) != encrypted,
            std::string(cipher.encrypt_name) + " gives the same blocks under two keys");
    std::printf("  inside their memory, deterministic, no shared state   ok, %zu blocks\n",
                checked_blocks);
    if (cipher.decrypt == nullptr) {
        std::puts("  decryption                                            NOT RUN: no function");
        return;
    }
    require(checked_blocks_of(cipher.decrypt, cipher.decrypt_name, key, encrypted) == text,
            std::string(cipher.decrypt_name) + " does not invert " + cipher.encrypt_name);
    std::printf("  decryption inverts encryption                         ok, %zu blocks\n",
                checked_blocks);
}

void check_vectors() {
    size_t blocks = 0;
    for (size_t i = 0; i < cipher.vector_count; ++i) {
        const trial_vector& v = cipher.vectors[i];
        Guarded context(cipher.context_bytes, 0x00, 0x5a);
        expand(Bytes(v.key, v.key + cipher.key_bytes), context, 0x00, 0x5a);
        for (size_t j = 0; j < v.bytes; j += block, ++blocks) {
            const auto must_be = [&](trial_block_function* function, const char* name,
                                     const uint8_t* in, const uint8_t* want) {
                const Bytes got = checked_block(function, name, context, in, 0);
                require(!std::memcmp(got.data(), want, block),
                        std::string(name) + ", vector " + std::to_string(i + 1) + ": key " +
                            hex(v.key, cipher.key_bytes) + ", block " + hex(in, block) +
                            ": gives " + hex(got.data(), block) + ", not " + hex(want, block));
            };
            must_be(cipher.encrypt, cipher.encrypt_name, v.plaintext + j, v.ciphertext + j);
            if (cipher.decrypt != nullptr)
                must_be(cipher.decrypt, cipher.decrypt_name, v.ciphertext + j, v.plaintext + j);
        }
    }
    if (blocks == 0)
        std::puts("  known answers                                         NOT RUN: no --vectors");
    else
        std::printf("  known answers                                         ok, %zu blocks\n",
                    blocks);
}

size_t count_cores() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

double seconds_of(const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median_of_three(const auto& work) {
    double seconds[3];
    for (double& s : seconds) s = seconds_of(work);
    std::sort(seconds, seconds + 3);
    return seconds[1];
}

// Threads take contiguous shares of the blocks.
void ecb(trial_block_function* function, const void* context, const Bytes& in, Bytes& out,
         size_t threads) {
    const size_t blocks = in.size() / block;
    const auto share = [&](size_t t) {
        for (size_t i = blocks * t / threads; i < blocks * (t + 1) / threads; ++i)
            function(context, &in[i * block], &out[i * block]);
    };
    std::vector<std::jthread> others;
    for (size_t t = 1; t < threads; ++t) others.emplace_back(share, t);
    share(0);
}

// Counter blocks are big-endian. The first one carries into the upper half of 16 bytes soon.
void count_up(uint8_t* counter) {
    for (size_t i = block; i-- > 0 && ++counter[i] == 0;) {
    }
}

Bytes counter_blocks(const uint8_t* first, size_t bytes) {
    Bytes counters(bytes);
    uint8_t counter[16];
    std::memcpy(counter, first, block);
    for (size_t i = 0; i < bytes; i += block, count_up(counter))
        std::memcpy(&counters[i], counter, block);
    return counters;
}

void print_speed(const char* what, size_t threads, size_t bytes, double seconds) {
    std::printf("  %-9s %3zu core%s %12.6f GB/s  %10.2f million blocks/s\n", what, threads,
                threads == 1 ? " " : "s", bytes / seconds / 1e9, bytes / block / seconds / 1e6);
}

// Times the C functions, and compares all cores with one. Returns the GPU's sample.
trial::Sample time_on_cores() {
    trial::Sample sample;
    const Bytes key = random_bytes(cipher.key_bytes);
    sample.context.resize(cipher.context_bytes);
    cipher.expand(key.data(), sample.context.data());
    const void* const context = sample.context.data();
    Bytes few = random_bytes(checked_blocks * block), out(few.size());
    const double rate = checked_blocks / seconds_of([&] {
                            ecb(cipher.encrypt, context, few, out, 1);
                        });  // blocks per second
    // An odd number, so that the last block of threads on a GPU is not full.
    const size_t blocks = static_cast<size_t>(std::clamp(rate * 0.25, 1024.0, 4194304.0)) | 1;
    const size_t cores = count_cores();
    sample.text = random_bytes(blocks * block);
    sample.encrypted.resize(sample.text.size());
    std::puts("\nCores: the C function as it is, ECB");
    print_speed("encrypt", 1, sample.text.size(), median_of_three([&] {
                    ecb(cipher.encrypt, context, sample.text, sample.encrypted, 1);
                }));
    const size_t bytes =
        sample.text.size() *
        std::clamp<size_t>(sample_limit_bytes / sample.text.size(), 1, std::max<size_t>(cores, 1));
    Bytes all_in(bytes), all_out(bytes);
    for (size_t i = 0; i < bytes; i += sample.text.size())
        std::copy(sample.text.begin(), sample.text.end(), all_in.begin() + i);
    const auto all_cores = [&](const char* what, trial_block_function* function,
                               const Bytes& want) {
        const double seconds =
            median_of_three([&] { ecb(function, context, all_in, all_out, cores); });
        print_speed(what, cores, bytes, seconds);
        for (size_t i = 0; i < bytes; i += want.size())
            require(std::equal(want.begin(), want.end(), all_out.begin() + i),
                    std::string(what) + ": the result of all cores differs from one core's");
        return bytes / seconds / 1e9;
    };
    sample.all_cores = all_cores("encrypt", cipher.encrypt, sample.encrypted);
    if (cipher.decrypt != nullptr) {
        all_in.swap(all_out);
        all_cores("decrypt", cipher.decrypt, sample.text);
    }
    for (size_t i = 0; i < sizeof sample.counter; ++i) sample.counter[i] = i < 8 ? 0x17 : 0xff;
    if (block == 16) sample.counter[15] = 0x80;
    const Bytes counters = counter_blocks(sample.counter, sample.text.size());
    sample.ctr.resize(counters.size());
    ecb(cipher.encrypt, context, counters, sample.ctr, cores);
    for (size_t i = 0; i < sample.ctr.size(); ++i) sample.ctr[i] ^= sample.text[i];
    return sample;
}

int run(bool require_gpu) {
    std::printf("%s: key %zu bytes, block %zu bytes, context %s of %zu bytes\n\nChecks on cores\n",
                cipher.name, cipher.key_bytes, block, cipher.context_name, cipher.context_bytes);
    std::fflush(stdout);
    check_vectors();
    check_functions();
    std::fflush(stdout);
    const trial::Sample sample = time_on_cores();
    std::fflush(stdout);
    const trial::GpuResult result = trial::run_on_gpu(sample);
    if (result == trial::GpuResult::failed) return 1;
    return require_gpu && result == trial::GpuResult::not_run ? 77 : 0;
}

int print_sizes() {
    size_t bytes = 0;
    for (size_t i = 0; i < cipher.variable_count; ++i) bytes += cipher.variables[i].bytes + 15;
    std::printf("%zu %zu\n", cipher.context_bytes, bytes);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string option = argc == 2 ? argv[1] : "";
    if (argc > 2 || (argc == 2 && option != "--sizes" && option != "--require-gpu")) {
        std::fprintf(stderr, "usage: %s [--sizes | --require-gpu]\n", argv[0]);
        return 2;
    }
    if (option == "--sizes") return print_sizes();
    if (cipher.context_bytes > context_limit) {
        std::fprintf(stderr, "%s: the context %s has %zu bytes; a trial takes %zu at most\n",
                     cipher.name, cipher.context_name, cipher.context_bytes, context_limit);
        return 2;
    }
    try {
        return run(option == "--require-gpu");
    } catch (const Wrong& wrong) {
        std::fflush(stdout);
        std::fprintf(stderr, "  WRONG: %s\n", wrong.what.c_str());
        return 1;
    }
}
