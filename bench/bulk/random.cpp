// `warpseal-bench random`: random bytes by the generator, getrandom(2) and OpenSSL's RAND_bytes.
#include <openssl/rand.h>
#include <sys/random.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <functional>

#include "bench/commands.h"
#include "bench/report/failure.h"
#include "bench/report/figures.h"
#include "bench/report/memory.h"
#include "bench/report/report.h"
#include "c_api/internal.h"
#include "cli/support/format.h"
#include "cli/support/output.h"
#include "warpseal/drbg.h"

namespace warpseal::bench {
namespace {

struct RandomBenchOptions {
    std::vector<uint64_t> sizes{64 << 10, 16 << 20, uint64_t{1} << 30};
    std::string device = "auto";
    std::string json;
    double seconds = 0.2;
};

struct DrbgDelete {
    void operator()(warpseal_drbg* drbg) const { warpseal_drbg_destroy(drbg); }
};

double seconds_of(uint64_t calls, const std::function<void()>& call) {
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < calls; ++i) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void fill_by_kernel(uint8_t* out, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = getrandom(out + done, bytes - done, 0);
        if (got <= 0) throw BenchWrong("getrandom failed");
        done += static_cast<size_t>(got);
    }
}

void fill_by_openssl(uint8_t* out, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const int some = static_cast<int>(std::min<size_t>(bytes - done, 1 << 30));
        if (RAND_bytes(out + done, some) != 1) throw BenchWrong("RAND_bytes failed");
        done += static_cast<size_t>(some);
    }
}

// A generator of an engine, in the memory that the engine's device prefers.
class Generator {
public:
    Generator(const std::string& device, unsigned threads, bool on_device, cli::Session& session)
        : engine_(cli::create_engine({device, threads}, session)),
          memory_(engine_.get(), on_device),
          on_device_(on_device) {
        warpseal_drbg* made = nullptr;
        require_ok(warpseal_drbg_create(engine_.get(), nullptr, &made), "creating a generator");
        drbg_.reset(made);
    }

    double seconds(size_t bytes, uint64_t calls) {
        uint8_t* const out = memory_.at_least(bytes);
        if (!on_device_)
            return seconds_of(calls, [&] {
                require_ok(warpseal_drbg_fill(drbg_.get(), out, bytes), "filling host memory");
            });
        struct Work {
            warpseal_drbg* drbg;
            uint8_t* out;
            size_t bytes;
            uint64_t calls;
        } work{drbg_.get(), out, bytes, calls};
        float milliseconds = 0;
        const auto queue = [](void* user, void* stream) {
            const Work& all = *static_cast<const Work*>(user);
            warpseal_status status = WARPSEAL_OK;
            for (uint64_t i = 0; i < all.calls && status == WARPSEAL_OK; ++i)
                status = warpseal_drbg_fill_device(all.drbg, all.out, all.bytes, stream);
            return status;
        };
        require_ok(warpseal_internal_time_device(engine_.get(), queue, &work, &milliseconds),
                   "filling device memory");
        return milliseconds / 1e3;
    }

private:
    cli::EngineHandle engine_;
    BulkMemory memory_;
    const bool on_device_;
    std::unique_ptr<warpseal_drbg, DrbgDelete> drbg_;
};

class RandomBench {
public:
    RandomBench(const RandomBenchOptions& options, cli::Session& session)
        : options_(options),
          session_(session),
          gpu_(gpu_of(options)),
          report_(options.json, gpu_) {}

