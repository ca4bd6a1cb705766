// Batches of chunks on threads.
#include "cli/age/payload/payload.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

constexpr uint64_t batch_chunks = 4;

// Reads `bytes` bytes, fewer only at the end of the file.
size_t read_all_at(int input, uint8_t* to, size_t bytes, uint64_t position) {
    size_t done = 0;
    while (done < bytes) {
        throw_if_interrupted();
        const ssize_t got =
            pread(input, to + done, bytes - done, static_cast<off_t>(position + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Failure(ExitCode::input_output,
                          cli::format("reading failed: {}.", std::strerror(errno)));
        if (got == 0) break;
        done += static_cast<size_t>(got);
    }
    return done;
}

}  // namespace

std::array<uint8_t, aead_nonce_bytes> chunk_nonce(uint64_t number, bool last) {
    std::array<uint8_t, aead_nonce_bytes> nonce{};
    for (size_t i = 0; i < 8; ++i) nonce[10 - i] = static_cast<uint8_t>(number >> 8 * i);
    nonce[11] = last ? 1 : 0;
    return nonce;
}

void Payload::throw_fault(Fault fault) {
    if (fault == Fault::truncated)
        throw Failure(ExitCode::truncated, "its payload ends too early.");
    throw Failure(ExitCode::not_authentic, fault == Fault::data_after_end
                                               ? "bytes follow the end of its payload."
                                               : "a chunk of its payload was changed.");
}

struct Payload::Batch {
    uint64_t number = 0;
    bool last = false;
    Secret input, output;
    size_t input_bytes = 0, output_bytes = 0, text_bytes = 0;
    Fault fault = Fault::none;
};

void Payload::run(unsigned threads) {
    std::vector<std::thread> others;
    others.reserve(threads);
    try {
        while (others.size() + 1 < threads) others.emplace_back([this] { work(); });
    } catch (...) {
        // Fewer threads do the same work. Those that run must be joined after any exception.
    }
    work();
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
}

void Payload::work() {
    try {
        Aead aead(key_);
        Batch batch;
        while (read(batch)) {
            transform(aead, batch);
            if (output_.descriptor < 0 && !wait_for_turn(batch.number)) return;
            write(batch);
        }
    } catch (...) {
        stop(std::current_exception());
    }
}

bool Payload::has_failed() {
    const std::lock_guard lock(writing_);
    return failure_ != nullptr;
}

bool Payload::read_range(Batch& batch, size_t batch_bytes) {
    {
        const std::lock_guard lock(reading_);
        if (at_end_) return false;
        batch.number = read_batches_++;
        at_end_ = batch.last = (batch.number + 1) * batch_bytes >= input_.bytes;
    }
    const uint64_t begin = batch.number * batch_bytes;
    const size_t wanted =
        static_cast<size_t>(std::min<uint64_t>(batch_bytes, input_.bytes - begin));
    batch.input.resize(batch_bytes);
    batch.input_bytes =
        read_all_at(input_.descriptor, batch.input.data(), wanted, input_.begin + begin);
    uint8_t more;
    if (batch.input_bytes != wanted ||
        (batch.last && ends_ &&
         read_all_at(input_.descriptor, &more, 1, input_.begin + input_.bytes) != 0))
        throw Failure(ExitCode::input_output,
                      "its length changed while it was read: try again when nothing writes to it.");
    return true;
}

bool Payload::read(Batch& batch) {
    if (has_failed()) return false;
    const size_t each = direction_ == Direction::seal ? chunk_bytes : sealed_chunk_bytes;
    if (input_.descriptor >= 0) return read_range(batch, batch_chunks * each);
    const std::lock_guard lock(reading_);
    if (at_end_ || has_failed()) return false;
    batch.input.resize(batch_chunks * each);
    batch.number = read_batches_++;
    batch.input_bytes = source_.read(batch.input.data(), batch.input.size());
    batch.last = at_end_ = source_.peek() < 0;
    return true;
}

void Payload::transform(Aead& aead, Batch& batch) const {
    batch.fault = Fault::none;
    batch.output_bytes = batch.text_bytes = 0;
    batch.output.resize(batch_chunks * sealed_chunk_bytes);
    if (direction_ == Direction::seal)
        seal(aead, batch);
    else
        open(aead, batch);
}

void Payload::seal(Aead& aead, Batch& batch) const {
    const View text = View(batch.input).first(batch.input_bytes);
    uint64_t number = batch.number * batch_chunks;
    for (size_t at = 0; at < text.size() || (at == 0 && batch.last); at += chunk_bytes) {
        const size_t bytes = std::min(chunk_bytes, text.size() - at);
        const auto nonce = chunk_nonce(number++, batch.last && at + bytes == text.size());
        aead.seal(nonce, text.subspan(at, bytes), batch.output.data() + batch.output_bytes);
        batch.output_bytes += bytes + tag_bytes;
        batch.text_bytes += bytes;
        if (bytes == 0) break;
    }
}

void Payload::open(Aead& aead, Batch& batch) const {
    const View sealed = View(batch.input).first(batch.input_bytes);
    uint64_t number = first_chunk_ + batch.number * batch_chunks;
    // An empty batch follows whole ones only if the payload has no chunk at all.
    if (sealed.empty()) batch.fault = Fault::truncated;
    for (size_t at = 0; at < sealed.size(); at += sealed_chunk_bytes, ++number) {
        const View chunk = sealed.subspan(at, std::min(sealed_chunk_bytes, sealed.size() - at));
        const bool last = batch.last && ends_ && at + chunk.size() == sealed.size();
        uint8_t* const out = batch.output.data() + batch.output_bytes;
        if (chunk.size() < tag_bytes) {
            batch.fault = Fault::truncated;
            return;
        }
        const bool verified = aead.open(chunk_nonce(number, last), chunk, out);
        // The other flag tells a cut or extended file from a changed one.
        if (!verified) {
            const bool other = aead.open(chunk_nonce(number, !last), chunk, out);
            batch.fault = !other ? Fault::changed : last ? Fault::truncated : Fault::data_after_end;
            // No writer makes a short chunk that is not the last one.
            if (!other || chunk.size() < sealed_chunk_bytes) return;
        } else if (chunk.size() == tag_bytes && number > 0) {
            batch.fault = Fault::changed;  // An empty chunk is allowed in an empty file alone.
            return;
        }
        batch.output_bytes += chunk.size() - tag_bytes;
        batch.text_bytes += chunk.size() - tag_bytes;
        if (batch.fault != Fault::none) return;
    }
}

bool Payload::wait_for_turn(uint64_t number) {
    std::unique_lock lock(writing_);
    turn_.wait(lock, [&] { return failure_ || written_batches_ == number; });
    return !failure_;
}

void Payload::write_range(const Batch& batch) const {
    const size_t each = direction_ == Direction::seal ? sealed_chunk_bytes : chunk_bytes;
    const uint64_t position = output_.begin + batch.number * batch_chunks * each;
    for (size_t done = 0; done < batch.output_bytes;) {
        throw_if_interrupted();
        const ssize_t put = pwrite(output_.descriptor, batch.output.data() + done,
                                   batch.output_bytes - done, static_cast<off_t>(position + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            throw Failure(
                ExitCode::input_output,
                cli::format("cannot write the output: {}.", std::strerror(put < 0 ? errno : EIO)));
        done += static_cast<size_t>(put);
    }
}

// A stream is written only by the thread whose turn it is.
void Payload::write(const Batch& batch) {
    if (output_.descriptor >= 0)
        write_range(batch);
    else
        sink_.write(View(batch.output).first(batch.output_bytes));
    if (batch.fault != Fault::none) throw_fault(batch.fault);
    const std::lock_guard lock(writing_);
    output_bytes_ += batch.output_bytes;
    text_bytes_ += batch.text_bytes;
    progress_(text_bytes_);
    ++written_batches_;
    turn_.notify_all();
}

void Payload::stop(std::exception_ptr failure) {
    const std::lock_guard lock(writing_);
    if (!failure_) failure_ = std::move(failure);
    turn_.notify_all();
}

}  // namespace warpseal::cli::age
