// Runs a step of NTRU's ladder: prepares key pairs, coins and ciphertexts, measures its time, and
// compares its output with the product's and the cores'.
#include "bench/ladder/kem_study.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/ladder/kem_device.cuh"
#include "bench/ladder/ntru_steps.h"

namespace warpseal::ladder {
namespace {

// Number of distinct key pairs; the others are copies at their own addresses.
constexpr uint64_t key_pairs = 1 << 13;
constexpr uint64_t sampled = 64;

__global__ void draw_coins(uint8_t* coins, uint64_t stride, int bytes, uint64_t first_item,
                           uint64_t count) {
    for (uint64_t item = blockIdx.x; item < count; item += gridDim.x)
        for (int i = static_cast<int>(threadIdx.x); i < bytes; i += threads)
            coins[item * stride + static_cast<unsigned>(i)] = ntru::coin(first_item + item, i);
}

class KemRun {
public:
    KemRun(const KemStep& step, const KemOptions& options)
        : step_(step),
          options_(options),
          count_(options.count),
          product_(step.set),
          set_(product_.set()),
          public_keys_(count_, set_.public_key_bytes()),
          secret_keys_(count_, set_.secret_key_bytes()),
          ciphertexts_(count_, set_.ciphertext_bytes()),
          secrets_(count_, Params::shared_secret_bytes) {}

    KemMeasured measure() {
        make_keys(std::min(count_, key_pairs));
        if (step_.operation == KemOperation::keypair) return figure_of_product();
        encapsulate_by_product();
        if (step_.operation == KemOperation::decapsulate) decapsulate_by_product();
        compare_sample();
        return step_.product ? figure_of_product() : measure_step();
    }

private:
    using Params = kem::Params;

    warpseal_kem_batch batch(uint64_t count) const {
        return {.struct_bytes = sizeof(warpseal_kem_batch),
                .reserved = 0,
                .count = count,
                .public_keys = public_keys_.data(),
                .public_key_stride = set_.public_key_bytes(),
                .secret_keys = secret_keys_.data(),
                .secret_key_stride = set_.secret_key_bytes(),
                .ciphertexts = ciphertexts_.data(),
                .ciphertext_stride = set_.ciphertext_bytes(),
                .shared_secrets = secrets_.data(),
                .shared_secret_stride = Params::shared_secret_bytes,
                .coins = nullptr,
                .coins_stride = 0,
                .statuses = nullptr};
    }

    static auto draw(size_t bytes) {
        return [bytes](uint8_t* coins, uint64_t stride, uint64_t first, uint64_t count) {
            draw_coins<<<1024, threads>>>(coins, stride, static_cast<int>(bytes), first, count);
            check(cudaGetLastError());
        };
    }

    void make_keys(uint64_t pairs) {
        product_.run(KemOperation::keypair, batch(pairs), draw(set_.keypair_coins()));
        for (uint64_t k = 0; k < std::min<uint64_t>(pairs, 8); ++k)
            compare_with_cores(KemOperation::keypair, k);
        for (const auto& [rows, bytes] : {std::pair{&public_keys_, set_.public_key_bytes()},
                                          {&secret_keys_, set_.secret_key_bytes()}})
            for (uint64_t have = pairs; have < count_; have *= 2)
                check(cudaMemcpy(rows->data() + have * bytes, rows->data(),
                                 std::min(have, count_ - have) * bytes, cudaMemcpyDeviceToDevice));
    }

    void encapsulate_by_product() {
        product_.run(KemOperation::encapsulate, batch(count_), draw(set_.encapsulation_coins()));
    }

    // Every seventh ciphertext is corrupted and therefore rejected.
    void decapsulate_by_product() {
        check(cudaMemset2D(ciphertexts_.data() + set_.ciphertext_bytes() / 2,
                           7 * set_.ciphertext_bytes(), 0x5a, 1, (count_ + 6) / 7));
        secrets_.set(0xa5);
        product_.run(KemOperation::decapsulate, batch(count_), [](auto&&...) {});
    }

    // Compares samples of the product's output, from the first item to the last.
    void compare_sample() {
        const uint64_t length = std::min(count_, sampled);
        for (uint64_t k = 0; k < length; ++k)
            compare_with_cores(step_.operation, length == 1 ? 0 : (count_ - 1) * k / (length - 1));
    }

    struct Item {
        std::vector<uint8_t> public_key, secret_key, ciphertext, secret;
        bool operator==(const Item&) const = default;
    };

    void compare_with_cores(KemOperation operation, uint64_t i) const {
        const Item given{row(public_keys_, i, set_.public_key_bytes()),
                         row(secret_keys_, i, set_.secret_key_bytes()),
                         row(ciphertexts_, i, set_.ciphertext_bytes()),
                         row(secrets_, i, Params::shared_secret_bytes)};
        Item made = given;
        if (operation == KemOperation::keypair)
            made.public_key.assign(made.public_key.size(), 0),
                made.secret_key.assign(made.secret_key.size(), 0);
        else
            made.secret.assign(made.secret.size(), 0);
        if (operation == KemOperation::encapsulate)
            made.ciphertext.assign(made.ciphertext.size(), 0);
        std::vector<uint8_t> coins(std::max(set_.keypair_coins(), set_.encapsulation_coins()));
        ntru::random_bytes(ntru::OneThread{}, coins.data(), coins.size(), i);
        warpseal_kem_batch one = batch(1);
        one.public_keys = made.public_key.data();
        one.secret_keys = made.secret_key.data();
        one.ciphertexts = made.ciphertext.data();
        one.shared_secrets = made.secret.data();
        one.coins = coins.data();
        one.coins_stride = coins.size();
        const CpuKem& portable = *cpu_kem(Target::portable, step_.set);
        std::vector<uint8_t> memory(portable.work_bytes(operation, 1) + 64);
        agree(portable.run[static_cast<int>(operation)](one, 0, 1, aligned(memory)) == 0 &&
              made == given);
    }

