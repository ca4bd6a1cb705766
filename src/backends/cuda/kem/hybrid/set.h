// X25519 as a key encapsulation mechanism and its hybrids with ML-KEM-768 on a GPU: each half on
// all items, then the combiner.
#pragma once

#include <algorithm>

#include "backends/cuda/kem/hybrid/combine.h"
#include "backends/cuda/kem/x25519/products.h"
#include "backends/kem_catalogue.h"

namespace warpseal::cuda::hybrid {

using x25519::ProductJob;

// Steps queues a call's steps: see CudaSteps (instance.cu). Tests run them on the host.
template <const kem::HybridParams& set, class Steps>
struct Hybrid {
    static constexpr bool with_mlkem = set.mlkem != nullptr;
    static constexpr bool is_xwing = set.combiner == kem::Combiner::xwing;
    static_assert(!with_mlkem || set.mlkem == &kem::mlkem768);
    // Offset of X25519's half in each array.
    static constexpr size_t in_public_key = with_mlkem ? kem::mlkem768.public_key_bytes() : 0,
                            in_secret_key = with_mlkem ? kem::mlkem768.secret_key_bytes() : 0,
                            in_ciphertext = with_mlkem ? kem::mlkem768.ciphertext_bytes() : 0,
                            in_keypair_coins = with_mlkem ? kem::MlKemParams::keypair_coins : 0,
                            in_coins = with_mlkem ? kem::MlKemParams::encapsulation_coins : 0;

    // Offsets in the scratch of a call: arrays of all items. X-Wing's keys in their long form, and
    // both secrets of an item, are there.
    struct Scratch {
        size_t x25519_secrets, mlkem_secrets, statuses, expanded, public_keys, secret_keys, mlkem;

        Scratch(KemOperation operation, uint64_t count) {
            const bool keypair = operation == KemOperation::keypair,
                       long_keys = is_xwing && operation != KemOperation::encapsulate;
            size_t end = 0;
            const auto reserve = [&](bool used, size_t item_bytes) {
                const size_t begin = end;
                if (used) end += (count * item_bytes + 255) / 256 * 256;
                return begin;
            };
            statuses = reserve(true, sizeof(int32_t));
            x25519_secrets = reserve(!keypair, x25519_bytes);
            mlkem_secrets = reserve(is_xwing && !keypair, kem::MlKemParams::shared_secret_bytes);
            expanded = reserve(long_keys, kem::HybridParams::expanded_bytes);
            public_keys = reserve(long_keys && !keypair, public_key_bytes);
            secret_keys = reserve(long_keys, mlkem_secret_key_bytes);
            mlkem = end;
        }
    };
    static constexpr size_t x25519_bytes = kem::HybridParams::x25519_bytes,
                            public_key_bytes = set.public_key_bytes(),
                            mlkem_secret_key_bytes = in_secret_key;

    static size_t work_bytes(KemOperation operation, uint64_t count) {
        size_t mlkem = 0;
        if constexpr (with_mlkem) {
            mlkem = Steps::mlkem_work_bytes(operation, count);
            // X-Wing derives the key pair again.
            if (is_xwing && operation == KemOperation::decapsulate)
                mlkem = std::max(mlkem, Steps::mlkem_work_bytes(KemOperation::keypair, count));
        }
        return Scratch(operation, count).mlkem + mlkem;
    }

    // The steps of a call. The first that fails ends it.
    class Call {
    public:
        Call(KemOperation operation, const warpseal_kem_batch& batch, uint64_t in_flight,
             void* work, void* stream)
            : batch_(batch),
              in_flight_(in_flight),
              work_(static_cast<uint8_t*>(work)),
              stream_(stream),
              scratch_(operation, batch.count) {}

        warpseal_status keypairs() {
            if constexpr (is_xwing) {
                expand({batch_.coins, batch_.coins_stride},
                       {batch_.secret_keys, batch_.secret_key_stride});
                derive({batch_.public_keys, batch_.public_key_stride}, batch_.statuses);
            } else {
                if constexpr (with_mlkem)
                    run_mlkem(KemOperation::keypair, batch_);
                else
                    clear_statuses();
                multiply({batch_.coins + in_keypair_coins, batch_.coins_stride}, {},
                         {batch_.public_keys + in_public_key, batch_.public_key_stride},
                         {batch_.secret_keys + in_secret_key, batch_.secret_key_stride});
            }
            return status_;
        }
        warpseal_status encapsulations() {
            const Input scalars{batch_.coins + in_coins, batch_.coins_stride},
                points{batch_.public_keys + in_public_key, batch_.public_key_stride};
            multiply(scalars, {}, {batch_.ciphertexts + in_ciphertext, batch_.ciphertext_stride});
            multiply(scalars, points, {rows(scratch_.x25519_secrets), x25519_bytes});
            if constexpr (with_mlkem) run_mlkem(KemOperation::encapsulate, with_results(batch_));
            combine(points, {batch_.ciphertexts, batch_.ciphertext_stride});
            return status_;
        }
        warpseal_status decapsulations() {
            Input scalars{batch_.secret_keys + in_secret_key, batch_.secret_key_stride}, points{};
            warpseal_kem_batch keys = batch_;
            if constexpr (is_xwing) {
                expand({batch_.secret_keys, batch_.secret_key_stride}, {});
                const Output publics{rows(scratch_.public_keys), public_key_bytes};
                derive(publics, nullptr);
                keys.secret_keys = rows(scratch_.secret_keys);
                keys.secret_key_stride = mlkem_secret_key_bytes;
                scalars = expanded_scalars();
                points = {publics.at + in_public_key, publics.stride};
            }
            multiply(scalars, {batch_.ciphertexts + in_ciphertext, batch_.ciphertext_stride},
                     {rows(scratch_.x25519_secrets), x25519_bytes});
            if constexpr (with_mlkem) run_mlkem(KemOperation::decapsulate, with_results(keys));
            combine(points, {});
            return status_;
        }

