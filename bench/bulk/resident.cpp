// Measures a job that lies on the GPUs that run it. Each GPU holds a shard of one message, with the
// IV of its first block, or whole messages.
#include <algorithm>
#include <cstring>

#include "bench/bulk/reference_output.h"
#include "bench/report/memory.h"
#include "c_api/internal.h"

namespace warpseal::bench {
namespace {

constexpr uint64_t pattern_bytes = 64 * mebibyte;  // The text repeats this many bytes.
constexpr uint64_t usual_message_bytes = 1024 * mebibyte;
// Limits of the samples that are checked in each shard, always including first and last. A sample
// is a message, or a mebibyte of the single message.
constexpr uint64_t most_samples = 32, usual_sampled_bytes = 64 * mebibyte;
constexpr uint64_t openssl_bytes = 16 * mebibyte;  // OpenSSL takes too long for longer samples.

// Splits "cuda:0,1" into "cuda:0" and "cuda:1".
std::vector<std::string> each_gpu(const std::string& device) {
    const size_t colon = device.find(':');
    if (colon == std::string::npos) return {device};
    std::vector<std::string> all;
    for (size_t at = colon + 1, end; at <= device.size(); at = end + 1) {
        end = std::min(device.find(',', at), device.size());
        all.push_back("cuda:" + device.substr(at, end - at));
    }
    return all;
}

// Returns the granularity of shards: each begins at a multiple of it.
uint64_t grain_of(const BenchCase& what, uint64_t message_bytes) {
    if (message_bytes != 0) return message_bytes;
    return std::max(mebibyte, what.mode == WARPSEAL_XTS ? what.unit_bytes : 1);
}

// Shard of one GPU, in its memory.
struct Shard {
    Shard(const std::string& device, cli::Session& session, uint64_t first, uint64_t size)
        : engine(cli::create_engine({device, 1}, session)), begin(first), bytes(size) {}

    cli::EngineHandle engine;
    const uint64_t begin, bytes;  // offset and length within the job
    std::vector<uint8_t> iv;      // IV at the start of the shard, if the job is one message
    BulkMemory in{engine.get(), true}, out{engine.get(), true};
    BulkMemory ivs{engine.get(), true}, keys{engine.get(), true}, tags{engine.get(), true},
        statuses{engine.get(), true};
};

class Resident {
public:
    // `message_bytes` is 0 for one message.
    Resident(const BenchOptions& options, const BenchCase& what, const std::string& device,
             uint64_t bytes, uint64_t message_bytes, cli::Session& session)
        : what_(what),
          message_bytes_(message_bytes),
          engine_(cli::create_engine({device, options.threads}, session)),
          key_(make_bench_key(engine_.get(), what)),
          ivs_(message_ivs(bench_iv_bytes(what), message_bytes == 0 ? 1 : bytes / message_bytes)),
          keys_(message_bytes == 0 ? std::vector<uint8_t>()
                                   : message_keys(what, bytes / message_bytes)),
          pattern_(engine_.get(), false) {
        fill_random(pattern_.at_least(pattern_bytes), pattern_bytes);
        const std::vector<std::string> devices = each_gpu(device);
        const uint64_t grain = grain_of(what, message_bytes),
                       shard_bytes = bytes / devices.size() / grain * grain;
        for (size_t i = 0; i < devices.size(); ++i) {
            const uint64_t begin = i * shard_bytes,
                           end = i + 1 == devices.size() ? bytes : begin + shard_bytes;
            shards_.push_back(std::make_unique<Shard>(devices[i], session, begin, end - begin));
            prepare(*shards_.back());
        }
    }

    size_t gpus() const { return shards_.size(); }
    uint64_t first_bytes() const { return shards_[0]->bytes; }

    // Returns the time of all shards in parallel, or of the first alone.
    double seconds(bool first_alone) {
        struct Call {
            Resident& self;
            bool first_alone;
        } call{*this, first_alone};
        const auto work = [](void* user, size_t gpu) {
            const Call& c = *static_cast<Call*>(user);
            return c.first_alone && gpu != 0
                       ? WARPSEAL_OK
                       : c.self.queue(c.self.what_, *c.self.shards_[gpu], false);
        };
        float milliseconds = 0;
        require_ok(warpseal_internal_time_all(engine_.get(), work, &call, &milliseconds),
                   "a call on the GPUs");
        return milliseconds / 1e3;
    }

