// Streaming context: one message of one mode in updates of any size.
#pragma once

#include <cstring>

#include "backends/block_loops.h"
#include "core/block.h"
#include "core/secret.h"
#include "engine/engine.h"
#include "platform/secret_memory.h"

namespace warpseal {

// Not thread-safe. The engine and the key must outlive it.
// Small updates run on the CPU, on a path selected and self-tested at creation, without locks or
// allocations. Large ones take the engine's route.
class StreamingContext {
public:
    // Modes: ECB, CBC, CFB, OFB, CTR, GCM, XTS. In XTS each update is one data unit with the number
    // given to begin().
    static warpseal_status create(Engine& engine, const Key& key, warpseal_mode mode,
                                  Direction direction, std::unique_ptr<StreamingContext>& out);
    StreamingContext(const StreamingContext&) = default;  // independent clone of the message
    StreamingContext& operator=(const StreamingContext&) = delete;

    // Switches to another key of the same engine, cipher and kind, and ends the message.
    // After an error the caller must not begin a message: the previous key may be gone.
    warpseal_status rekey(Engine& engine, const Key& key);

    // Invalid arguments leave the context unchanged, except in begin(), which ends the message.
    warpseal_status begin(Bytes iv);
    warpseal_status aad(Bytes aad);
    warpseal_status update(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status tag(uint8_t* tag, size_t tag_bytes);
    warpseal_status verify(const uint8_t* tag, size_t tag_bytes);
    // See warpseal_internal_stream_shallow_bytes.
    size_t shallow_bytes() const { return instructions_ ? shallow_bytes_of_instructions : 0; }
    // See warpseal_internal_stream_loop. `run` is null if there is no loop.
    struct Loop {
        CpuBlockLoops::Blocks run;
        const void* state;
        uint8_t* feedback;
    };
    Loop loop();
    // See warpseal_internal_stream_position.
    void position(uint8_t* iv, uint32_t* used) const;

private:
    enum class Stage : uint8_t { none, aad, text };

    // Functions of a self-tested target and the key's schedule there.
    struct Path {
        const CpuCipher* cipher = nullptr;
        const void* state = nullptr;
        const void* tweak_state = nullptr;  // XTS
    };

    static constexpr size_t shallow_bytes_of_instructions = 512;
    static constexpr size_t longest_block = 16, full_tag_bytes = 16;
    static constexpr uint8_t zero_iv[12] = {};
    // Minimum update that takes the engine's route: its choice of threads and GPUs then costs at
    // most 1 % of the work.
    static constexpr size_t large_update_bytes = size_t{64} << 10;
    // Minimum update processed directly. Shorter ones use keystream generated ahead, in growing
    // amounts: one call over many blocks costs little more than over one.
    static constexpr size_t bulk_bytes = 512, bulk_bytes_of_instructions = 64;
    // Keystream generated at once.
    static constexpr size_t first_keystream_bytes = 64, max_keystream_bytes = 512;
    static constexpr size_t hashed_at_once_bytes = 512;  // bytes of one GHASH call
    struct MessageState {
        GcmState gcm;                     // GCM: J0 and GHASH accumulator; CTR: first counter block
        GcmState scratch;                 // for another accumulator, or for the last block of text
        uint8_t feedback[longest_block];  // CBC, CFB, OFB: see position()
        uint8_t tag_mask[longest_block];  // encrypted J0
        uint8_t keystream[longest_block + max_keystream_bytes];
        // AAD and ciphertext that is not hashed yet, with room for the length block.
        uint8_t unhashed[hashed_at_once_bytes + longest_block];
    };

    // Secret memory for keystream and tag mask. Throws std::bad_alloc.
    class SecretMessageState {
    public:
        SecretMessageState() : value(memory()) {}
        SecretMessageState(const SecretMessageState& other) : value(memory()) {
            memcpy(&value, &other.value, sizeof value);
        }
        SecretMessageState& operator=(const SecretMessageState&) = delete;

    private:
        MessageState& memory();
        SecretMemory memory_;

    public:
        MessageState& value;
    };

    StreamingContext(Engine& engine, const Key& key, warpseal_mode mode, Direction direction);

    // Select and self-test the functions that run messages under the key.
    warpseal_status find_paths();
    warpseal_status find_path(Path& path, warpseal_mode mode, Direction direction);
    void select_representation();

    // Block sizes are powers of two; divisions would cost as much as blocks.
    size_t within_block(uint64_t bytes) const {
        return static_cast<size_t>(bytes) & (block_bytes_ - 1);
    }
    // Copies in one store: a later load of the block could not be forwarded from two.
    void copy_block(uint8_t* to, const uint8_t* from) const {
        block_bytes_ == 16 ? memcpy(to, from, 16) : memcpy(to, from, 8);
    }
    uint64_t blocks_of(uint64_t bytes) const { return bytes >> (block_bytes_ == 16 ? 4 : 3); }

    // in == out is allowed.
    static void xor_bytes(const uint8_t* in, const uint8_t* with, uint8_t* out, size_t bytes) {
        for (; bytes >= 16; in += 16, with += 16, out += 16, bytes -= 16)
            store_block(out, load_block<4>(in) ^ load_block<4>(with));
        for (size_t i = 0; i < bytes; ++i) out[i] = in[i] ^ with[i];
    }

    warpseal_status blocks(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status feedback(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status counter_update(const uint8_t* in, uint8_t* out, size_t bytes);
    // Not inlined: otherwise update() would need a stack frame.
    __attribute__((noinline)) warpseal_status gcm_update(const uint8_t* in, uint8_t* out,
                                                         size_t bytes);
    __attribute__((noinline)) warpseal_status xts_unit(const uint8_t* in, uint8_t* out,
                                                       size_t bytes);

    warpseal_status large_update(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status large_plain_update(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status large_gcm_update(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status sweep(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status counter_bulk(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status chain(const uint8_t* in, uint8_t* out, size_t bytes);
    void partial_block(size_t at, const uint8_t* in, uint8_t* out, size_t bytes);
    void encipher(const uint8_t* in, uint8_t* out, size_t bytes) const;

    void counters(uint64_t first, size_t count, uint8_t* to) const;
    void generate_keystream(size_t bytes);
    void apply_keystream(const uint8_t* in, uint8_t* out, size_t bytes);
    void hash_aad(const uint8_t* data, size_t bytes);
    void fill_block();
    void hash_collected();
    void finish(uint8_t* tag);
    void end();

    Engine& engine_;
    const Key* key_;
    const CpuCipher& facts_;  // shared by all its keys
    const warpseal_mode mode_;
    const Direction direction_;
    const size_t block_bytes_;
    const bool chains_;               // the mode is serial
    size_t bulk_bytes_ = bulk_bytes;  // minimum bytes processed without keystream generated ahead
    CpuBlockLoops::Blocks loop_ = nullptr;  // for complete blocks, if the representation has one
    // The representation is "instructions": in registers, and efficient for any call size.
    bool instructions_ = false;
    Path text_, block_;     // for the mode, and for single blocks
    warpseal_batch batch_;  // batch of one, for a serial mode
    Stage stage_ = Stage::none;
    bool has_tag_mask_ = false;
    uint64_t aad_bytes_ = 0, text_bytes_ = 0;
    uint64_t next_block_ = 0;  // first block without keystream
    size_t keystream_at_ = 0, keystream_end_ = 0;
    size_t next_keystream_bytes_ = first_keystream_bytes;  // amount to generate next
    size_t unhashed_bytes_ = 0;
    SecretMessageState state_;
};

}  // namespace warpseal
