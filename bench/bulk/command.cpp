// `warpseal bench`: measures our cores, our GPU and OpenSSL in the same run and compares their
// outputs.
#include "bench/bulk/measure.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "bench/bulk/bounds.h"
#include "bench/bulk/bulk_meter.h"
#include "bench/bulk/survey.h"
#include "bench/bulk/yardsticks/yardstick.h"
#include "bench/commands.h"
#include "bench/report/file.h"
#include "bench/report/head.h"
#include "cli/support/ciphers.h"
#include "cli/support/format.h"
#include "cli/support/words/suggest.h"

namespace warpseal::bench {
namespace {

// Devices to measure, by the names that an engine takes; empty: not measured.
struct Devices {
    std::string cores, gpu;
};

std::vector<BenchCase> all_cases(const BenchOptions& options) {
    std::vector<BenchCase> cases;
    for (const warpseal_cipher_info& cipher : cli::all_ciphers())
        for (const warpseal_mode mode : cli::modes_of(cipher))
            for (const bool encrypt : {true, false})
                cases.push_back(
                    {cipher, mode, encrypt, options.unit_bytes, options.key_per_message});
    return cases;
}

// Returns true for suites with a file format of their own: bare Cobblestone messages.
bool seals_files(const BenchCase& what) {
    return what.name() == "aes-128-gcm" || what.name() == "aes-256-gcm";
}

Devices chosen_devices(const BenchOptions& options) {
    Devices devices;
    warpseal_device_info gpu{};
    if (options.device.rfind("cuda", 0) == 0)
        devices.gpu = options.device;
    else if (options.device != "auto")
        devices.cores = options.device;
    else if (options.place == "device" || warpseal_device_at(0, &gpu) == WARPSEAL_OK)
        devices.gpu = "cuda";
    if (options.device == "auto" && options.place != "device") devices.cores = "cpu";
    if (options.place == "device" && devices.gpu.empty())
        throw cli::Failure(cli::ExitCode::usage, "--place device is for a GPU: use --device cuda.");
    return devices;
}

}  // namespace

std::vector<BenchCase> chosen_cases(const BenchOptions& options) {
    std::vector<BenchCase> all = all_cases(options), chosen;
    for (const std::string& name : options.what) {
        const size_t before = chosen.size();
        std::copy_if(all.begin(), all.end(), std::back_inserter(chosen),
                     [&](const BenchCase& what) {
                         const std::string full = std::string(what.cipher.name) + "-" +
                                                  cli::full_mode_name(what.cipher, what.mode);
                         return name == what.name() || name == full || name == what.cipher.name;
                     });
        if (chosen.size() == before)
            throw cli::Failure(
                cli::ExitCode::unsupported,
                cli::format("there is no '{}': `warpseal list` shows the ciphers and modes.{}",
                            name, cli::did_you_mean(name, cli::cipher_mode_names())));
    }
    if (options.what.empty()) chosen = all;
    if (options.messages || options.key_per_message)
        chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                                    [](const BenchCase& what) { return !what.has_batch(); }),
                     chosen.end());
    if (chosen.empty())
        throw cli::Failure(cli::ExitCode::unsupported, "ecb and xts have no batches of messages.");
    if (options.place == "file") {
        chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                                    [](const BenchCase& what) { return !seals_files(what); }),
                     chosen.end());
        if (chosen.empty())
            throw cli::Failure(cli::ExitCode::unsupported,
                               "files are sealed with aes-128-gcm or aes-256-gcm.");
    }
    return chosen;
}

namespace {

class Bench {
public:
    Bench(const BenchOptions& options, cli::Session& session)
        : options_(options),
          session_(session),
          devices_(chosen_devices(options)),
          cases_(chosen_cases(options)),
          report_file_(options.json),
          table_{!devices_.cores.empty(), !devices_.gpu.empty(),
                 options.place == "file" ? std::vector<Yardstick>() : options.yardsticks} {}

    cli::ExitCode run() {
        // Reports a missing device before anything is measured.
        for (const std::string& device : {devices_.cores, devices_.gpu})
            if (!device.empty()) cli::create_engine({device, 1}, session_);
        report_["head"] = json_head(devices_.gpu, options_.seconds);
        report_["rows"] = nlohmann::ordered_json::array();
        print(table_.title(options_, report_["head"]));
        for (const BenchCase& what : cases_) {
            const size_t sizes = std::max<size_t>(1, options_.sizes.size());
            for (size_t i = 0; i < sizes; ++i) measure(what, i);
        }
        report_file_.write(report_.dump(1) + "\n");
        return wrong_ ? cli::ExitCode::error : cli::ExitCode::ok;
    }

private:
    // Returns true for jobs on several GPUs, or too large to compute the whole expected output.
    bool resident(uint64_t bytes) const {
        return devices_.gpu.find(',') != std::string::npos || bytes > 4096 * mebibyte;
    }

