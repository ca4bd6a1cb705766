// P5's listings with a temporary for each thread, and AES by these or by the printed ones.
#include "bench/papers/openmp.h"

#include <stdexcept>

#ifdef _OPENMP
#include <omp.h>

#include "bench/papers/openmp_as_printed.h"
#include "bench/papers/plain_aes.h"

namespace warpseal::papers {

extern template struct AsPrinted<Optimized>;
extern template struct AsPrinted<Unoptimized>;

namespace {

constexpr ciphers::aes::SBoxes boxes{};

uint8_t xtime(uint8_t x) { return static_cast<uint8_t>(x << 1 ^ (x >> 7) * 0x1b); }

// Table 1: threads take rows.
void substitute(ByteState& state, const uint8_t (&box)[256]) {
    int i, j;
#pragma omp parallel
    {
#pragma omp for private(i, j)
        for (i = 0; i < 4; i++) {
            for (j = 0; j < 4; j++) {
                state[i][j] = box[state[i][j]];
            }
        }
    }
}
void sub_bytes(ByteState& state) { substitute(state, boxes.forward); }
void inverse_sub_bytes(ByteState& state) { substitute(state, boxes.inverse); }

void rotate_left(uint8_t (&row)[4]) {
    const uint8_t temp = row[0];
    row[0] = row[1];
    row[1] = row[2];
    row[2] = row[3];
    row[3] = temp;
}
void rotate_right(uint8_t (&row)[4]) {
    const uint8_t temp = row[3];
    row[3] = row[2];
    row[2] = row[1];
    row[1] = row[0];
    row[0] = temp;
}
void swap(uint8_t& a, uint8_t& b) {
    const uint8_t temp = a;
    a = b;
    b = temp;
}

// Table 2: a section takes row 1 and half of row 2, the other section the rest.
void shift_rows(ByteState& state) {
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            {
                rotate_left(state[1]);
                swap(state[2][0], state[2][2]);
            }
#pragma omp section
            {
                swap(state[2][1], state[2][3]);
                rotate_right(state[3]);
            }
        }
    }
}
void inverse_shift_rows(ByteState& state) {
#pragma omp parallel
    {
#pragma omp sections
        {
#pragma omp section
            {
                rotate_right(state[1]);
                swap(state[2][0], state[2][2]);
            }
#pragma omp section
            {
                swap(state[2][1], state[2][3]);
                rotate_left(state[3]);
            }
        }
    }
}

void mix_column(ByteState& state, int i) {
    const uint8_t t = state[0][i];
    const uint8_t Tmp = state[0][i] ^ state[1][i] ^ state[2][i] ^ state[3][i];
    state[0][i] ^= xtime(state[0][i] ^ state[1][i]) ^ Tmp;
    state[1][i] ^= xtime(state[1][i] ^ state[2][i]) ^ Tmp;
    state[2][i] ^= xtime(state[2][i] ^ state[3][i]) ^ Tmp;
    state[3][i] ^= xtime(state[3][i] ^ t) ^ Tmp;
}

// Table 3: threads take columns.
void mix_columns(ByteState& state) {
    int i;
#pragma omp parallel
    {
#pragma omp for private(i)
        for (i = 0; i < 4; i++) mix_column(state, i);
    }
}
// Adds 04 (a + c) to each byte first (steps.h).
void inverse_mix_columns(ByteState& state) {
    int i;
#pragma omp parallel
    {
#pragma omp for private(i)
        for (i = 0; i < 4; i++) {
            for (int row = 0; row < 2; ++row) {
                const uint8_t sum = xtime(xtime(state[row][i] ^ state[row + 2][i]));
                state[row][i] ^= sum;
                state[row + 2][i] ^= sum;
            }
            mix_column(state, i);
        }
    }
}

using Step = void (*)(ByteState&);
struct Listings {
    Step shift_rows, mix_columns;
};

Listings listings_with(Temporaries temporaries) {
    if (temporaries == Temporaries::shared)
        return {AsPrinted<Optimized>::shift_rows, AsPrinted<Optimized>::mix_columns};
    if (temporaries == Temporaries::shared_unoptimized)
        return {AsPrinted<Unoptimized>::shift_rows, AsPrinted<Unoptimized>::mix_columns};
    return {shift_rows, mix_columns};
}

void add_round_key(ByteState& state, const uint8_t* round_key) {
    for (int i = 0; i < 16; ++i) state[i % 4][i / 4] ^= round_key[i];
}

void encrypt(const Listings& listings, const PlainAes& aes, ByteState& state) {
    add_round_key(state, aes.round_key(0));
    for (int round = 1; round <= aes.rounds(); ++round) {
        sub_bytes(state);
        listings.shift_rows(state);
        if (round < aes.rounds()) listings.mix_columns(state);
        add_round_key(state, aes.round_key(round));
    }
}

void decrypt(const PlainAes& aes, ByteState& state) {
    add_round_key(state, aes.round_key(aes.rounds()));
    for (int round = aes.rounds() - 1; round >= 0; --round) {
        inverse_shift_rows(state);
        inverse_sub_bytes(state);
        add_round_key(state, aes.round_key(round));
        if (round > 0) inverse_mix_columns(state);
    }
}

void use_threads(int threads) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
}

}  // namespace

std::string no_openmp() { return ""; }

Method by_openmp(const std::vector<uint8_t>& key, int threads, Temporaries temporaries) {
    return [aes = PlainAes(key), threads, listings = listings_with(temporaries)](
               bool encrypts, const uint8_t* in, uint8_t* out, uint64_t blocks) {
        use_threads(threads);
        for (uint64_t block = 0; block < blocks; ++block) {
            ByteState state;
            for (int i = 0; i < 16; ++i) state[i % 4][i / 4] = in[16 * block + i];
            if (encrypts)
                encrypt(listings, aes, state);
            else
                decrypt(aes, state);
            for (int i = 0; i < 16; ++i) out[16 * block + i] = state[i % 4][i / 4];
        }
    };
}

void fork_by_openmp(int threads, int count) {
    use_threads(threads);
    int threads_seen = 0;
    for (int i = 0; i < count; ++i) {
#pragma omp parallel
        {
#pragma omp master
            threads_seen = omp_get_num_threads();
        }
        if (threads_seen != threads)
            throw std::runtime_error("OpenMP does not start as many threads as asked for");
    }
}

}  // namespace warpseal::papers

#else

namespace warpseal::papers {

std::string no_openmp() { return "built without OpenMP"; }

Method by_openmp(const std::vector<uint8_t>&, int, Temporaries) {
    throw std::logic_error(no_openmp());
}

void fork_by_openmp(int, int) { throw std::logic_error(no_openmp()); }

}  // namespace warpseal::papers

#endif