    std::string check(const std::string& device) const {
        // Opening needs sealed input, so the input is sealed first.
        const BenchCase sealing = what_.tagged() ? what_.as(true) : what_;
        const std::unique_ptr<Reference> reference =
            sample_bytes() <= openssl_bytes ? make_reference(sealing, bench_key(what_), device)
                                            : make_quick_reference(sealing, bench_key(what_));
        for (const auto& shard : shards_) {
            for (const uint64_t at : samples(*shard)) check(*shard, at, *reference);
            if (message_bytes_ != 0) {
                const std::vector<int32_t> good(shard->bytes / message_bytes_);
                shard->statuses.compare(good.data(), good.size() * sizeof(int32_t),
                                        "a message has a status but OK");
            }
        }
        return reference->name() + ", in samples";
    }

private:
    uint64_t sample_bytes() const { return message_bytes_ != 0 ? message_bytes_ : mebibyte; }
    // Returns the index of the message at that offset.
    size_t number(uint64_t at) const { return message_bytes_ == 0 ? 0 : at / message_bytes_; }

    // Returns the offsets of the samples within the shard.
    std::vector<uint64_t> samples(const Shard& shard) const {
        const uint64_t spots = shard.bytes / sample_bytes();
        const uint64_t count = std::min(
            std::clamp<uint64_t>(usual_sampled_bytes / sample_bytes(), 2, most_samples), spots);
        std::vector<uint64_t> all;
        for (uint64_t i = 0; i < count; ++i)
            all.push_back(i * (spots - 1) / std::max<uint64_t>(1, count - 1) * sample_bytes());
        return all;
    }

    // Returns bytes [at, at + bytes) of the job's text.
    std::vector<uint8_t> text(uint64_t at, uint64_t bytes) const {
        std::vector<uint8_t> some(bytes);
        for (uint64_t done = 0, n; done < bytes; done += n) {
            const uint64_t within = (at + done) % pattern_bytes;
            n = std::min(bytes - done, pattern_bytes - within);
            std::memcpy(some.data() + done, pattern_.data() + within, n);
        }
        return some;
    }

    std::vector<uint8_t> iv_at(uint64_t at) const {
        const size_t iv_bytes = bench_iv_bytes(what_);
        const auto own = ivs_.begin() + static_cast<std::ptrdiff_t>(number(at) * iv_bytes);
        if (message_bytes_ != 0) return {own, own + static_cast<std::ptrdiff_t>(iv_bytes)};
        const uint64_t block = what_.cipher.block_bytes;
        if (at != 0 && (what_.mode == WARPSEAL_CBC || what_.mode == WARPSEAL_CFB))
            return text(at - block, block);
        return bench_iv_at(what_, ivs_, at / block, nullptr);
    }

    void prepare(Shard& shard) {
        const bool sealed = what_.aead() && !what_.encrypt;  // The known text is then the output.
        shard.in.at_least(shard.bytes);
        if (!what_.mac()) shard.out.at_least(shard.bytes);
        const BulkMemory& first = sealed ? shard.out : shard.in;
        for (uint64_t at = 0, n; at < shard.bytes; at += n) {
            const uint64_t within = (shard.begin + at) % pattern_bytes;
            n = std::min(shard.bytes - at, pattern_bytes - within);
            require_ok(warpseal_device_upload(shard.engine.get(), first.data() + at,
                                              pattern_.data() + within, n),
                       "copying to the GPU");
        }
        if (message_bytes_ == 0) {
            shard.iv = iv_at(shard.begin);
        } else {
            const uint64_t count = shard.bytes / message_bytes_, before = number(shard.begin),
                           iv_bytes = bench_iv_bytes(what_);
            shard.ivs.put(ivs_.data() + before * iv_bytes, count * iv_bytes);
            if (!keys_.empty())
                shard.keys.put(keys_.data() + before * what_.key_bytes(),
                               count * what_.key_bytes());
            shard.tags.put(std::vector<uint8_t>(count * bench_tag_stride).data(),
                           count * bench_tag_stride);
            shard.statuses.put(std::vector<int32_t>(count, -1).data(), count * sizeof(int32_t));
        }
        if (what_.tagged() && !what_.encrypt) {
            require_ok(queue(what_.as(true), shard, sealed), "sealing on the GPU");
            require_ok(warpseal_device_synchronize(shard.engine.get(), nullptr),
                       "sealing on the GPU");
        }
        if (what_.mac()) return;
        // Overwrites the samples, so that checked output must come from the measured calls.
        const std::vector<uint8_t> other(sample_bytes(), 0xa5);
        for (const uint64_t at : samples(shard))
            require_ok(warpseal_device_upload(shard.engine.get(), shard.out.data() + at,
                                              other.data(), other.size()),
                       "copying to the GPU");
    }

