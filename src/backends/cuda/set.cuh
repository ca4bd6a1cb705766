// What one cipher header offers on a GPU: its door, put together from the kernel shapes.
#pragma once

#include "backends/cuda/batch_launch.cuh"
#include "backends/cuda/sweep.cuh"
#include "backends/ops.h"

namespace warpseal::cuda {

// The door's sweep of one mode and direction: picks the schedule of the direction in which the cipher itself runs.
template <class Cipher, class Mode, Direction direction>
warpseal_status sweep_entry(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes,
                            void* stream) {
    const State<Cipher>& s = *static_cast<const State<Cipher>*>(state);
    constexpr Direction way = Mode::keystream ? Direction::encrypt : direction;
    return sweep<Cipher, Mode, way>(way == Direction::encrypt ? s.forward : s.inverse, iv, first_block, in, out, bytes,
                                    static_cast<cudaStream_t>(stream));
}

template <class Cipher>
constexpr CudaCipher cipher() {
    constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
    static_assert(Cipher::block_bytes == 16);
    CudaCipher c{};
    c.name = Cipher::name;
    c.key_bytes = Cipher::key_bytes;
    c.block_bytes = Cipher::block_bytes;
    c.modes = 1u << WARPSEAL_ECB | 1u << WARPSEAL_CTR | 1u << WARPSEAL_GCM;
    c.state_bytes = sizeof(State<Cipher>);
    c.expand = expand<Cipher>;
    c.sweep[WARPSEAL_ECB][0] = sweep_entry<Cipher, modes::Ecb, encrypt>;
    c.sweep[WARPSEAL_ECB][1] = sweep_entry<Cipher, modes::Ecb, decrypt>;
    c.sweep[WARPSEAL_CTR][0] = c.sweep[WARPSEAL_CTR][1] = sweep_entry<Cipher, modes::Ctr, encrypt>;
    c.batch[WARPSEAL_CTR][0] = c.batch[WARPSEAL_CTR][1] = ctr_batch<Cipher>;
    c.batch[WARPSEAL_GCM][0] = gcm_batch<Cipher, encrypt>;
    c.batch[WARPSEAL_GCM][1] = gcm_batch<Cipher, decrypt>;
    c.gcm_piece[0] = gcm_piece<Cipher, encrypt>;
    c.gcm_piece[1] = gcm_piece<Cipher, decrypt>;
    c.gcm_combine = gcm_combine<Cipher>;
    return c;
}

template <class... Ciphers>
inline constexpr CudaCipher all_of[] = {cipher<Ciphers>()...};

template <class... Ciphers>
constexpr CudaCipherSet set(List<Ciphers...>) {
    return {all_of<Ciphers...>, sizeof...(Ciphers)};
}

}  // namespace warpseal::cuda
