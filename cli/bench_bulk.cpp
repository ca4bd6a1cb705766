// One call on a large buffer: from host memory to host memory by the clock on the wall, or within GPU memory by the GPU's own events.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "bench_answers.h"
#include "warpseal/inner.h"

namespace warpseal::cli {
namespace {

void require_ok(warpseal_status status, const char* what) {
    if (status != WARPSEAL_OK) throw BenchWrong(std::string(what) + ": " + warpseal_status_text(status));
}

// Memory where the place is: all of it the GPU's, or all of it the host's (pinned if the engine has a GPU).
class Memory {
public:
    Memory(warpseal_engine* engine, bool on_device, size_t bytes) : engine_(engine), on_device_(on_device), bytes_(bytes) {
        require_ok((on_device ? warpseal_device_alloc : warpseal_host_alloc)(engine, bytes, &memory_), "allocating memory");
    }
    ~Memory() { (on_device_ ? warpseal_device_free : warpseal_host_free)(engine_, memory_, bytes_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }
    void put(const void* from, size_t bytes) {
        if (on_device_)
            require_ok(warpseal_device_upload(engine_, memory_, from, bytes), "copying to the GPU");
        else
            std::memcpy(memory_, from, bytes);
    }
    void compare(const void* expected, size_t bytes, const char* what) const {
        constexpr size_t piece = size_t{64} << 20;
        std::vector<uint8_t> copy(on_device_ ? std::min(piece, bytes) : 0);
        for (size_t done = 0; done < bytes; done += piece) {
            const size_t length = std::min(piece, bytes - done);
            const uint8_t* got = data() + done;
            if (on_device_) {
                require_ok(warpseal_device_download(engine_, copy.data(), got, length), "copying from the GPU");
                got = copy.data();
            }
            if (std::memcmp(got, static_cast<const uint8_t*>(expected) + done, length) != 0) throw BenchWrong(what);
        }
    }

private:
    warpseal_engine* engine_;
    bool on_device_;
    size_t bytes_;
    void* memory_ = nullptr;
};

class BulkSide {
public:
    BulkSide(const BenchCase& what, warpseal_engine* engine, bool on_device, const Answers& answers)
        : what_(what),
          engine_(engine),
          on_device_(on_device),
          answers_(answers),
          bytes_(answers.plaintext.size()),
          messages_(answers.tags.size() / bench_tag_bytes),
          key_(make_bench_key(engine, what, bench_key(what))),
          in_(engine, on_device, bytes_),
          out_(engine, on_device, bytes_),
          ivs_(engine, on_device, std::max<size_t>(answers.ivs.size(), 16)),
          tags_(engine, on_device, answers.tags.size()),
          statuses_(engine, on_device, messages_ * sizeof(int32_t)) {
        in_.put((what.encrypt ? answers.plaintext : answers.ciphertext).data(), bytes_);
        ivs_.put(answers.ivs.data(), answers.ivs.size());
        // What is checked later must come from the calls: nothing there is right beforehand but the tags of what is to be opened.
        tags_.put(what.encrypt ? std::vector<uint8_t>(answers.tags.size()).data() : answers.tags.data(), answers.tags.size());
        statuses_.put(std::vector<int32_t>(messages_, -1).data(), messages_ * sizeof(int32_t));
    }

    double seconds() { return on_device_ ? device_seconds() : host_seconds(); }

    void check() const {
        out_.compare((what_.encrypt ? answers_.ciphertext : answers_.plaintext).data(), bytes_, "the output is not OpenSSL's");
        if (what_.aead() && what_.encrypt) tags_.compare(answers_.tags.data(), answers_.tags.size(), "the tags are not OpenSSL's");
        if (is_batch())
            statuses_.compare(std::vector<int32_t>(messages_).data(), messages_ * sizeof(int32_t), "a message has a status but OK");
    }

private:
    bool is_batch() const { return messages_ > 1 || (on_device_ && what_.aead()); }