    warpseal_status queue(const BenchCase& what, const Shard& shard, bool backwards) const {
        const uint8_t* const in = backwards ? shard.out.data() : shard.in.data();
        uint8_t* const out = backwards ? shard.in.data() : shard.out.data();
        if (message_bytes_ == 0)
            return bench_call_device(what, key_.get(), shard.iv.data(), in, out, shard.bytes,
                                     nullptr);
        const BatchMemory memory{in,
                                 out,
                                 shard.ivs.data(),
                                 shard.keys.data(),
                                 shard.tags.data(),
                                 reinterpret_cast<int32_t*>(shard.statuses.data())};
        return bench_call_batch_device(
            what, key_.get(), bench_batch(what, memory, shard.bytes, message_bytes_), nullptr);
    }

    void check(const Shard& shard, uint64_t at, Reference& reference) const {
        const std::vector<uint8_t> plain = text(shard.begin + at, sample_bytes()),
                                   iv = iv_at(shard.begin + at);
        std::vector<uint8_t> right(what_.mac() ? 0 : plain.size()), got(right.size());
        uint8_t right_tag[bench_tag_stride] = {}, tag[bench_tag_stride] = {};
        if ((!keys_.empty() &&
             !reference.set_key(keys_.data() + number(shard.begin + at) * what_.key_bytes())) ||
            !reference.run(iv.data(), plain.data(), what_.mac() ? nullptr : right.data(),
                           plain.size(), right_tag))
            throw BenchWrong("the reference failed");
        const auto fetch = [&](const BulkMemory& from, uint64_t where, void* to, uint64_t bytes) {
            if (bytes == 0) return;
            require_ok(warpseal_device_download(shard.engine.get(), to, from.data() + where, bytes),
                       "copying from the GPU");
        };
        if (what_.aead() && !what_.encrypt) {
            fetch(shard.out, at, got.data(), got.size());
            if (got != plain) throw BenchWrong("the output is not what was sealed");
        }
        fetch(what_.aead() && !what_.encrypt ? shard.in : shard.out, at, got.data(), got.size());
        if (got != right) throw BenchWrong("the output is not what it must be");
        if (!what_.tagged()) return;
        fetch(shard.tags, at / message_bytes_ * bench_tag_stride, tag, what_.tag_bytes());
        if (std::memcmp(tag, right_tag, what_.tag_bytes()) != 0)
            throw BenchWrong("the tags are not what they must be");
    }

    const BenchCase what_;
    const uint64_t message_bytes_;
    cli::EngineHandle engine_;
    BenchKey key_;
    const std::vector<uint8_t> ivs_, keys_;
    BulkMemory pattern_;
    std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace

BenchRow measure_resident(const BenchOptions& options, const BenchCase& what,
                          const std::string& device, uint64_t bytes, uint64_t message_bytes,
                          cli::Session& session) {
    const uint64_t gpus = each_gpu(device).size();
    if (message_bytes >= bytes)
        message_bytes = what.tagged() ? std::min(usual_message_bytes, bytes / gpus) : 0;
    const uint64_t grain = grain_of(what, message_bytes);
    if (bytes % grain != 0 || bytes < gpus * grain)
        throw cli::Failure(
            cli::ExitCode::usage,
            "shards on GPUs are whole messages, of one message whole mebibytes and data units.");
    Resident job(options, what, device, bytes, message_bytes, session);
    BenchRow row;
    row.what = what;
    row.device = job.gpus() == 1 ? "cuda" : device;
    row.place = "device";
    row.threads = options.threads;
    row.bytes = bytes;
    row.message_bytes = message_bytes == 0 ? bytes : message_bytes;
    row.gpus = static_cast<unsigned>(job.gpus());
    job.seconds(false);  // warm-up
    for (int i = 0; i < bench_repetitions; ++i) {
        row.figures.ours.push_back(static_cast<double>(bytes) / job.seconds(false) / 1e9);
        if (job.gpus() > 1)
            row.one_gpu.push_back(static_cast<double>(job.first_bytes()) / job.seconds(true) / 1e9);
    }
    row.checked_against = job.check(device);
    return row;
}

}  // namespace warpseal::bench
