// Raw modes without a tag, piece by piece: what one piece leaves for the next is a counter, a block of ciphertext or a unit's number.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "raw.h"

namespace warpseal::cli {
namespace {

constexpr size_t piece_bytes = size_t{16} << 20;
constexpr size_t xts_block_bytes = 16;

// Host memory of the engine: wiped when it goes, and pinned where there is a GPU.
class Buffer {
public:
    Buffer(warpseal_engine* engine, size_t bytes) : engine_(engine), bytes_(bytes) {
        if (warpseal_host_alloc(engine, bytes, &memory_) != WARPSEAL_OK) throw std::bad_alloc();
    }
    ~Buffer() { warpseal_host_free(engine_, memory_, bytes_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
    size_t capacity() const { return bytes_; }
    size_t size = 0;

    // Reads until it is full or the input ends.
    void fill(int input, size_t most) {
        for (size = 0; size < most;) {
            const ssize_t got = ::read(input, data() + size, most - size);
            if (interrupted_by() != 0) throw Failure(ExitCode(128 + interrupted_by()), "interrupted.");
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw Failure(ExitCode::input_output, fmt::format("cannot read the input: {}.", std::strerror(errno)));
            if (got == 0) return;
            size += static_cast<size_t>(got);
        }
    }

private:
    warpseal_engine* engine_;
    size_t bytes_;
    void* memory_ = nullptr;
};

class Pieces {
public:
    Pieces(const RawJob& job, const warpseal_key* key) : job_(job), key_(key), iv_(job.iv), block_(job.cipher.block_bytes) {}

    // In place; returns how many bytes to write. The buffer has room for a block more.
    size_t run(uint8_t* data, size_t bytes, bool last) {
        total_ += bytes;
        if (job_.encrypt) require_within_limit(job_, total_);
        if (last) check_end(bytes);
        if (job_.padding && last) return run_padded(data, bytes);
        if (bytes == 0) return 0;
        if (job_.mode == WARPSEAL_XTS) {
            require_raw(job_,
                        (job_.encrypt ? warpseal_xts_encrypt : warpseal_xts_decrypt)(key_, iv_.data(), job_.unit_bytes, data, data, bytes));
            add_little_endian(bytes / job_.unit_bytes);
            return bytes;
        }
        std::vector<uint8_t> tail(data + bytes - std::min(bytes, block_), data + bytes);  // in place: gone after the call
        require_raw(job_, (job_.encrypt ? warpseal_encrypt : warpseal_decrypt)(key_, job_.mode, iv_.data(), iv_.size(), data, data, bytes));
        if (!last) carry(data, bytes, tail);
        return bytes;
    }

private:
    // A piece before the last is whole blocks.
    void carry(const uint8_t* out, size_t bytes, const std::vector<uint8_t>& in_tail) {
        const uint8_t* out_tail = out + bytes - block_;
        switch (job_.mode) {
            case WARPSEAL_CTR: return add_big_endian(bytes / block_);
            case WARPSEAL_OFB:
                for (size_t i = 0; i < block_; ++i) iv_[i] = in_tail[i] ^ out_tail[i];
                return;
            default: iv_.assign(job_.encrypt ? out_tail : in_tail.data(), (job_.encrypt ? out_tail : in_tail.data()) + block_);
        }
    }

    void add_big_endian(uint64_t count) {
        for (size_t i = iv_.size(); i-- > 0; count >>= 8) {
            count += iv_[i];
            iv_[i] = static_cast<uint8_t>(count);
        }
    }
    void add_little_endian(uint64_t count) {
        for (uint8_t& byte : iv_) {
            count += byte;
            byte = static_cast<uint8_t>(count);
            count >>= 8;
        }
    }

    size_t run_padded(uint8_t* data, size_t bytes) {
        size_t wrote = 0;
        require_raw(job_, (job_.encrypt ? warpseal_encrypt_padded : warpseal_decrypt_padded)(key_, iv_.data(), iv_.size(), data, bytes,
                                                                                             data, bytes + block_, &wrote));
        return wrote;
    }

    // What the input's length must be: told here in the file's terms, as the library speaks of one call.
    void check_end(size_t bytes) const {
        const auto wrong = [&](const std::string& why) {
            throw Failure(job_.encrypt ? ExitCode::usage : ExitCode::truncated,
                          fmt::format("cannot {} with {}: {}", job_.verb(), job_.name, why));
        };
        if (job_.mode == WARPSEAL_XTS) {
            const size_t rest = bytes % job_.unit_bytes;
            if (total_ < xts_block_bytes || (rest != 0 && rest < xts_block_bytes))
                wrong(fmt::format("the last data unit has {} bytes, and the shortest has {}.", rest, xts_block_bytes));
        }
        if (job_.mode != WARPSEAL_CBC || (job_.padding && job_.encrypt)) return;
        if (bytes % block_ != 0) wrong(fmt::format("the input's {} bytes are not whole blocks of {}.", total_, block_));
        if (job_.padding && total_ == 0) wrong("the input is empty, and padded data has at least one block.");
    }

    const RawJob& job_;
    const warpseal_key* key_;
    std::vector<uint8_t> iv_;
    const size_t block_;
    uint64_t total_ = 0;
};

}  // namespace

void write_whole(int output, const uint8_t* data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t wrote = ::write(output, data + done, bytes - done);
        if (interrupted_by() != 0) throw Failure(ExitCode(128 + interrupted_by()), "interrupted.");
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0)
            throw Failure(ExitCode::input_output, fmt::format("cannot write the output: {}.", std::strerror(wrote < 0 ? errno : EIO)));
        done += static_cast<size_t>(wrote);
    }
}

void run_raw_pieces(const RawJob& job, warpseal_engine* engine, const warpseal_key* key, int input, int output) {
    const size_t step = job.unit_bytes ? std::max<size_t>(1, piece_bytes / job.unit_bytes) * job.unit_bytes : piece_bytes;
    // One buffer is read ahead: only then is it known which piece is the last.
    Buffer first(engine, step + job.cipher.block_bytes), second(engine, step + job.cipher.block_bytes);
    Buffer *now = &first, *ahead = &second;
    Pieces pieces(job, key);
    now->fill(input, step);
    for (bool last = false; !last; std::swap(now, ahead)) {
        ahead->size = 0;
        if (now->size == step) ahead->fill(input, step);
        last = ahead->size == 0;
        write_whole(output, now->data(), pieces.run(now->data(), now->size, last));
    }
}

}  // namespace warpseal::cli
