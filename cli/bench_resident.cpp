// A job that lies on the GPUs that do it: one message, of which each GPU holds a part with the IV of its first block.
#include <algorithm>
#include <cstring>

#include "bench_answers.h"
#include "warpseal/inner.h"

namespace warpseal::cli {
namespace {

constexpr uint64_t tile_bytes = uint64_t{64} << 20;  // the input is this, over and over
constexpr uint64_t sample_bytes = uint64_t{1} << 20;
constexpr uint64_t samples = 32;  // of each part, the first and the last mebibyte among them

void require_ok(warpseal_status status, const char* what) {
    if (status != WARPSEAL_OK) throw BenchWrong(std::string(what) + ": " + warpseal_status_text(status));
}

// "cuda:0,1" as "cuda:0" and "cuda:1".
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

// Memory on one GPU, from an engine made for it.
class OnGpu {
public:
    OnGpu(warpseal_engine* engine, uint64_t bytes) : engine_(engine), bytes_(bytes) {
        require_ok(warpseal_device_alloc(engine, bytes, &memory_), "allocating memory");
    }
    ~OnGpu() { warpseal_device_free(engine_, memory_, bytes_); }
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(memory_); }

private:
    warpseal_engine* engine_;
    uint64_t bytes_;
    void* memory_ = nullptr;
};

struct Part {
    EngineHandle engine;
    std::unique_ptr<OnGpu> in, out;
    uint64_t begin, bytes;
    std::vector<uint8_t> iv;
};

class Resident {
public:
    Resident(const BenchOptions& options, const BenchCase& what, const std::string& device, uint64_t bytes, Session& session)
        : what_(what),
          engine_(create_engine({device, options.threads}, session)),
          key_(make_bench_key(engine_.get(), what)),
          tile_(tile_bytes) {
        fill_random(tile_.data(), tile_bytes);
        const std::vector<uint8_t> first = message_ivs(bench_iv_bytes(what), 1);
        const std::vector<std::string> devices = each_gpu(device);
        const uint64_t share = bytes / devices.size() / grain() * grain();
        for (size_t i = 0; i < devices.size(); ++i) {
            Part part{create_engine({devices[i], 1}, session), {}, {}, i * share, i + 1 == devices.size() ? bytes - i * share : share, {}};
            part.in = std::make_unique<OnGpu>(part.engine.get(), part.bytes);
            part.out = std::make_unique<OnGpu>(part.engine.get(), part.bytes);
            for (uint64_t at = 0; at < part.bytes; at += tile_bytes - (part.begin + at) % tile_bytes) {
                const uint64_t within = (part.begin + at) % tile_bytes, n = std::min(part.bytes - at, tile_bytes - within);
                require_ok(warpseal_device_upload(part.engine.get(), part.in->data() + at, tile_.data() + within, n), "copying to the GPU");
            }
            part.iv = iv_at(first, part.begin);
            parts_.push_back(std::move(part));
        }
    }

    size_t gpus() const { return parts_.size(); }
    uint64_t first_bytes() const { return parts_[0].bytes; }

    // All parts at once, or the first alone.
    double seconds(bool first_alone) {
        struct Call {
            Resident& self;
            bool first_alone;
        } call{*this, first_alone};
        const auto work = [](void* user, size_t gpu) {
            const Call& c = *static_cast<Call*>(user);
            return c.first_alone && gpu != 0 ? WARPSEAL_OK : c.self.queue(c.self.parts_[gpu]);
        };
        float milliseconds = 0;
        require_ok(warpseal_inner_time_all(engine_.get(), work, &call, &milliseconds), "a call on the GPUs");
        return milliseconds / 1e3;
    }

    std::string check(const std::string& device) {
        const std::vector<uint8_t> secret = bench_key(what_);
        const std::unique_ptr<Reference> reference = make_reference(what_, secret, device);
        const std::vector<uint8_t> first = message_ivs(bench_iv_bytes(what_), 1);
        std::vector<uint8_t> got(sample_bytes), right(sample_bytes);
        for (const Part& part : parts_) {
            const uint64_t spots = part.bytes / sample_bytes;
            for (uint64_t i = 0; i < std::min(samples, spots); ++i) {
                const uint64_t at = (i * (spots - 1) / std::max<uint64_t>(1, std::min(samples, spots) - 1)) * sample_bytes;
                const std::vector<uint8_t> iv = iv_at(first, part.begin + at);
                uint8_t tag[16] = {};
                if (!reference->run(iv.data(), tile_.data() + (part.begin + at) % tile_bytes, right.data(), sample_bytes, tag))
                    throw BenchWrong("the reference failed");
                require_ok(warpseal_device_download(part.engine.get(), got.data(), part.out->data() + at, sample_bytes),
                           "copying from the GPU");
                if (got != right) throw BenchWrong("the output is not what it must be");
            }
        }
        return reference->name() + ", in samples";
    }

private:
    // Parts and samples begin at whole ones of these.
    uint64_t grain() const { return std::max(sample_bytes, what_.mode == WARPSEAL_XTS ? what_.unit_bytes : 1); }

    std::vector<uint8_t> iv_at(const std::vector<uint8_t>& first, uint64_t begin) const {
        const uint64_t block = what_.cipher.block_bytes;
        if (begin == 0 || (what_.mode != WARPSEAL_CBC && what_.mode != WARPSEAL_CFB))
            return bench_iv_at(what_, first, begin / block, nullptr);
        const uint8_t* before = tile_.data() + (begin - block) % tile_bytes;
        return {before, before + block};
    }

    warpseal_status queue(const Part& part) const {
        return bench_call_device(what_, key_.get(), part.iv.data(), part.in->data(), part.out->data(), part.bytes, nullptr);
    }

    const BenchCase what_;
    EngineHandle engine_;
    BenchKey key_;
    std::vector<uint8_t> tile_;
    std::vector<Part> parts_;
};

}  // namespace

BenchRow measure_resident(const BenchOptions& options, const BenchCase& what, const std::string& device, uint64_t bytes, Session& session) {
    if (bytes % sample_bytes != 0 || (what.mode == WARPSEAL_XTS && sample_bytes % what.unit_bytes != 0))
        throw Failure(ExitCode::usage, "parts on GPUs are of whole mebibytes, and of whole data units.");
    Resident job(options, what, device, bytes, session);
    BenchRow row;
    row.what = what;
    row.device = job.gpus() == 1 ? "cuda" : device;
    row.place = "device";
    row.threads = options.threads;
    row.bytes = row.message_bytes = bytes;
    row.gpus = static_cast<unsigned>(job.gpus());
    job.seconds(false);  // warms up
    for (int i = 0; i < bench_repetitions; ++i) {
        row.figures.ours.push_back(static_cast<double>(bytes) / job.seconds(false) / 1e9);
        if (job.gpus() > 1) row.one_gpu.push_back(static_cast<double>(job.first_bytes()) / job.seconds(true) / 1e9);
    }
    row.checked_against = job.check(device);
    return row;
}

}  // namespace warpseal::cli