    KemMeasured figure_of_product() {
        DrawnCoins coins(options_.device);
        KemMeasured m;
        m.milliseconds =
            median_time(options_, [&] { product_.run(step_.operation, batch(count_), coins); });
        m.count = count_;
        return m;
    }

    KemMeasured measure_step() {
        const KemStudy& study = *step_.study;
        const Kernel kernel(study.kernel, study.threads, study.threads_together, study.shared_bytes,
                            options_);
        const uint64_t blocks = std::min(count_, kernel.grid_blocks());
        const Rows ciphertexts(count_, set_.ciphertext_bytes()),
            secrets(count_, Params::shared_secret_bytes);
        const Memory messages(std::max<uint64_t>(count_ * study.message_bytes, 8)),
            wrong(count_ * sizeof(uint32_t));
        const bool encapsulates = step_.operation == KemOperation::encapsulate;
        KemJob job{count_,
                   public_keys_.data(),
                   secret_keys_.data(),
                   encapsulates ? ciphertexts.data() : ciphertexts_.data(),
                   secrets.data(),
                   messages.data(),
                   wrong.as<uint32_t>()};
        const double milliseconds = median_time(options_, [&] {
            kernel.launch(blocks, &job);
            if (study.hash == nullptr) return;
            void* arguments[] = {&job};
            check(cudaLaunchKernel(
                study.hash, dim3(static_cast<unsigned>((count_ + hash_threads - 1) / hash_threads)),
                dim3(hash_threads), arguments, 0, nullptr));
        });
        agree(same(secrets, secrets_) && (!encapsulates || same(ciphertexts, ciphertexts_)));
        return kernel.figure(count_, milliseconds, blocks);
    }

    const KemStep& step_;
    const KemOptions& options_;
    const uint64_t count_;
    Product product_;
    const Params& set_;
    Rows public_keys_, secret_keys_, ciphertexts_, secrets_;
};

class ComponentRun {
public:
    ComponentRun(const ComponentStudy& study, const KemOptions& options)
        : study_(study),
          options_(options),
          kernel_(study.kernel, 1, 1, study.bytes, options),
          memory_(study.bytes) {}

    KemMeasured measure() const {
        compare();
        const uint64_t count = options_.count != 0 ? options_.count : count_for(options_.seconds);
        return kernel_.figure(count, median_time(options_, [&] { launch(count); }), 1);
    }

private:
    void launch(uint64_t count) const {
        ComponentJob job{count, memory_.data()};
        kernel_.launch(1, &job);
    }

    // Runs the component a few times on noise and compares.
    void compare() const {
        constexpr uint64_t times = 5;
        Noise expected(study_.bytes), made(study_.bytes);
        check(cudaMemcpy(memory_.data(), made.data(), study_.bytes, cudaMemcpyHostToDevice));
        launch(times);
        check(cudaMemcpy(made.data(), memory_.data(), study_.bytes, cudaMemcpyDeviceToHost));
        study_.on_host(expected.data(), times);
        agree(std::memcmp(made.data(), expected.data(), study_.bytes) == 0);
    }
    // Aligned to 64 bytes, as polynomials are.
    class Noise {
    public:
        explicit Noise(size_t bytes) : memory_(bytes + 64) {
            for (size_t i = 0; i < bytes; ++i) data()[i] = ntru::coin(1, static_cast<int>(i));
        }
        uint8_t* data() { return aligned(memory_); }

    private:
        std::vector<uint8_t> memory_;
    };

    // Returns how many take about `seconds`.
    uint64_t count_for(double seconds) const {
        constexpr uint64_t tried = 4;
        KemOptions few = options_;
        few.repetitions = 2;
        const double of_one = median_time(few, [&] { launch(tried); }) / tried / 1000;
        return std::clamp<uint64_t>(static_cast<uint64_t>(seconds / of_one), tried, count_of_paper);
    }

    const ComponentStudy& study_;
    const KemOptions& options_;
    const Kernel kernel_;
    const Memory memory_;
};

template <class Measure>
warpseal_status on_device(const KemOptions& options, KemMeasured* measured,
                          const Measure& measure) {
    int count = 0;
    if (gpu_backend()->device_count(&count) != WARPSEAL_OK || options.device < 0 ||
        options.device >= count)
        return WARPSEAL_NO_DEVICE;
    try {
        check(cudaSetDevice(options.device));
        *measured = measure();
        return WARPSEAL_OK;
    } catch (const Failure& failure) {
        return failure.status;
    } catch (const std::bad_alloc&) {
        return WARPSEAL_OUT_OF_MEMORY;
    }
}

}  // namespace

warpseal_status run(const KemStep& step, const KemOptions& options, KemMeasured* measured) {
    if (options.count == 0) return WARPSEAL_INVALID_ARGUMENT;
    return on_device(options, measured, [&] { return KemRun(step, options).measure(); });
}

warpseal_status run(const Component& component, const KemOptions& options, KemMeasured* measured) {
    return on_device(options, measured,
                     [&] { return ComponentRun(*component.study, options).measure(); });
}

}  // namespace warpseal::ladder
