// Processes raw modes without a tag in chunks. Each chunk passes a counter, a ciphertext block or a
// unit number to the next.

#include <algorithm>
#include <cstring>
#include <new>

#include "cli/raw/raw.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr size_t chunk_bytes = size_t{16} << 20;
constexpr size_t longest_block = 16;
constexpr size_t xts_block_bytes = 16;

// Block that may hold keystream or plaintext; zeroized on destruction.
struct SecretBlock {
    ~SecretBlock() { warpseal_wipe(bytes, sizeof bytes); }
    uint8_t bytes[longest_block] = {};
};

// Host memory of the engine: zeroized on release, pinned if there is a GPU.
class Buffer {
public:
    Buffer(warpseal_engine* engine, size_t bytes) : engine_(engine), bytes_(bytes) {
        if (warpseal_host_alloc(engine, bytes, &memory_) != WARPSEAL_OK) throw std::bad_alloc();
    }
    ~Buffer() { warpseal_host_free(engine_, memory_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
    size_t capacity() const { return bytes_; }
    size_t size = 0;

    // Reads until the buffer is full or the input ends.
    void fill(const RawRead& read, size_t most) {
        for (size = 0; size < most;) {
            const size_t got = read(data() + size, most - size);
            if (got == 0) return;
            size += got;
        }
    }

private:
    warpseal_engine* engine_;
    size_t bytes_;
    void* memory_ = nullptr;
};

class RawChunkCipher {
public:
    RawChunkCipher(const RawJob& job, const warpseal_key* key, const RawOutput& output)
        : job_(job),
          key_(key),
          output_(output),
          iv_bytes_(job.iv.size()),
          block_(job.cipher.block_bytes) {
        std::copy(job.iv.begin(), job.iv.end(), iv_.bytes);
    }

    // Processes a chunk in place and returns the number of bytes to write. The buffer has room for
    // one more block.
    size_t run(uint8_t* data, size_t bytes, bool last) {
        total_ += bytes;
        if (job_.encrypt) require_within_limit(job_, total_);
        if (last) check_end(bytes);
        if (job_.padding && last) return run_padded(data, bytes);
        if (bytes == 0) return 0;
        if (job_.mode == WARPSEAL_XTS) {
            require((job_.encrypt ? warpseal_xts_encrypt : warpseal_xts_decrypt)(
                key_, iv_.bytes, job_.unit_bytes, data, data, bytes));
            add_little_endian(bytes / job_.unit_bytes);
            return bytes;
        }
        SecretBlock in_tail;  // Copied, because the call overwrites it in place.
        if (!last && carries_input()) memcpy(in_tail.bytes, data + bytes - block_, block_);
        require((job_.encrypt ? warpseal_encrypt : warpseal_decrypt)(key_, job_.mode, iv_.bytes,
                                                                     iv_bytes_, data, data, bytes));
        if (!last) carry(data, bytes, in_tail.bytes);
        return bytes;
    }

private:
    // Checks for an interrupt first. It also ends the other programs of a pipe, and their output is
    // cut off.
    void require(warpseal_status status) const {
        output_.throw_if_interrupted();
        require_raw(job_, status);
    }

    bool carries_input() const {
        return job_.mode == WARPSEAL_OFB || (!job_.encrypt && job_.mode != WARPSEAL_CTR);
    }

    // Chunks before the last consist of whole blocks.
    void carry(const uint8_t* out, size_t bytes, const uint8_t* in_tail) {
        const uint8_t* out_tail = out + bytes - block_;
        switch (job_.mode) {
            case WARPSEAL_CTR: return add_big_endian(bytes / block_);
            case WARPSEAL_OFB:
                for (size_t i = 0; i < block_; ++i) iv_.bytes[i] = in_tail[i] ^ out_tail[i];
                return;
            default: memcpy(iv_.bytes, job_.encrypt ? out_tail : in_tail, block_);
        }
    }

    void add_big_endian(uint64_t count) {
        for (size_t i = iv_bytes_; i-- > 0; count >>= 8) {
            count += iv_.bytes[i];
            iv_.bytes[i] = static_cast<uint8_t>(count);
        }
    }
    void add_little_endian(uint64_t count) {
        for (uint8_t& byte : iv_.bytes) {
            count += byte;
            byte = static_cast<uint8_t>(count);
            count >>= 8;
        }
    }

    size_t run_padded(uint8_t* data, size_t bytes) {
        size_t wrote = 0;
        require((job_.encrypt ? warpseal_encrypt_padded : warpseal_decrypt_padded)(
            key_, iv_.bytes, iv_bytes_, data, bytes, data, bytes + block_, &wrote));
        return wrote;
    }

    // Checks the length of the input. The text refers to the file, because the library's text
    // refers to one call.
    void check_end(size_t bytes) const {
        const auto wrong = [&](const std::string& why) {
            throw Failure(job_.encrypt ? ExitCode::usage : ExitCode::truncated,
                          cli::format("cannot {} with {}: {}", job_.verb(), job_.name, why));
        };
        if (job_.mode == WARPSEAL_XTS) {
            const size_t rest = bytes % job_.unit_bytes;
            if (total_ < xts_block_bytes || (rest != 0 && rest < xts_block_bytes))
                wrong(cli::format("the last data unit has {} bytes, and the shortest has {}.", rest,
                                  xts_block_bytes));
        }
        if (job_.mode != WARPSEAL_CBC || (job_.padding && job_.encrypt)) return;
        if (bytes % block_ != 0)
            wrong(cli::format("the input's {} bytes are not whole blocks of {}.", total_, block_));
        if (job_.padding && total_ == 0)
            wrong("the input is empty, and padded data has at least one block.");
    }

    const RawJob& job_;
    const warpseal_key* key_;
    const RawOutput& output_;
    SecretBlock iv_;  // for OFB, keystream after the first chunk
    const size_t iv_bytes_;
    const size_t block_;
    uint64_t total_ = 0;
};

}  // namespace

void run_raw_chunks(const RawJob& job, warpseal_engine* engine, const warpseal_key* key,
                    const RawRead& read, RawOutput& output) {
    const size_t step = job.unit_bytes
                            ? std::max<size_t>(1, chunk_bytes / job.unit_bytes) * job.unit_bytes
                            : chunk_bytes;
    // One chunk is read ahead, because the last chunk must be known as such.
    Buffer first(engine, step + job.cipher.block_bytes),
        second(engine, step + job.cipher.block_bytes);
    Buffer *now = &first, *ahead = &second;
    RawChunkCipher cipher(job, key, output);
    now->fill(read, step);
    for (bool last = false; !last; std::swap(now, ahead)) {
        ahead->size = 0;
        if (now->size == step) ahead->fill(read, step);
        last = ahead->size == 0;
        output.write(now->data(), cipher.run(now->data(), now->size, last));
    }
}

}  // namespace warpseal::cli
