// The kernel shapes on a core: sweep, fold and batch, for any cipher in the form that the target gives it; and the door made of them.
#pragma once

#include "backends/ops.h"
#include "core/block.h"
#include "core/secret.h"
#include "core/table.h"
#include "macs/ghash.h"
#include "modes/ctr.h"
#include "modes/ecb.h"
#include "modes/gcm.h"

// Included after the target's header, which defines FormOf and Hash. Everything has internal linkage: each object keeps its own copies.
namespace warpseal::cpu {
namespace {

template <bool first, class A, class B>
struct Choose {
    using type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
    using type = B;
};

// Compilers spill round keys and states to the stack. What deals in them is called through here, and the stack below is then cleared as
// far as the frames reach (gcc's -fstack-usage).
template <auto function, size_t stack_bytes>
struct Cleared;
template <class Result, class... Argument, Result (*function)(Argument...), size_t stack_bytes>
struct Cleared<function, stack_bytes> {
    static Result call(Argument... argument) {
        Result (*work)(Argument...) = function;
        __asm__ __volatile__("" : "+r"(work));  // so that it gets a frame of its own
        if constexpr (__is_same(Result, void)) {
            work(argument...);
            clear();
        } else {
            const Result result = work(argument...);
            clear();
            return result;
        }
    }

private:
    __attribute__((noinline)) static void clear() {
        uint8_t stack[stack_bytes];
        wipe(stack, sizeof stack);
    }
};

template <class Cipher>
struct Shapes {
    using Form = typename FormOf<Cipher>::type;
    using Text = Block<Cipher::block_bytes / 4>;

    static constexpr bool has_gcm = Cipher::block_bytes == 16;  // SP 800-38D 5.1

    struct NoHash {};
    struct State {
        typename Form::Schedule schedule;
        typename Choose<has_gcm, Hash::Key, NoHash>::type hash;
    };
    static const State& state_of(const void* state) { return *static_cast<const State*>(state); }

    static void expand(void* memory, const uint8_t* key) {
        State& state = *static_cast<State*>(memory);
        Form::expand(state.schedule, key);
        if constexpr (has_gcm) {
            Secret<16> h;  // the block of zeros, encrypted
            Form::template sweep<modes::Ecb, Direction::encrypt>(state.schedule, Text{}, 0, h.data(), h.data(), 16);
            Hash::set(state.hash, load_block<4>(h.data()));
        }
    }

    // ---- sweep

    template <class Mode, Direction direction>
    static void sweep(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        Text first{};
        if constexpr (Mode::has_iv) first = load_block<Text::words>(iv);
        Form::template sweep<Mode, direction>(state_of(state).schedule, first, first_block, in, out, bytes);
    }

    // ---- fold: GCM, SP 800-38D 7

    static void gcm_begin(const void* memory, const uint8_t* iv, size_t iv_bytes, const uint8_t* aad, size_t aad_bytes, GcmRun* run) {
        const State& state = state_of(memory);
        Block<4> sum{};
        if (iv_bytes == modes::Gcm::plain_iv_bytes) {
            store_block(run->counter0, modes::Gcm::pre_counter_block(iv));
        } else {
            Hash::absorb(state.hash, sum, iv, iv_bytes);
            absorb_lengths(state, sum, 0, iv_bytes);
            store_block(run->counter0, sum);
            sum = {};
        }
        if (aad_bytes != 0) Hash::absorb(state.hash, sum, aad, aad_bytes);
        store_block(run->sum, sum);
    }

    template <Direction direction>
    static void gcm_piece(const void* memory, GcmRun* run, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        const State& state = state_of(memory);
        const Block<4> j0 = load_block<4>(run->counter0);
        Block<4> sum = load_block<4>(run->sum);
        if constexpr (requires { &Form::template fold<direction>; }) {
            Form::template fold<direction>(state.schedule, state.hash, j0, sum, first_block, in, out, bytes);
        } else {
            constexpr size_t stretch_bytes = 8192;  // both passes within the first cache
            while (bytes != 0) {
                const size_t n = bytes < stretch_bytes ? bytes : stretch_bytes;
                if (direction == Direction::decrypt) Hash::absorb(state.hash, sum, in, n);
                Form::template sweep<modes::Gcm, direction>(state.schedule, j0, first_block, in, out, n);
                if (direction == Direction::encrypt) Hash::absorb(state.hash, sum, out, n);
                in += n, out += n, bytes -= n, first_block += n / 16;
            }
        }
        store_block(run->sum, sum);
    }

    static void gcm_combine(const void* state, uint8_t sum[16], const uint8_t part[16], uint64_t block_count) {
        Block<4> s = load_block<4>(sum);
        Hash::combine(state_of(state).hash, s, load_block<4>(part), block_count);
        store_block(sum, s);
    }

    static void gcm_finish(const void* memory, const GcmRun* run, uint64_t aad_bytes, uint64_t text_bytes, uint8_t tag[16]) {
        const State& state = state_of(memory);
        Block<4> sum = load_block<4>(run->sum);
        absorb_lengths(state, sum, aad_bytes, text_bytes);
        Secret<16> mask;
        Form::template sweep<modes::Ecb, Direction::encrypt>(state.schedule, Block<4>{}, 0, run->counter0, mask.data(), 16);
        store_block(tag, sum ^ load_block<4>(mask.data()));
    }