    void print(const std::string& text) const { report_file_.print(text); }

    uint64_t size(size_t index, uint64_t by_default) const {
        if (options_.messages) return options_.messages * options_.message_bytes;
        return options_.sizes.empty() ? by_default : options_.sizes[index];
    }

    void measure(const BenchCase& what, size_t size_index) {
        constexpr uint64_t whole = UINT64_MAX;
        std::vector<uint64_t> message_sizes{options_.message_bytes ? options_.message_bytes
                                                                   : whole};
        // GCM has two figures on large buffers: the buffer as one message, and split into chunks of
        // the size that files use.
        const bool chunks =
            what.mode == WARPSEAL_GCM && !options_.message_bytes && options_.place != "file";
        if (chunks) message_sizes.push_back(bench_chunk_bytes);
        for (uint64_t message_bytes : message_sizes) {
            const bool in_own_buffers = options_.place.empty() && !options_.messages;
            const std::string gpu_memory = options_.place.empty() ? "device" : options_.place;
            // for large buffers
            if (what.serial() && message_bytes == whole) message_bytes = bench_serial_message_bytes;
            std::optional<BenchRow> cores, gpu;
            if (!devices_.cores.empty() && (!in_own_buffers || !chunks || message_bytes == whole))
                cores = attempt(what, devices_.cores, [&]() -> BenchRow {
                    if (in_own_buffers)
                        return measure_cores(options_, what, devices_.cores,
                                             size(size_index, bench_core_bytes), session_);
                    if (options_.place == "file")
                        return measure_file(options_, what, devices_.cores,
                                            size(size_index, 1024 * mebibyte), session_);
                    return bulk(devices_.cores)
                        .measure(what, "host", size(size_index, 256 * mebibyte), message_bytes);
                });
            if (!devices_.gpu.empty())
                gpu = attempt(what, devices_.gpu, [&]() -> BenchRow {
                    const uint64_t bytes = size(size_index, 1024 * mebibyte);
                    if (options_.place == "file")
                        return measure_file(options_, what, devices_.gpu, bytes, session_);
                    if (gpu_memory == "device" && resident(bytes))
                        return measure_resident(options_, what, devices_.gpu, bytes, message_bytes,
                                                session_);
                    return bulk(devices_.gpu).measure(what, gpu_memory, bytes, message_bytes);
                });
            if (cores || gpu) print(table_.line(cores ? &*cores : nullptr, gpu ? &*gpu : nullptr));
        }
    }

    BulkMeter& bulk(const std::string& device) {
        return bulk_.try_emplace(device, options_, device, session_).first->second;
    }

    template <class Measure>
    std::optional<BenchRow> attempt(const BenchCase& what, const std::string& device,
                                    Measure measure) {
        if (cli::interrupted_by() != 0)
            throw cli::Failure(static_cast<cli::ExitCode>(128 + cli::interrupted_by()),
                               "interrupted.");
        try {
            BenchRow row = measure();
            report_["rows"].push_back(json_row(row));
            add_bound(report_["head"], report_["rows"].back());
            return row;
        } catch (const BenchWrong& why) {
            wrong_ = true;
            cli::complain(cli::format("{} {} on {}: no figure: {}", what.name(), what.operation(),
                                      device, why.what()));
            return std::nullopt;
        }
    }

    const BenchOptions& options_;
    cli::Session& session_;
    const Devices devices_;
    const std::vector<BenchCase> cases_;
    ReportFile report_file_;
    const BenchTable table_;
    std::map<std::string, BulkMeter> bulk_;  // by device
    nlohmann::ordered_json report_;
    bool wrong_ = false;
};

// The first name of the command line selects these instead of ciphers.
bool is_survey(const BenchOptions& options) {
    return !options.what.empty() && options.what.front() == "survey";
}
bool is_auto(const BenchOptions& options) {
    return options.what == std::vector<std::string>{"auto"};
}

void check_options(const BenchOptions& options) {
    for (const uint64_t bytes : options.sizes)
        if (bytes == 0 || bytes % 64 != 0 || bytes > uint64_t{64} << 30)
            throw cli::Failure(cli::ExitCode::usage,
                               "--size takes multiples of 64 bytes up to 64 GiB.");
    if (options.message_bytes % 16 != 0)
        throw cli::Failure(cli::ExitCode::usage, "--message-bytes takes multiples of 16 bytes.");
    if (options.messages && !options.message_bytes)
        throw cli::Failure(cli::ExitCode::usage, "--messages goes with --message-bytes.");
    if (options.messages && (!options.sizes.empty() || options.place == "file"))
        throw cli::Failure(
            cli::ExitCode::usage,
            "--messages says how long a call is: it goes without --size and --place file.");
    if (options.messages && options.messages > (uint64_t{64} << 30) / options.message_bytes)
        throw cli::Failure(cli::ExitCode::usage,
                           "--messages and --message-bytes make more than 64 GiB.");
    if (options.key_per_message && !options.message_bytes)
        throw cli::Failure(cli::ExitCode::usage, "--key-per-message goes with --message-bytes.");
    const bool survey = is_survey(options);
    if (!survey && options.max_size != BenchOptions{}.max_size)
        throw cli::Failure(cli::ExitCode::usage, "--max-size goes with survey.");
    if (survey && (!options.place.empty() || !options.sizes.empty() || options.message_bytes ||
                   options.threads != 1))
        throw cli::Failure(cli::ExitCode::usage,
                           "survey measures all places at sizes of its own, on all cores: it goes "
                           "without those options.");
    if (options.max_size < 4096)
        throw cli::Failure(cli::ExitCode::usage, "--max-size takes 4 KiB or more.");
    if (options.unit_bytes % 16 != 0 || options.unit_bytes == 0 ||
        options.unit_bytes > mebibyte * 16)
        throw cli::Failure(cli::ExitCode::usage,
                           "--data-unit-bytes takes multiples of 16 bytes up to 16 MiB.");
}

}  // namespace