    warpseal_status queue(void* stream) {
        if (is_batch()) return bench_call_batch_device(what_, key_.get(), batch(), stream);
        return (what_.encrypt ? warpseal_encrypt_device : warpseal_decrypt_device)(
            key_.get(), what_.mode, answers_.ivs.data(), answers_.ivs.size(), in_.data(), out_.data(), bytes_, stream);
    }

    double device_seconds() {
        float milliseconds = 0;
        const auto work = [](void* self, void* stream) { return static_cast<BulkSide*>(self)->queue(stream); };
        require_ok(warpseal_inner_time_device(engine_, work, this, &milliseconds), "a call on the GPU");
        return milliseconds / 1e3;
    }

    warpseal_status call() {
        if (is_batch()) return bench_call_batch(what_, key_.get(), batch());
        const auto& iv = answers_.ivs;
        if (what_.aead() && what_.encrypt)
            return warpseal_seal_unsafe_iv(key_.get(), what_.mode, iv.data(), iv.size(), nullptr, 0, in_.data(), out_.data(), bytes_,
                                           tags_.data(), bench_tag_bytes);
        if (what_.aead())
            return warpseal_open(key_.get(), what_.mode, iv.data(), iv.size(), nullptr, 0, in_.data(), out_.data(), bytes_, tags_.data(),
                                 bench_tag_bytes);
        return (what_.encrypt ? warpseal_encrypt : warpseal_decrypt)(key_.get(), what_.mode, iv.data(), iv.size(), in_.data(), out_.data(),
                                                                     bytes_);
    }

    double host_seconds() {
        const auto begin = std::chrono::steady_clock::now();
        const warpseal_status status = call();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        require_ok(status, "a call");
        return took.count();
    }

    warpseal_batch batch() const {
        const BatchMemory memory{in_.data(), out_.data(), ivs_.data(), tags_.data(), reinterpret_cast<int32_t*>(statuses_.data())};
        return bench_batch(what_, memory, bytes_, answers_.message_bytes);
    }

    const BenchCase what_;
    warpseal_engine* engine_;
    const bool on_device_;
    const Answers& answers_;
    const uint64_t bytes_, messages_;
    BenchKey key_;
    Memory in_, out_, ivs_, tags_, statuses_;
};

}  // namespace

BenchRow measure_bulk(const BenchOptions& options, const BenchCase& what, const std::string& device, const std::string& place,
                      uint64_t bytes, uint64_t message_bytes, Session& session) {
    message_bytes = what.mode == WARPSEAL_ECB ? bytes : std::min(message_bytes, bytes);
    if (bytes % message_bytes != 0) throw Failure(ExitCode::usage, "--size must be a multiple of --message-size here.");
    const bool has_gpu = device.rfind("cuda", 0) == 0;
    const EngineHandle engine = create_engine({device, options.threads}, session);
    const Answers answers(what, bytes, message_bytes);
    BulkSide side(what, engine.get(), place == "device", answers);

    BenchRow row{what,  has_gpu ? "cuda" : warpseal_engine_pick(engine.get(), what.cipher.name, what.mode, bytes),
                 place, options.threads,
                 bytes, message_bytes,
                 false, std::nullopt,
                 0,     {}};
    if (place == "host") row.pinned = has_gpu;
    std::function<double()> theirs;
    if (options.against_openssl) {
        theirs = openssl_meter(options, what, bench_core_bytes, message_bytes);
        row.openssl_threads = options.threads;
    }
    side.seconds();  // warms up
    for (int i = 0; i < bench_repetitions; ++i) {
        if (theirs) {
            row.figures.openssl.push_back(theirs());
            side.seconds();  // the GPU was idle meanwhile
        }
        row.figures.ours.push_back(static_cast<double>(bytes) / side.seconds() / 1e9);
    }
    side.check();
    return row;
}

}  // namespace warpseal::cli
