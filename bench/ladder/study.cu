// Runs a step: measures it, and compares its output with the portable target's and the product's.
#include "bench/ladder/study.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/gpu_backend.h"
#include "bench/ladder/device.cuh"

namespace warpseal::ladder {
namespace {

// State of a cipher for one of the backends.
class State {
public:
    template <class Cipher>
    State(const Cipher& cipher, const uint8_t* key) : memory_(cipher.state_bytes + 64) {
        cipher.expand(data(), key);
    }
    void* data() {
        return memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64);
    }

private:
    std::vector<uint8_t> memory_;
};

class Run {
public:
    Run(const Step& step, const Options& options)
        : step_(step),
          study_(*step.study),
          options_(options),
          mode_(std::string_view(step.mode) == "ecb" ? WARPSEAL_ECB : WARPSEAL_CTR),
          direction_(step.decrypts ? Direction::decrypt : Direction::encrypt),
          portable_(*cpu_cipher(Target::portable, step.cipher)),
          product_(*gpu_backend()->cipher(step.cipher)),
          portable_state_(portable_, key),
          product_state_(product_, key) {
        if (study_.kernel != nullptr) configure();
    }

    Measured measure() {
        compare_with_portable();
        const uint64_t bytes = options_.bytes != 0    ? options_.bytes
                               : step_.keystream_only ? bytes_for(options_.seconds)
                                                      : uint64_t{1} << 30;
        const uint64_t blocks = bytes / portable_.block_bytes;
        if (blocks == 0) throw Failure{WARPSEAL_INVALID_ARGUMENT};
        return step_.keystream_only ? measure_keystream(blocks) : measure_text(blocks);
    }

private:
    static constexpr uint8_t key[32] = {0x6b, 0x1f, 0x93, 0x0c, 0xe2, 0x58, 0xd4, 0x77,
                                        0x3a, 0x85, 0xbe, 0x41, 0xf9, 0x26, 0x6d, 0x10,
                                        0xc8, 0x5b, 0x02, 0xaf, 0x34, 0xe9, 0x7c, 0x91,
                                        0xdd, 0x4e, 0x60, 0x17, 0xb2, 0x8f, 0x29, 0x53};
    // The counter is 1000 blocks below 2^32, for 8-byte and 16-byte blocks.
    static constexpr uint8_t near_wrap[16] = {0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78,
                                              0,    0,    0,    0,    0xff, 0xff, 0xfc, 0x18};
    static constexpr uint8_t from_zero[16] = {0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78};

    // Reads the kernel's attributes and the number of resident blocks per multiprocessor.
    void configure() {
        check(cudaFuncGetAttributes(&attributes_, study_.kernel));
        threads_ = options_.threads_per_block != 0 ? options_.threads_per_block : study_.threads;
        if (threads_ < 1 || threads_ > attributes_.maxThreadsPerBlock ||
            threads_ % study_.threads_together != 0)
            throw Failure{WARPSEAL_INVALID_ARGUMENT};
        used_shared_bytes_ =
            study_.shared_bytes + study_.shared_bytes_per_thread * static_cast<size_t>(threads_);
        const bool some = options_.multiprocessors != 0;
        const int all = attribute_of(options_.device, cudaDevAttrMultiProcessorCount);
        multiprocessors_ = some ? options_.multiprocessors : all;
        // Blocks of threads that each need a multiprocessor alone are on as many as there are
        // blocks.
        if (some && (!study_.stays || multiprocessors_ < 1 || multiprocessors_ > all))
            throw Failure{WARPSEAL_INVALID_ARGUMENT};
        residency_.emplace(study_.kernel, threads_, used_shared_bytes_,
                           some ? 1 : options_.resident_blocks, options_.device);
    }
    uint64_t blocks_of_threads(uint64_t blocks) const {
        const uint64_t at_once =
            static_cast<uint64_t>(threads_) / study_.threads_together * study_.blocks_together;
        const uint64_t wanted = (blocks + at_once - 1) / at_once;
        const uint64_t resident =
            static_cast<uint64_t>(residency_->blocks()) * static_cast<uint64_t>(multiprocessors_);
        return study_.stays ? std::min(wanted, resident) : wanted;
    }
    uint64_t threads_in_all(uint64_t blocks) const {
        return blocks_of_threads(blocks) * static_cast<uint64_t>(threads_);
    }

