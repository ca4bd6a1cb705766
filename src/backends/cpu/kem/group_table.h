// The CpuKem of a scheme on cores that runs a group of items at a time: ML-KEM, X25519, hybrids.
#pragma once

#include "backends/kem_backend.h"
#include "core/secret.h"

namespace warpseal::cpu {
namespace {

// Operations: the functions of one parameter set on one target. run<some> calls some(...) for each
// group. stack_bytes: stack that they may spill to; zeroized after each call.
template <class Operations, size_t stack_bytes>
constexpr CpuKem table_of(uint32_t group) {
    using O = Operations;
    return {nullptr,
            {group, group, group},
            O::work_bytes,
            {StackZeroizer<O::template run<O::keypair_some>, stack_bytes>::call,
             StackZeroizer<O::template run<O::encapsulate_some>, stack_bytes>::call,
             StackZeroizer<O::template run<O::decapsulate_some>, stack_bytes>::call},
            O::prepared_bytes,
            {StackZeroizer<O::prepare_public, stack_bytes>::call,
             StackZeroizer<O::prepare_secret, stack_bytes>::call},
            {StackZeroizer<O::template run<O::encapsulate_prepared_some>, stack_bytes>::call,
             StackZeroizer<O::template run<O::decapsulate_prepared_some>, stack_bytes>::call}};
}

}  // namespace
}  // namespace warpseal::cpu
