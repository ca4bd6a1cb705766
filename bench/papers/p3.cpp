// P3: gKrypt's AES-256 step by step, key expansion on the device, and time against size beside all
// cores.
#include <fmt/core.h>

#include <algorithm>

#include "bench/papers/methods.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p3;

constexpr Table ladder_table{"P3", "section 3",
                             "the steps of the kernel, AES-256 over a state of bytes", paper::gpu,
                             "no figures are published for the steps; ECB within device memory; "
                             "the last goes on where the paper ends"};
constexpr Table shared_table{"P3", "section 3, shared memory",
                             "shared bytes of a block of 256 threads", paper::gpu,
                             "read from the kernels as compiled for this GPU"};
constexpr Table sizes_table{
    "P3", "figure 8", "time against size, AES-256", paper::both,
    "the figure is a drawing without numbers; the method on a GPU is its fastest step, on cores "
    "AES over a state "
    "of bytes, a thread for each core "
    "and blocks of its own, in C++ instead of OpenCL; transfers are not counted"};
constexpr Table over_table{"P3", "figure 9", "the GPU over all cores, AES-256", paper::both,
                           "both of this machine: the method's fastest step over its AES on 8 "
                           "threads, or as many as there are cores; our "
                           "GPU path over our cores, which "
                           "have AES instructions"};

// The paper's five steps, and one that its authors might add today.
constexpr const char* steps[] = {"global",   "constant",    "shared-state",
                                 "unrolled", "device-keys", "shared-tables"};
constexpr uint64_t mebibyte = 1 << 20;
constexpr uint64_t sizes[] = {1, 4, 16, 64, 256};  // MiB

std::string step_name(const char* step, bool decrypts) {
    return fmt::format("gkrypt.{}{}", decrypts ? "decrypt." : "", step);
}

class Reproduction {
public:
    explicit Reproduction(Study& study)
        : study_(study),
          bytes_(study.limited(1024 * mebibyte)),
          team_(static_cast<int>(study.cores())) {}

    void run() {
        print_ladder();
        print_shared();
        print_sizes();
        print_quotient();
    }

private:
    static std::vector<uint8_t> key() {
        std::vector<uint8_t> bytes(32);
        for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
        return bytes;
    }

    void print_ladder() {
        for (const bool decrypts : {false, true})
            for (const char* step : steps) {
                const auto figure = study_.step(step_name(step, decrypts), bytes_);
                if (!decrypts && figure.gigabytes_per_second.value_or(0) >=
                                     fastest_.gigabytes_per_second.value_or(0))
                    fastest_ = figure;
                const Figure& ours = study_.on_gpu("aes-256-ecb", !decrypts, bytes_);
                Row row{.table = &ladder_table,
                        .row = fmt::format("{}, {}", step, decrypts ? "decryption" : "encryption"),
                        .unit = "GB/s"};
                set_method(row, figure, as_gigabytes);
                set_ours(row, ours, as_gigabytes);
                if (row.method) {
                    const ladder::Measured& kernel = figure.measured;
                    row.more = {{"registers", kernel.registers},
                                {"local_bytes", kernel.local_bytes},
                                {"shared_bytes", kernel.shared_bytes},
                                {"threads_per_block", kernel.threads_per_block}};
                }
                study_.take(row);
            }
    }

    void print_shared() {
        const std::pair<const char*, int> published[] = {
            {"shared-state", paper::state_shared_bytes},
            {"device-keys", paper::state_and_key_shared_bytes}};
        for (const auto& [step, bytes] : published) {
            const auto figure =
                study_.step(step_name(step, false), study_.limited(16 * mebibyte), 256, 1);
            Row row{.table = &shared_table, .row = step, .unit = "bytes", .published = bytes};
            row.method_what = figure.what;
            row.not_run = figure.not_run;
            if (figure.gigabytes_per_second) row.method = figure.measured.shared_bytes;
            study_.take(row);
        }
    }

    void print_sizes() {
        for (const uint64_t size : sizes) {
            const uint64_t bytes = size * mebibyte;
            if (study_.limited(bytes) != bytes) continue;
            const auto kernel = study_.step(
                fastest_.what.empty() ? step_name(steps[0], false) : fastest_.what, bytes);
            take_time(size, "GPU", kernel, study_.on_gpu("aes-256-ecb", true, bytes));
            take_time(size, "all cores", plain_on_cores(team_, bytes),
                      study_.on_all_cores("aes-256-ecb", true, bytes));
        }
    }

    void take_time(uint64_t size, const char* where, const Figure& method, const Figure& ours) {
        const auto milliseconds = [&](double rate) {
            return static_cast<double>(size * mebibyte) / rate / 1e6;
        };
        Row row{.table = &sizes_table, .row = fmt::format("{} MiB, {}", size, where), .unit = "ms"};
        set_method(row, method, milliseconds);
        set_ours(row, ours, milliseconds);
        row.more.emplace_back("bytes", static_cast<double>(size * mebibyte));
        study_.take(row);
    }

    Figure plain_on_cores(Team& team, uint64_t bytes) {
        std::vector<uint8_t> data(bytes), out(bytes);
        const Method plain = over_blocks(key(), team);
        const double seconds =
            study_.seconds_of([&] { plain(true, data.data(), out.data(), bytes / 16); });
        return {static_cast<double>(bytes) / seconds / 1e9,
                fmt::format("AES over a state of bytes, {} threads", team.threads()), ""};
    }

    void print_quotient() {
        const uint64_t bytes = study_.limited(64 * mebibyte);
        Team team(std::min(paper::cpu_threads, static_cast<int>(study_.cores())));
        const Figure cores = plain_on_cores(team, bytes);
        const Figure &gpu = study_.on_gpu("aes-256-ecb", true, bytes),
                     &our_cores = study_.on_all_cores("aes-256-ecb", true, bytes);
        Row row{.table = &over_table,
                .row = "GPU over cores",
                .unit = "times",
                .published = paper::gpu_over_cpu,
                .published_bound = ">"};
        set_method(row, fastest_, [&](double rate) { return rate / *cores.gigabytes_per_second; });
        if (our_cores.gigabytes_per_second)
            set_ours(row, gpu, [&](double rate) { return rate / *our_cores.gigabytes_per_second; });
        row.method_what += " over " + cores.what;
        row.ours_what = gpu.what + " over " + our_cores.what;
        row.more = {{"cores_gigabytes_per_second", *cores.gigabytes_per_second}};
        study_.take(row);
    }

    Study& study_;
    const uint64_t bytes_;
    Team team_;
    Figure fastest_;  // fastest of the steps that encrypt
};

}  // namespace

void reproduce_p3(Study& study) { Reproduction(study).run(); }

}  // namespace warpseal::papers