    // Queues the step on the default stream.
    void launch(const Work& work) {
        if (study_.kernel == nullptr)
            return check(gpu_backend()->sweep_device(
                options_.device, product_, product_state_.data(), mode_, direction_, work.iv,
                work.in, work.out, work.blocks * product_.block_bytes, nullptr));
        alignas(16) unsigned char job[job_bytes];
        check(study_.fill(job, work));
        void* arguments[] = {job};
        check(cudaLaunchKernel(
            study_.kernel, dim3(static_cast<unsigned>(blocks_of_threads(work.blocks))),
            dim3(static_cast<unsigned>(threads_)), arguments, residency_->shared_bytes(), nullptr));
    }

    // Returns the XOR of the sums that a launch left, one for each thread.
    static Sum sum_of(const Memory& sums) {
        BlockSum sum;
        sum.add(sums.data(), sums.bytes() / 16);
        return sum.get();
    }

    void portable(const uint8_t* iv, uint64_t first_block, const std::vector<uint8_t>& in,
                  std::vector<uint8_t>& out) {
        portable_.sweep[mode_][static_cast<int>(direction_)](
            portable_state_.data(), mode_ == WARPSEAL_ECB ? nullptr : iv, first_block, in.data(),
            out.data(), in.size());
    }

    // Uses a number of blocks that ends within a block of threads, and a counter with a carry.
    void compare_with_portable() {
        constexpr uint64_t blocks = 4099;
        const uint64_t bytes = blocks * portable_.block_bytes;
        const uint8_t* const iv = portable_.block_bytes == 8 ? near_wrap + 8 : near_wrap;
        std::vector<uint8_t> in(bytes), expected(bytes), out(bytes);
        if (!step_.keystream_only)
            for (uint64_t i = 0; i < bytes; ++i)
                in[i] = static_cast<uint8_t>(i * i >> 3 ^ i * 77 >> 5);
        portable(iv, 0, in, expected);
        if (step_.keystream_only) {
            Sum sum{}, block;
            for (uint64_t i = 0; i < blocks; ++i) {
                std::memcpy(block.data(), expected.data() + 16 * i, sizeof block);
                for (size_t w = 0; w < 4; ++w) sum[w] ^= block[w];
            }
            Memory sums(16 * threads_in_all(blocks));
            sums.set(0xa5);
            launch({key, iv, nullptr, sums.data(), blocks});
            return agree(sum == sum_of(sums));
        }
        Memory from(bytes), to(bytes);
        check(cudaMemcpy(from.data(), in.data(), bytes, cudaMemcpyHostToDevice));
        to.set(0xa5);
        launch({key, iv, from.data(), to.data(), blocks});
        check(cudaMemcpy(out.data(), to.data(), bytes, cudaMemcpyDeviceToHost));
        agree(out == expected);
    }

    static void agree(bool same) {
        if (!same) throw Failure{WARPSEAL_SELF_TEST_FAILED};
    }

    // Returns the bytes of the largest power of two of blocks that takes about `seconds`.
    uint64_t bytes_for(double seconds) {
        uint64_t blocks = uint64_t{1} << 24;
        Memory sums(16 * threads_in_all(uint64_t{1} << 35));
        const double taken = time({key, from_zero, nullptr, sums.data(), blocks}, 3) / 1000;
        for (double all = taken; blocks < uint64_t{1} << 35 && 2 * all < 1.5 * seconds; all *= 2)
            blocks *= 2;
        return blocks * portable_.block_bytes;
    }

    // Returns the median time of the launches.
    double time(const Work& work, int repetitions) {
        std::vector<double> taken;
        Event first, begin, end;
        first.record();
        do {
            begin.record();
            launch(work);
            end.record();
            taken.push_back(end.milliseconds_since(begin));
        } while (static_cast<int>(taken.size()) < repetitions &&
                 end.milliseconds_since(first) < 1000 * options_.seconds);
        std::sort(taken.begin(), taken.end());
        return taken[taken.size() / 2];
    }

    Measured measure_keystream(uint64_t blocks) {
        Memory sums(16 * threads_in_all(blocks));
        sums.set(0xa5);
        const double milliseconds =
            time({key, from_zero, nullptr, sums.data(), blocks}, options_.repetitions);
        agree(sum_of(sums) == sum_of_product(blocks));
        return figure(blocks, milliseconds);
    }
    Sum sum_of_product(uint64_t blocks) {
        BlockSum sum;
        Memory text(std::min<uint64_t>(16 * blocks, uint64_t{1} << 30));
        for (uint64_t done = 0, now = 0; done < blocks; done += now) {
            now = std::min(blocks - done, text.bytes() / 16);
            text.set(0);
            uint8_t iv[16];
            store_block(iv, add_big_endian<4>(load_block<4>(from_zero), done));
            check(gpu_backend()->sweep_device(options_.device, product_, product_state_.data(),
                                              WARPSEAL_CTR, Direction::encrypt, iv, text.data(),
                                              text.data(), 16 * now, nullptr));
            sum.add(text.data(), now);
        }
        return sum.get();
    }