    cli::ExitCode run() {
        report_.print(cli::format("{:<26}{:<8}{:>8}{:>12}{:>10}\n", "source", "place", "threads",
                                  "bytes", "GB/s"));
        if (options_.device.rfind("cuda", 0) != 0)
            for (const unsigned threads : {1u, 0u})
                measure_generator(options_.device == "auto" ? "cpu" : options_.device, threads,
                                  false);
        if (gpu_.empty()) {
            report_.print("warpseal cuda              NOT RUN: there is no GPU\n");
        } else {
            measure_generator(gpu_, 0, true);
            measure_generator(gpu_, 0, false);
        }
        measure_function("getrandom(2)", fill_by_kernel);
        measure_function("OpenSSL RAND_bytes", fill_by_openssl);
        report_.write();
        return cli::ExitCode::ok;
    }

private:
    static std::string gpu_of(const RandomBenchOptions& options) {
        warpseal_device_info gpu{};
        if (options.device.rfind("cuda", 0) == 0) return options.device;
        const bool there = warpseal_device_at(0, &gpu) == WARPSEAL_OK;
        return options.device == "auto" && there ? "cuda" : "";
    }

    void measure_generator(const std::string& device, unsigned threads, bool on_device) {
        Generator generator(device, threads, on_device, session_);
        for (const uint64_t bytes : options_.sizes)
            add("warpseal " + device, on_device ? "device" : "host", threads, bytes,
                [&](uint64_t calls) { return generator.seconds(bytes, calls); });
    }

    void measure_function(const char* name, void (*fill)(uint8_t* out, size_t bytes)) {
        for (const uint64_t bytes : options_.sizes) {
            std::vector<uint8_t> out(bytes);
            add(name, "host", 1, bytes, [&](uint64_t calls) {
                return seconds_of(calls, [&] { fill(out.data(), out.size()); });
            });
        }
    }

    void add(const std::string& source, const char* place, unsigned threads, uint64_t bytes,
             const std::function<double(uint64_t calls)>& seconds) {
        (void)seconds(1);  // self-tests and first touch of the memory
        const double one = seconds(1);
        const auto calls = static_cast<uint64_t>(
            std::max(1.0, options_.seconds / bench_repetitions / std::max(one, 1e-7)));
        std::vector<double> figures;
        for (int i = 0; i < bench_repetitions; ++i) {
            if (cli::interrupted_by() != 0)
                throw cli::Failure(cli::ExitCode(128 + cli::interrupted_by()), "interrupted.");
            figures.push_back(static_cast<double>(bytes * calls) / seconds(calls) / 1e9);
        }
        const double middle = median(figures);
        report_.print(cli::format("{:<26}{:<8}{:>8}{:>12}{:>10}\n", source, place,
                                  threads == 0 ? "all" : std::to_string(threads), size_text(bytes),
                                  rate_text(middle)));
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const double figure : figures) all.push_back(rounded(figure));
        report_.add({{"source", source},
                     {"place", place},
                     {"threads", threads},
                     {"bytes", bytes},
                     {"gigabytes_per_second", rounded(middle)},
                     {"repetitions_gigabytes_per_second", all}});
    }

    const RandomBenchOptions& options_;
    cli::Session& session_;
    const std::string gpu_;
    Report report_;
};

}  // namespace

void add_random(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<RandomBenchOptions>();
    CLI::App* command = program.add_subcommand(
        "random", "Random bytes on cores and GPU, beside getrandom(2) and OpenSSL's RAND_bytes");
    command->add_option("--size", options->sizes, "bytes of a call: 64KiB,16MiB,1GiB")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->transform(cli::size_value())
        ->check(CLI::Range(uint64_t{1}, uint64_t{64} << 30).description(""))
        ->type_name("SIZE[,SIZE]");
    command->add_option("--device", options->device, "auto, cpu, cuda:N or one target")
        ->envname("WARPSEAL_DEVICE")
        ->transform(cli::any_case())
        ->type_name("DEVICE")
        ->capture_default_str();
    command->add_option("--seconds", options->seconds, "how long to measure for each figure")
        ->check(cli::check_seconds)
        ->type_name("S")
        ->capture_default_str();
    command->add_option("--json", options->json, "write head and rows there; - is stdout")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    command->callback([options, &session] {
        session.command = [options, &session] { return RandomBench(*options, session).run(); };
    });
}

}  // namespace warpseal::bench
