// Builds the backend interface of a cipher header from the kernels.
#pragma once

#include "backends/cipher_backend.h"
#include "backends/cuda/kernels/batch.cuh"
#include "backends/cuda/kernels/bitsliced.cuh"
#include "backends/cuda/kernels/ccm.cuh"
#include "backends/cuda/kernels/chain.cuh"
#include "backends/cuda/kernels/gcm.cuh"
#include "backends/cuda/kernels/previous_block.cuh"
#include "backends/cuda/kernels/sweep.cuh"
#include "backends/cuda/kernels/xts.cuh"

namespace warpseal::cuda {

// Backend entry for a sweep of one mode and direction. Uses the schedule for the direction in which
// the cipher itself runs.
template <class Cipher, class Mode, Direction direction, class SharedMemoryLimit>
warpseal_status sweep_entry(const void* state, const uint8_t* iv, uint64_t first_block,
                            const uint8_t* in, uint8_t* out, size_t bytes, void* stream_pointer) {
    constexpr Direction cipher_direction = Mode::keystream ? Direction::encrypt : direction;
    const auto& schedule =
        static_cast<const State<Cipher>*>(state)->template schedule<cipher_direction>();
    const auto stream = static_cast<cudaStream_t>(stream_pointer);
    Limits limits;
    const warpseal_status status = current_limits(limits);
    if (status != WARPSEAL_OK) return status;
    constexpr bool has_bitsliced = HasBitsliced<Cipher> && Cipher::block_bytes == 8;
    const size_t done = has_bitsliced ? bitsliced_bytes(in, out, bytes, limits) : 0;
    const auto rest = [&] {
        if constexpr (Mode::takes_previous)
            return previous_sweep<Cipher, Mode, cipher_direction, SharedMemoryLimit>(
                schedule, done == 0 ? iv : nullptr, in + done, out + done, bytes - done, limits,
                stream);
        else
            return sweep<Cipher, Mode, cipher_direction, SharedMemoryLimit>(
                schedule, iv, first_block + done / Cipher::block_bytes, in + done, out + done,
                bytes - done, limits, stream);
    };
    // The remaining text goes first: in place, the bitsliced kernel would overwrite the ciphertext
    // block before it.
    if constexpr (has_bitsliced)
        if (done != 0)
            return bitsliced_sweep<Cipher, Mode, cipher_direction, SharedMemoryLimit>(
                schedule, iv, first_block, in, out, done, limits, stream, rest);
    return rest();
}

// Stack in bytes to zeroize after key expansion and GHASH on the host: see StackZeroizer.
inline constexpr size_t host_stack_bytes = 4096;

template <class Cipher, class SharedMemoryLimit>
constexpr CudaCipher cipher() {
    constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
    CudaCipher c{};
    c.name = Cipher::name;
    c.key_bytes = Cipher::key_bytes;
    c.block_bytes = Cipher::block_bytes;
    c.state_bytes = sizeof(State<Cipher>);
    c.representation = HasBitsliced<Cipher> && Cipher::block_bytes == 8 ? "bitsliced"
                       : HasTables<Cipher>                              ? "table-based"
                       : HasWords<Cipher>                               ? "word-sliced"
                                                                        : "byte-sliced";
    c.expand = StackZeroizer<expand<Cipher>, host_stack_bytes>::call;
    if constexpr (requires { Cipher::legacy; }) c.legacy = Cipher::legacy;
    if constexpr (requires { Cipher::weak(nullptr); }) c.weak = Cipher::weak;
    c.sweep[WARPSEAL_ECB][0] = sweep_entry<Cipher, modes::Ecb, encrypt, SharedMemoryLimit>;
    c.sweep[WARPSEAL_ECB][1] = sweep_entry<Cipher, modes::Ecb, decrypt, SharedMemoryLimit>;
    c.sweep[WARPSEAL_CTR][0] = c.sweep[WARPSEAL_CTR][1] =
        sweep_entry<Cipher, modes::Ctr, encrypt, SharedMemoryLimit>;
    c.sweep[WARPSEAL_CBC][1] =
        sweep_entry<Cipher, modes::CbcDecryption, decrypt, SharedMemoryLimit>;
    c.sweep[WARPSEAL_CFB][1] =
        sweep_entry<Cipher, modes::CfbDecryption, decrypt, SharedMemoryLimit>;
    c.batch[WARPSEAL_CTR][0] = c.batch[WARPSEAL_CTR][1] = ctr_batch<Cipher, SharedMemoryLimit>;
    c.batch[WARPSEAL_CBC][0] = chain_batch<Cipher, modes::CbcEncryption, SharedMemoryLimit>;
    c.batch[WARPSEAL_CBC][1] =
        previous_batch<Cipher, modes::CbcDecryption, decrypt, SharedMemoryLimit>;
    c.batch[WARPSEAL_CFB][0] = chain_batch<Cipher, modes::CfbEncryption, SharedMemoryLimit>;
    c.batch[WARPSEAL_CFB][1] =
        previous_batch<Cipher, modes::CfbDecryption, encrypt, SharedMemoryLimit>;
    c.batch[WARPSEAL_OFB][0] = c.batch[WARPSEAL_OFB][1] =
        chain_batch<Cipher, modes::Ofb, SharedMemoryLimit>;
    c.batch[WARPSEAL_CMAC][0] = cmac_batch<Cipher, encrypt, SharedMemoryLimit>;
    c.batch[WARPSEAL_CMAC][1] = cmac_batch<Cipher, decrypt, SharedMemoryLimit>;
    c.modes = 1u << WARPSEAL_ECB | 1u << WARPSEAL_CTR | 1u << WARPSEAL_CBC | 1u << WARPSEAL_CFB |
              1u << WARPSEAL_OFB | 1u << WARPSEAL_CMAC;
    if constexpr (Cipher::block_bytes == 16) {
        c.modes |= 1u << WARPSEAL_XTS | 1u << WARPSEAL_GCM | 1u << WARPSEAL_CCM;
        c.xts[0] = xts<Cipher, encrypt, SharedMemoryLimit>;
        c.xts[1] = xts<Cipher, decrypt, SharedMemoryLimit>;
        c.batch[WARPSEAL_CCM][0] = ccm_batch<Cipher, encrypt, SharedMemoryLimit>;
        c.batch[WARPSEAL_CCM][1] = ccm_batch<Cipher, decrypt, SharedMemoryLimit>;
        c.batch[WARPSEAL_GCM][0] = gcm_batch<Cipher, encrypt, SharedMemoryLimit>;
        c.batch[WARPSEAL_GCM][1] = gcm_batch<Cipher, decrypt, SharedMemoryLimit>;
        c.gcm_segment[0] = gcm_segment<Cipher, encrypt, SharedMemoryLimit>;
        c.gcm_segment[1] = gcm_segment<Cipher, decrypt, SharedMemoryLimit>;
        c.gcm_combine = StackZeroizer<gcm_combine<Cipher>, host_stack_bytes>::call;
    }
    return c;
}

template <class SharedMemoryLimit, class... Ciphers>
inline constexpr CudaCipher ciphers_of[] = {cipher<Ciphers, SharedMemoryLimit>()...};

template <class SharedMemoryLimit, class... Ciphers>
constexpr CudaCipherSet set(List<Ciphers...>) {
    return {ciphers_of<SharedMemoryLimit, Ciphers...>, sizeof...(Ciphers)};
}

}  // namespace warpseal::cuda