    Measured measure_text(uint64_t blocks) {
        const uint64_t bytes = blocks * portable_.block_bytes;
        Memory in(bytes), out(bytes), expected(bytes), differences(sizeof(uint32_t));
        fill_with_noise<<<1024, threads>>>(in.as<uint64_t>(), bytes / 8);
        check(cudaGetLastError());
        check(gpu_backend()->sweep_device(options_.device, product_, product_state_.data(), mode_,
                                          direction_, from_zero, in.data(), expected.data(), bytes,
                                          nullptr));
        out.set(0xa5);
        const double milliseconds =
            time({key, from_zero, in.data(), out.data(), blocks}, options_.repetitions);
        differences.set(0);
        count_differences<<<1024, threads>>>(out.as<uint64_t>(), expected.as<uint64_t>(), bytes / 8,
                                             differences.as<uint32_t>());
        check(cudaGetLastError());
        uint32_t found = 1;
        check(cudaMemcpy(&found, differences.data(), sizeof found, cudaMemcpyDeviceToHost));
        agree(found == 0);
        compare_segments(in, out, blocks);
        return figure(blocks, milliseconds);
    }
    // Compares segments, from the first block to the last, with the portable target. This covers
    // the product's own output too.
    void compare_segments(const Memory& in, const Memory& out, uint64_t blocks) {
        constexpr uint64_t segments = 64;
        const uint64_t length = std::min<uint64_t>(blocks, 64),
                       bytes = length * portable_.block_bytes;
        std::vector<uint8_t> text(bytes), made(bytes), expected(bytes);
        for (uint64_t k = 0; k < segments; ++k) {
            const uint64_t first = (blocks - length) * k / (segments - 1);
            check(cudaMemcpy(text.data(), in.data() + first * portable_.block_bytes, bytes,
                             cudaMemcpyDeviceToHost));
            check(cudaMemcpy(made.data(), out.data() + first * portable_.block_bytes, bytes,
                             cudaMemcpyDeviceToHost));
            portable(from_zero, first, text, expected);
            agree(made == expected);
        }
    }

    Measured figure(uint64_t blocks, double milliseconds) const {
        const uint64_t bytes = blocks * portable_.block_bytes;
        Measured m;
        m.gigabytes_per_second = static_cast<double>(bytes) / milliseconds / 1e6;
        m.milliseconds = milliseconds;
        m.bytes = bytes;
        if (study_.kernel == nullptr) return m;
        m.registers = attributes_.numRegs;
        m.local_bytes = static_cast<int>(attributes_.localSizeBytes);
        m.shared_bytes = static_cast<int>(attributes_.sharedSizeBytes + used_shared_bytes_);
        m.threads_per_block = threads_;
        m.resident_blocks = residency_->blocks();
        m.occupancy = residency_->occupancy();
        m.multiprocessors = multiprocessors_;
        m.blocks = static_cast<double>(blocks_of_threads(blocks));
        return m;
    }

    const Step& step_;
    const Study& study_;
    const Options& options_;
    const warpseal_mode mode_;
    const Direction direction_;
    const CpuCipher& portable_;
    const CudaCipher& product_;
    State portable_state_, product_state_;
    cudaFuncAttributes attributes_{};
    int threads_ = 0, multiprocessors_ = 0;
    size_t used_shared_bytes_ = 0;
    std::optional<Residency> residency_;  // none: the product's call
};

}  // namespace

warpseal_status run(const Step& step, const Options& options, Measured* measured) {
    int count = 0;
    if (gpu_backend()->device_count(&count) != WARPSEAL_OK || options.device < 0 ||
        options.device >= count)
        return WARPSEAL_NO_DEVICE;
    try {
        check(cudaSetDevice(options.device));
        *measured = Run(step, options).measure();
        return WARPSEAL_OK;
    } catch (const Failure& failure) {
        return failure.status;
    } catch (const std::bad_alloc&) {
        return WARPSEAL_OUT_OF_MEMORY;
    }
}

}  // namespace warpseal::ladder