void add_bulk(CLI::App& bench, cli::Session& session) {
    auto options = std::make_shared<BenchOptions>();
    bench.footer(
        "Without --place, each thread of the cores works in place on a buffer of its own (64 KiB, "
        "opening from one to another), and a GPU\n"
        "from its memory to its memory (1 GiB). `host` is one call from host memory to host "
        "memory, `file` from file to file.\n"
        "Every output is checked, by OpenSSL where it has the mode or the cipher, else by another "
        "target: where they differ there is no\n"
        "figure, and the exit code is 1.");
    bench
        .add_option("CIPHER-MODE", options->what,
                    "aes-256-gcm, or aes-256 for all its modes (default: everything); auto: is "
                    "what auto picks the best? at 60 points; survey: all places and sizes, in "
                    "about two minutes")
        ->transform(cli::any_case());
    bench
        .add_option("--device", options->device,
                    "auto (the cores, and a GPU if there is one), cpu, cuda, cuda:N, cuda:N,M "
                    "(together), or one target")
        ->envname("WARPSEAL_DEVICE")
        ->transform(cli::any_case())
        ->type_name("DEVICE");
    bench.add_option("--place", options->place, "where the data lies")
        ->check(CLI::IsMember({"device", "host", "file"}).description(""))
        ->type_name("device|host|file");
    bench
        .add_option("--threads", options->threads, "threads on the cores, ours and the yardsticks'")
        ->check(CLI::Range(1, 4096).description(""))
        ->type_name("N")
        ->capture_default_str();
    bench.add_option("--size", options->sizes, "bytes of a call: 16KiB,1MiB,1GiB")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->transform(cli::size_value())
        ->type_name("SIZE[,SIZE]");
    bench
        .add_option("--message-bytes,--message-size", options->message_bytes,
                    "cut the bytes of a call into messages of this size, in one batch")
        ->transform(cli::size_value())
        ->type_name("SIZE");
    bench
        .add_option("--messages", options->messages,
                    "a batch of so many messages of --message-bytes")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32).description(""))
        ->type_name("N");
    bench.add_flag("--key-per-message", options->key_per_message,
                   "each message of a batch has its own key, expanded within the call");
    bench.add_option("--data-unit-bytes", options->unit_bytes, "data units of xts")
        ->transform(cli::size_value())
        ->type_name("SIZE")
        ->capture_default_str();
    bench
        .add_option("--against", options->against,
                    "measure other libraries too, in turn with ours: openssl (linked), openssl3.5, "
                    "libgcrypt, botan (loaded); =PATH names a library's file")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(check_yardstick)
        ->type_name("NAME[=PATH][,...]");
    bench.add_option("--seconds", options->seconds, "how long to measure for each figure")
        ->check(cli::check_seconds)
        ->type_name("S")
        ->capture_default_str();
    bench.add_option("--directory", options->directory, "where --place file puts its files")
        ->type_name("DIR")
        ->capture_default_str();
    bench
        .add_option("--json", options->json,
                    "write head and rows there; - is stdout, the table then goes to stderr")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    bench.add_option("--max-size", options->max_size, "the survey's sizes end there")
        ->transform(cli::size_value())
        ->type_name("SIZE")
        ->capture_default_str();
    bench.callback([options, &bench, &session] {
        if (!bench.get_subcommands().empty()) return;
        if (is_survey(*options) && bench.count("--seconds") == 0)
            options->seconds = BenchOptions::survey_seconds;
        session.command = [options, &session] {
            check_options(*options);
            options->yardsticks = open_yardsticks(options->against);
            if (is_survey(*options)) return run_survey(*options, session);
            if (is_auto(*options)) return run_bench_auto(*options, session);
            return Bench(*options, session).run();
        };
    });
}

}  // namespace warpseal::bench
