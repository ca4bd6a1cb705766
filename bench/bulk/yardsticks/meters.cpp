// The yardsticks of a row.
#include "bench/bulk/yardsticks/meters.h"

#include <algorithm>

#include "bench/bulk/reference_output.h"

namespace warpseal::bench {
namespace {

class TheirSide : public Side {
public:
    TheirSide(const BenchCase& what, std::unique_ptr<YardstickCipher> cipher, uint64_t bytes,
              uint64_t message_bytes)
        : Side(what, "", bytes, message_bytes), cipher_(std::move(cipher)) {}

protected:
    bool process() override {
        return call_reference(*cipher_, what_, buffers_, buffers_.in.data(), buffers_.to(),
                              buffers_.tags.data());
    }

private:
    std::unique_ptr<YardstickCipher> cipher_;
};

bool has_mode(const Yardstick& yardstick, const BenchCase& what) {
    return yardstick.library && yardstick.library->find(what, bench_key(what));
}

}  // namespace

// One yardstick with its figures so far. Without sides it is not run.
class YardstickMeters::Meter {
public:
    explicit Meter(const Yardstick& yardstick) : library_(yardstick.library) {
        figures_.name = yardstick.name;
        figures_.version = yardstick.version;
        figures_.not_run = yardstick.not_run;
    }

    // Makes a side for each thread, of the mode or of ECB. The figures say if the library lacks it.
    void set_up(BenchCase what, bool ecb, unsigned threads, uint64_t bytes,
                uint64_t message_bytes) {
        if (!library_) return;
        const std::string wanted = what.name();
        if (ecb) {
            what.mode = WARPSEAL_ECB;
            what.key_per_message = false;
            message_bytes = bytes;
        }
        for (unsigned t = 0; t < threads; ++t) {
            auto cipher = library_->find(what, bench_key(what));
            if (!cipher) {
                figures_.not_run = "it has no " + wanted + library_->limits();
                return;
            }
            figures_.cipher = cipher->cipher_name();
            sides_.push_back(std::make_unique<TheirSide>(what, std::move(cipher), bytes,
                                                         std::min(message_bytes, bytes)));
        }
        figures_.threads = threads;
        figures_.is_ecb_instead = ecb;
        bytes_ = bytes;
        reference_ = make_reference(what, bench_key(what), "");
        compare();
    }

    bool runs() const { return !sides_.empty(); }

    void measure(double seconds) {
        std::vector<Side*> sides;
        for (const auto& side : sides_) sides.push_back(side.get());
        with_name([&] { figures_.rates.push_back(rate(sides, seconds, bytes_)); });
    }

    void compare() {
        with_name([&] {
            for (const auto& side : sides_) side->compare(*reference_);
        });
    }

    const YardstickFigures& figures() const { return figures_; }

private:
    template <class Work>
    void with_name(const Work& work) const {
        try {
            work();
        } catch (const BenchWrong& why) {
            throw BenchWrong(figures_.name + " " + figures_.cipher + ": " + why.what());
        }
    }

    const std::shared_ptr<const YardstickLibrary> library_;
    YardstickFigures figures_;
    std::vector<std::unique_ptr<Side>> sides_;
    std::unique_ptr<Reference> reference_;
    uint64_t bytes_ = 0;
};

YardstickMeters::YardstickMeters(const BenchOptions& options, const BenchCase& what, uint64_t bytes,
                                 uint64_t message_bytes)
    : seconds_(options.seconds / bench_repetitions) {
    const bool ecb = std::none_of(options.yardsticks.begin(), options.yardsticks.end(),
                                  [&](const Yardstick& one) { return has_mode(one, what); });
    for (const Yardstick& yardstick : options.yardsticks) {
        meters_.push_back(std::make_unique<Meter>(yardstick));
        meters_.back()->set_up(what, ecb, options.threads, bytes, message_bytes);
    }
}

YardstickMeters::~YardstickMeters() = default;

bool YardstickMeters::measure() {
    bool any = false;
    for (const auto& meter : meters_)
        if (meter->runs()) {
            meter->measure(seconds_);
            any = true;
        }
    return any;
}

std::vector<YardstickFigures> YardstickMeters::finish() {
    std::vector<YardstickFigures> all;
    for (const auto& meter : meters_) {
        if (meter->runs()) meter->compare();
        all.push_back(meter->figures());
    }
    return all;
}

}  // namespace warpseal::bench
