// One message of one mode in pieces of any size: what is carried from a piece to the next, over the
// door's functions for whole ones.
#pragma once

#include <cstring>

#include "backends/block_loops.h"
#include "core/block.h"
#include "core/secret.h"
#include "engine/engine.h"
#include "platform/secret_memory.h"

namespace warpseal {

// One thread at a time. The engine and the key outlive it. Small pieces run on the cores, on a path
// chosen and proved at creation: neither lock nor allocation. Large ones take the engine's route.
class StreamingContext {
public:
    // ECB, CBC, CFB, OFB, CTR, GCM; XTS, each of whose pieces is a data unit of the same number.
    static warpseal_status create(Engine& engine, const Key& key, warpseal_mode mode,
                                  Direction direction, std::unique_ptr<StreamingContext>& out);
    StreamingContext(const StreamingContext&) = default;  // the same message from here on, apart
    StreamingContext& operator=(const StreamingContext&) = delete;

    // From now on under another key of the same engine, cipher and kind; no message is under way
    // then. Unless it is WARPSEAL_OK, there is no message to begin, and the key that it had may be
    // gone.
    warpseal_status rekey(Engine& engine, const Key& key);

    // Refused arguments change nothing, but for an IV: then no message is under way.
    warpseal_status begin(Bytes iv);
    warpseal_status aad(Bytes aad);
    warpseal_status update(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status tag(uint8_t* tag, size_t tag_bytes);
    warpseal_status verify(const uint8_t* tag, size_t tag_bytes);
    // As warpseal_internal_stream_shallow_bytes.
    size_t shallow_bytes() const { return instructions_ ? shallow_bytes_of_instructions : 0; }
    // As warpseal_internal_stream_loop. `run` null: none.
    struct Loop {
        CpuBlockLoops::Blocks run;
        const void* state;
        uint8_t* feedback;
    };
    Loop loop();
    // As warpseal_internal_stream_position.
    void position(uint8_t* iv, uint32_t* used) const;

private:
    enum class Stage : uint8_t { none, aad, text };

    // A proved target's functions and the key's schedule there.
    struct Path {
        const CpuCipher* cipher = nullptr;
        const void* state = nullptr;
        const void* tweak_state = nullptr;  // XTS
    };

    static constexpr size_t shallow_bytes_of_instructions = 512;
    static constexpr size_t longest_block = 16, whole_tag_bytes = 16;
    static constexpr uint8_t no_iv[12] = {};
    // From here on a call of the engine, with its choice of threads and GPUs, costs a hundredth of
    // the work at most.
    static constexpr size_t routed_bytes = size_t{64} << 10;
    // From here on. Below, keystream is made for the pieces to come as well, from piece to piece
    // more of it: a call over many blocks costs little more than one over one.
    static constexpr size_t bulk_bytes = 512, bulk_bytes_of_instructions = 64;
    static constexpr size_t first_stream_bytes = 64,
                            most_stream_bytes = 512;  // of keystream made at once
    static constexpr size_t sum_bytes = 512;          // that enter a GCM sum at once
    struct Carried {
        GcmRun run;                       // GCM: J0, and the sum; CTR: the first counter
        GcmRun part;                      // room for another; or for the last block of text
        uint8_t feedback[longest_block];  // CBC, CFB, OFB: as position() says
        uint8_t tag_mask[longest_block];  // the cipher of J0
        uint8_t stream[longest_block + most_stream_bytes];
        uint8_t
            unsummed[sum_bytes + longest_block];  // of AAD and ciphertext; and room for the lengths
    };

    // Keystream and the mask of a tag: in memory for secrets. Throws std::bad_alloc.
    class CarriedSecret {
    public:
        CarriedSecret() : value(memory()) {}
        CarriedSecret(const CarriedSecret& other) : value(memory()) {
            memcpy(&value, &other.value, sizeof value);
        }
        CarriedSecret& operator=(const CarriedSecret&) = delete;

    private:
        Carried& memory();
        SecretMemory memory_;

    public:
        Carried& value;
    };

    StreamingContext(Engine& engine, const Key& key, warpseal_mode mode, Direction direction);

    // What runs messages under the key: chosen and proved.
    warpseal_status find_paths();
    warpseal_status find_path(Path& path, warpseal_mode mode, Direction direction);
    void settle_representation();

    // A block has a power of two of bytes; divisions would cost as much as blocks.
    size_t within_block(uint64_t bytes) const {
        return static_cast<size_t>(bytes) & (block_bytes_ - 1);
    }
    // In one piece, as it is read again: from two it would not be forwarded.
    void copy_block(uint8_t* to, const uint8_t* from) const {
        block_bytes_ == 16 ? memcpy(to, from, 16) : memcpy(to, from, 8);
    }
    uint64_t blocks_of(uint64_t bytes) const { return bytes >> (block_bytes_ == 16 ? 4 : 3); }

    // in == out is allowed.
    static void exclusive_or(const uint8_t* in, const uint8_t* with, uint8_t* out, size_t bytes) {
        for (; bytes >= 16; in += 16, with += 16, out += 16, bytes -= 16)
            store_block(out, load_block<4>(in) ^ load_block<4>(with));
        for (size_t i = 0; i < bytes; ++i) out[i] = in[i] ^ with[i];
    }

    warpseal_status blocks(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status feedback(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status counted(const uint8_t* in, uint8_t* out, size_t bytes);
    // Not inlined: for these update() would need a frame.
    __attribute__((noinline)) warpseal_status authenticated(const uint8_t* in, uint8_t* out,
                                                            size_t bytes);
    __attribute__((noinline)) warpseal_status unit(const uint8_t* in, uint8_t* out, size_t bytes);

    warpseal_status by_route(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status message_by_route(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status gcm_by_route(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status sweep(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status count_in_bulk(const uint8_t* in, uint8_t* out, size_t bytes);
    warpseal_status chain(const uint8_t* in, uint8_t* out, size_t bytes);
    void partial_block(size_t at, const uint8_t* in, uint8_t* out, size_t bytes);
    void encipher(const uint8_t* in, uint8_t* out, size_t bytes) const;

    void counters(uint64_t first, size_t count, uint8_t* to) const;
    void make_stream(size_t bytes);
    void through_stream(const uint8_t* in, uint8_t* out, size_t bytes);
    void sum(const uint8_t* data, size_t bytes);
    void fill_block();
    void sum_now();
    void finish(uint8_t* tag);
    void end();

    Engine& engine_;
    const Key* key_;
    const CpuCipher& facts_;  // of all its keys
    const warpseal_mode mode_;
    const Direction direction_;
    const size_t block_bytes_;
    const bool chains_;                     // the blocks of the mode wait for each other
    size_t bulk_bytes_ = bulk_bytes;        // of text whose keystream is not made ahead
    CpuBlockLoops::Blocks loop_ = nullptr;  // of whole blocks, where the form has one
    bool instructions_ =
        false;  // are what the cipher runs by: in registers, and no call of them is too small
    Path text_, block_;     // of the mode, and of the cipher alone
    warpseal_batch batch_;  // of one, of a serial mode
    Stage stage_ = Stage::none;
    bool has_tag_mask_ = false;
    uint64_t aad_bytes_ = 0, text_bytes_ = 0;
    uint64_t next_block_ = 0;  // whose keystream is not made yet
    size_t stream_at_ = 0, stream_end_ = 0;
    size_t stream_bytes_ = first_stream_bytes;  // to be made next
    size_t unsummed_bytes_ = 0;
    CarriedSecret carried_;
};

}  // namespace warpseal
