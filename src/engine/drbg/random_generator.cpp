// Random generator: seeding, and output on cores, on GPUs and in device memory.
#include "engine/drbg/random_generator.h"

#include <algorithm>
#include <cstring>

#include "core/secret.h"
#include "engine/engine_impl.h"
#include "engine/refusal.h"

namespace warpseal {
namespace {

constexpr const char* cipher = "aes-256";
// Output of the leaves that one request to the root seeds.
constexpr uint64_t group_bytes = drbg::max_leaves * drbg::max_request_bytes;

warpseal_status tested_aes(Engine::Impl& impl, const CpuCipher*& out) {
    Target target = Target::portable;
    warpseal_status status =
        impl.tested_cores(impl.descriptors(cipher), WARPSEAL_CTR, Direction::encrypt, target);
    if (status != WARPSEAL_OK) return status;
    const CpuCipher* const aes = impl.cpu_cipher(target, cipher);
    bool failed_now = false;
    // Identifies the path by the address of a field, which is unique.
    status = self_test_result(
        {&aes->expand, nullptr, -1, Path::cores, WARPSEAL_CTR, Direction::encrypt},
        [&] { return test_ctr_drbg(*aes); }, &failed_now);
    if (failed_now && impl.notice) impl.notice("the random generator failed its self-test");
    out = aes;
    return status;
}

}  // namespace

RandomGenerator::RandomGenerator(Engine& engine, const RandomGeneratorOptions& options,
                                 Engine::RandomSource random, const CpuCipher& aes)
    : engine_(engine),
      random_(random),
      prediction_resistance_(options.prediction_resistance),
      root_(aes) {}

warpseal_status RandomGenerator::create(Engine& engine, const RandomGeneratorOptions& options,
                                        Engine::RandomSource random,
                                        std::unique_ptr<RandomGenerator>& out) {
    if (options.personalization.size > drbg::seed_bytes) return WARPSEAL_LIMIT_EXCEEDED;
    const CpuCipher* aes = nullptr;
    warpseal_status status = tested_aes(engine.impl(), aes);
    if (status != WARPSEAL_OK) return status;
    std::unique_ptr<RandomGenerator> made(new RandomGenerator(engine, options, random, *aes));
    const Workspaces::Lease schedule = made->workspaces_.lease(aes->state_bytes);
    if (!schedule) return WARPSEAL_OUT_OF_MEMORY;
    made->mask_ = instantiation_mask(*aes, schedule.data());
    status = made->open(options);
    if (status == WARPSEAL_OK) out = std::move(made);
    return status;
}

warpseal_status RandomGenerator::open(const RandomGeneratorOptions& options) {
    if (!root_.allocate() || !personalization_.allocate(drbg::seed_bytes))
        return WARPSEAL_OUT_OF_MEMORY;
    if (options.personalization.size != 0)
        std::memcpy(personalization_.data(), options.personalization.data,
                    options.personalization.size);
    const uint8_t unused[CtrDrbg::key_bytes] = {};
    const warpseal_status status = engine_.key(cipher, {unused, sizeof unused}, key_, KeyKind::one,
                                               WeakKeys::refused, KeyUse::host_memory);
    return status == WARPSEAL_OK ? with_root([] {}) : status;
}

warpseal_status RandomGenerator::draw_entropy(uint8_t entropy[drbg::seed_bytes]) {
    return random_(entropy, drbg::seed_bytes) ? WARPSEAL_OK : WARPSEAL_NO_RANDOM;
}

// Seeds a root that has no seed, has one of the parent process, or is due for a reseed.
warpseal_status RandomGenerator::seed_root() {
    const bool ours = root_.instantiated() && forks_ == forks_so_far();
    if (ours && !root_.needs_reseed() && !prediction_resistance_) return WARPSEAL_OK;
    Secret<drbg::seed_bytes> entropy;
    const warpseal_status status = draw_entropy(entropy.data());
    if (status != WARPSEAL_OK) return status;
    if (ours) {
        root_.reseed(entropy.data());
        return WARPSEAL_OK;
    }
    const auto* const personalization = static_cast<const uint8_t*>(personalization_.data());
    for (size_t i = 0; i < entropy.size(); ++i) entropy.data()[i] ^= personalization[i];
    root_.instantiate(entropy.data());
    forks_ = forks_so_far();
    return WARPSEAL_OK;
}

template <class Work>
warpseal_status RandomGenerator::with_root(const Work& work) {
    const std::lock_guard lock(mutex_);
    const warpseal_status status = seed_root();
    if (status == WARPSEAL_OK) work();
    return status;
}

warpseal_status RandomGenerator::reseed(Bytes additional) {
    if (additional.size > drbg::seed_bytes) return WARPSEAL_LIMIT_EXCEEDED;
    Secret<drbg::seed_bytes> entropy;
    warpseal_status status = draw_entropy(entropy.data());
    if (status != WARPSEAL_OK) return status;
    for (size_t i = 0; i < additional.size; ++i) entropy.data()[i] ^= additional.data[i];
    return with_root([&] { root_.reseed(entropy.data()); });
}

warpseal_status RandomGenerator::fill_group(uint8_t* out, size_t bytes) {
    const uint64_t count = drbg::leaves_for(bytes);
    const Workspaces::Lease memory = workspaces_.lease(Leaves::bytes_for(count));
    if (!memory) return WARPSEAL_OUT_OF_MEMORY;
    Leaves leaves(static_cast<uint8_t*>(memory.data()), count);
    warpseal_status status =
        with_root([&] { root_.generate(leaves.seeds(), count * drbg::seed_bytes); });
    if (status != WARPSEAL_OK) return status;
    leaves.instantiate(mask_);
    for (const warpseal_batch& batch : {leaves.whole(out, bytes), leaves.rest(out, bytes)})
        if (status == WARPSEAL_OK && batch.message_count != 0)
            status = engine_.batch(*key_, WARPSEAL_CTR, Direction::encrypt, batch);
    return status;
}

warpseal_status RandomGenerator::fill(uint8_t* out, size_t bytes) {
    if (out == nullptr && bytes != 0) return refuse("out is null");
    if (bytes > PTRDIFF_MAX) return refuse("bytes is %zu: no memory is that large", bytes);
    for (size_t at = 0; at < bytes;) {
        const size_t some = std::min<uint64_t>(bytes - at, group_bytes);
        const warpseal_status status = fill_group(out + at, some);
        if (status != WARPSEAL_OK) {
            wipe(out, bytes);
            return status;
        }
        at += some;
    }
    return WARPSEAL_OK;
}

// Finds and tests the GPU that holds `out`.
warpseal_status RandomGenerator::find_gpu(const uint8_t* out, unsigned& number) {
    Engine::Impl& impl = engine_.impl();
    const Key::Descriptors& descriptors = key_->descriptors();
    warpseal_status status = descriptors.cuda == nullptr ? WARPSEAL_NO_DEVICE : impl.gpus.open();
    if (status != WARPSEAL_OK) return status;
    const int holder = impl.gpus.holding(out);
    if (holder < 0 && !impl.gpus.possible()) return WARPSEAL_NO_DEVICE;
    if (holder < 0) return refuse("out is not in the memory of a GPU of this engine");
    number = static_cast<unsigned>(holder);
    Gpu& gpu = impl.gpus[number];
    if ((gpus_tested_.load(std::memory_order_acquire) >> number & 1) != 0) return gpu.open();
    status = impl.test_gpu_path(descriptors, WARPSEAL_CTR, Direction::encrypt,
                                Path::gpu_device_memory, number);
    if (status != WARPSEAL_OK) return status;
    const CpuCipher* aes = nullptr;
    status = tested_aes(impl, aes);
    if (status != WARPSEAL_OK) return status;
    bool failed_now = false;
    status = self_test_result(
        {&gpu.backend().drbg_device, &gpu.backend(), gpu.device(), Path::gpu_device_memory,
         WARPSEAL_CTR, Direction::encrypt},
        [&] { return test_drbg_device(gpu.backend(), gpu.device(), *descriptors.cuda, *aes); },
        &failed_now);
    if (failed_now && impl.notice)
        impl.notice("cuda failed the self-test of the random generator and is closed for it");
    if (status == WARPSEAL_OK) gpus_tested_.fetch_or(1u << number, std::memory_order_acq_rel);
    return status;
}

warpseal_status RandomGenerator::queue_group(unsigned number, uint8_t* out, size_t bytes,
                                             void* stream) {
    const Gpu& gpu = engine_.impl().gpus[number];
    const CudaCipher& aes = *key_->descriptors().cuda;
    const Workspaces::Lease state = workspaces_.lease(aes.state_bytes);
    if (!state) return WARPSEAL_OUT_OF_MEMORY;
    Secret<CtrDrbg::key_bytes> key;
    SecretOf<DrbgRequest> request;
    request.value = {&aes, state.data(), {}, {}};
    std::memcpy(request.value.instantiation, mask_.bytes, sizeof mask_.bytes);
    const warpseal_status status = with_root([&] {
        root_.next(key.data(), request.value.counter);
        root_.skip(drbg::leaves_for(bytes) * drbg::seed_bytes);
    });
    if (status != WARPSEAL_OK) return status;
    aes.expand(state.data(), key.data());
    return gpu.backend().drbg_device(gpu.device(), request.value, out, bytes, stream);
}

warpseal_status RandomGenerator::fill_device(uint8_t* out, size_t bytes, void* stream) {
    if (out == nullptr && bytes != 0) return refuse("out is null");
    if (bytes > PTRDIFF_MAX) return refuse("bytes is %zu: no memory is that large", bytes);
    if (bytes == 0) return engine_.cuda_device() < 0 ? WARPSEAL_NO_DEVICE : WARPSEAL_OK;
    unsigned number = 0;
    warpseal_status status = find_gpu(out, number);
    if (status != WARPSEAL_OK) return status;
    for (size_t at = 0; at < bytes && status == WARPSEAL_OK;) {
        const size_t some = std::min<uint64_t>(bytes - at, group_bytes);
        status = queue_group(number, out + at, some, stream);
        at += some;
    }
    Engine::Impl& impl = engine_.impl();
    impl.gpus[number].zeroize_launches();  // the driver's copy of launch parameters has round keys
    // The caller may have caused the failure, so only a lost GPU is reported.
    if (status != WARPSEAL_OK) (void)impl.gpus.any_open();
    return status;
}

}  // namespace warpseal