    static void absorb_lengths(const State& state, Block<4>& sum, uint64_t aad_bytes, uint64_t text_bytes) {
        uint8_t lengths[16];
        store_block(lengths, macs::ghash::length_block(aad_bytes, text_bytes));
        Hash::absorb(state.hash, sum, lengths, sizeof lengths);
    }

    // ---- batch

    struct Message {
        const uint8_t* iv;
        const uint8_t* in;
        uint8_t* out;
        size_t bytes;
    };
    static Message message_of(const warpseal_batch& batch, uint64_t i) {
        return {batch.ivs + i * batch.iv_stride, batch.in + (batch.in_offsets ? batch.in_offsets[i] : i * batch.in_stride),
                batch.out + (batch.out_offsets ? batch.out_offsets[i] : i * batch.out_stride),
                static_cast<size_t>(batch.lengths ? batch.lengths[i] : batch.message_bytes)};
    }

    // Calls work(state, i) for each message, with the shared state or one expanded for it; counts what comes back false.
    template <class Work>
    WARPSEAL_INLINE static uint64_t each_message(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count,
                                                 Work work) {
        uint64_t failed = 0;
        SecretOf<State> own;
        for (uint64_t i = first; i < first + count; ++i) {
            if (batch.keys) expand(&own.value, batch.keys + i * Cipher::key_bytes);
            const bool good = work(batch.keys ? &own.value : state, i);
            if (batch.statuses) batch.statuses[i] = good ? WARPSEAL_OK : WARPSEAL_NOT_AUTHENTIC;
            failed += !good;
        }
        return failed;
    }

    template <class Mode, Direction direction>
    static uint64_t sweep_batch(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        return each_message(state, batch, first, count, [&](const void* key, uint64_t i) {
            const Message m = message_of(batch, i);
            sweep<Mode, direction>(key, m.iv, 0, m.in, m.out, m.bytes);
            return true;
        });
    }

    template <Direction direction>
    static uint64_t gcm_batch(const void* state, const warpseal_batch& batch, uint64_t first, uint64_t count) {
        return each_message(state, batch, first, count, [&](const void* key, uint64_t i) {
            const Message m = message_of(batch, i);
            GcmRun run;
            gcm_begin(key, m.iv, batch.iv_bytes, batch.aad + i * batch.aad_stride, batch.aad_bytes, &run);
            gcm_piece<direction>(key, &run, 0, m.in, m.out, m.bytes);
            Secret<16> tag;
            gcm_finish(key, &run, batch.aad_bytes, m.bytes, tag.data());
            uint8_t* const message_tag = batch.tags + i * batch.tag_stride;
            if constexpr (direction == Direction::encrypt) {
                memcpy(message_tag, tag.data(), batch.tag_bytes);
                return true;
            }
            const bool good = equal_secret(tag.data(), message_tag, batch.tag_bytes);
            if (!good) wipe(m.out, m.bytes);
            return good;
        });
    }

    // ---- the door

    static constexpr bool in_planes = !requires { &Form::template fold<Direction::encrypt>; };
    template <auto function>
    static constexpr auto* cleared = Cleared<function, in_planes ? 24576 : 6144>::call;
    template <auto function>
    static constexpr auto* cleared_of_little = Cleared<function, in_planes ? 24576 : 1024>::call;

    static constexpr CpuCipher describe() {
        using modes::Ctr, modes::Ecb;
        constexpr Direction encrypt = Direction::encrypt, decrypt = Direction::decrypt;
        CpuCipher c{};
        c.name = Cipher::name;
        c.key_bytes = Cipher::key_bytes;
        c.block_bytes = Cipher::block_bytes;
        c.modes = 1u << WARPSEAL_ECB | 1u << WARPSEAL_CTR;
        c.state_bytes = sizeof(State);
        c.expand = cleared<expand>;
        c.sweep[WARPSEAL_ECB][0] = cleared<sweep<Ecb, encrypt>>;
        c.sweep[WARPSEAL_ECB][1] = cleared<sweep<Ecb, decrypt>>;
        c.sweep[WARPSEAL_CTR][0] = c.sweep[WARPSEAL_CTR][1] = cleared<sweep<Ctr, encrypt>>;
        c.batch[WARPSEAL_CTR][0] = c.batch[WARPSEAL_CTR][1] = cleared<sweep_batch<Ctr, encrypt>>;
        if constexpr (has_gcm) {
            c.modes |= 1u << WARPSEAL_GCM;
            c.gcm_begin = cleared_of_little<gcm_begin>;
            c.gcm_piece[0] = cleared<gcm_piece<encrypt>>;
            c.gcm_piece[1] = cleared<gcm_piece<decrypt>>;
            c.gcm_combine = cleared_of_little<gcm_combine>;
            c.gcm_finish = cleared_of_little<gcm_finish>;
            c.batch[WARPSEAL_GCM][0] = cleared<gcm_batch<encrypt>>;
            c.batch[WARPSEAL_GCM][1] = cleared<gcm_batch<decrypt>>;
        }
        c.known = Cipher::known();
        return c;
    }
};

template <class Ciphers>
struct Set;
template <class... Cipher>
struct Set<List<Cipher...>> {
    static constexpr CpuCipher ciphers[] = {Shapes<Cipher>::describe()...};
};

template <class Ciphers>
constexpr CpuCipherSet set() {
    return {Set<Ciphers>::ciphers, sizeof Set<Ciphers>::ciphers / sizeof(CpuCipher)};
}

}  // namespace
}  // namespace warpseal::cpu