    private:
        uint8_t* rows(size_t offset) const { return work_ + offset; }
        int32_t* mlkem_statuses() const {
            return reinterpret_cast<int32_t*>(rows(scratch_.statuses));
        }
        Input expanded_scalars() const {
            return {rows(scratch_.expanded) + kem::MlKemParams::keypair_coins,
                    kem::HybridParams::expanded_bytes};
        }
        // Runs the next step unless one failed.
        template <class Step>
        void then(const Step& step) {
            if (status_ == WARPSEAL_OK) status_ = step();
        }

        void multiply(Input scalars, Input points, Output products, Output copies = {}) {
            const ProductJob job{batch_.count, scalars, points, products, copies};
            then([&] { return Steps::multiply(job, stream_); });
        }
        void clear_statuses() {
            if (batch_.statuses != nullptr)
                then([&] { return Steps::clear(batch_.statuses, batch_.count, stream_); });
        }
        void run_mlkem(KemOperation operation, const warpseal_kem_batch& batch) {
            then([&] {
                return Steps::mlkem(operation, batch, in_flight_, rows(scratch_.mlkem), stream_);
            });
        }
        // ML-KEM's batch with statuses in scratch, and X-Wing's secrets too.
        warpseal_kem_batch with_results(warpseal_kem_batch batch) const {
            batch.statuses = mlkem_statuses();
            if constexpr (is_xwing) {
                batch.shared_secrets = rows(scratch_.mlkem_secrets);
                batch.shared_secret_stride = kem::MlKemParams::shared_secret_bytes;
            }
            return batch;
        }

        void expand(Input seeds, Output copies) {
            const ExpandJob job{batch_.count,
                                seeds,
                                {rows(scratch_.expanded), kem::HybridParams::expanded_bytes},
                                copies};
            then([&] { return Steps::expand(job, stream_); });
        }
        // Derives X-Wing's key pairs from expanded seeds. The secret keys stay in scratch.
        void derive(Output public_keys, int32_t* statuses) {
            warpseal_kem_batch keys = batch_;
            keys.coins = rows(scratch_.expanded);
            keys.coins_stride = kem::HybridParams::expanded_bytes;
            keys.public_keys = public_keys.at;
            keys.public_key_stride = public_keys.stride;
            keys.secret_keys = rows(scratch_.secret_keys);
            keys.secret_key_stride = mlkem_secret_key_bytes;
            keys.statuses = statuses;
            run_mlkem(KemOperation::keypair, keys);
            multiply(expanded_scalars(), {}, {public_keys.at + in_public_key, public_keys.stride});
        }
        // ciphertexts: those that a refused item zeroizes. X-Wing hashes X25519's halves of the
        // public keys and of the batch's ciphertexts.
        void combine(Input x25519_public_keys, Output ciphertexts) {
            const CombineJob job{
                batch_.count,
                {rows(scratch_.x25519_secrets), x25519_bytes},
                mlkem_statuses(),
                {rows(scratch_.mlkem_secrets), kem::MlKemParams::shared_secret_bytes},
                {batch_.ciphertexts + in_ciphertext, batch_.ciphertext_stride},
                x25519_public_keys,
                {batch_.shared_secrets, batch_.shared_secret_stride},
                ciphertexts,
                batch_.statuses};
            then([&] { return Steps::combine(set.combiner, job, stream_); });
        }

        const warpseal_kem_batch& batch_;
        const uint64_t in_flight_;
        uint8_t* const work_;
        void* const stream_;
        const Scratch scratch_;
        warpseal_status status_ = WARPSEAL_OK;
    };

    template <KemOperation operation>
    static warpseal_status run(const warpseal_kem_batch& batch, uint64_t in_flight, void* work,
                               void* stream) {
        if (batch.count == 0) return WARPSEAL_OK;
        Call call(operation, batch, in_flight, work, stream);
        if constexpr (operation == KemOperation::keypair)
            return call.keypairs();
        else if constexpr (operation == KemOperation::encapsulate)
            return call.encapsulations();
        else
            return call.decapsulations();
    }
};

template <const kem::HybridParams& set, class Steps>
constexpr CudaKem cuda_kem_of() {
    using H = Hybrid<set, Steps>;
    return {&kem_sets[kem_set_number(set.name)],
            H::work_bytes,
            {H::template run<KemOperation::keypair>, H::template run<KemOperation::encapsulate>,
             H::template run<KemOperation::decapsulate>}};
}

}  // namespace warpseal::cuda::hybrid
