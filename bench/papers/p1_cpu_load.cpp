// CPU seconds per GB by the public calls. Each output is compared with the cores'.
#include "bench/papers/p1_cpu_load.h"

#include "bench/bulk/measure.h"
#include "bench/papers/cpu_time.h"
#include "bench/papers/table_code.h"
#include "bench/report/memory.h"
#include "cli/support/format.h"

namespace warpseal::papers {
namespace {

struct Cipher {
    const char* paper_name;
    const char* name;
    bool has_table_code;
};
constexpr Cipher ciphers[] = {
    {"AES", "aes-128", true}, {"ARIA", "aria-128", true}, {"DES", "des", false}};

struct KeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using Key = std::unique_ptr<warpseal_key, KeyDelete>;

void check(warpseal_status status) {
    if (status != WARPSEAL_OK) throw bench::BenchWrong(warpseal_status_text(status));
}

Key make_key(warpseal_engine* engine, const char* cipher) {
    // The example key of DES in FIPS 81, continued for longer keys. It is no secret.
    constexpr uint8_t bytes[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                   0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
    warpseal_key* key = nullptr;
    check(warpseal_key_create(engine, cipher, bytes, cipher == std::string("des") ? 8 : 16, &key));
    return Key(key);
}

class CpuLoad {
public:
    explicit CpuLoad(Study& study)
        : study_(study), bytes_(study.limited(64 << 20)), text_(bytes_), expected_(bytes_) {
        for (size_t i = 0; i < text_.size(); ++i) text_[i] = static_cast<uint8_t>(i * 197 >> 7);
        if (!study.gpu().empty())
            gpu_ = cli::create_engine({study.gpu(), study.cores()}, study.session());
    }

    void run() {
        for (const Cipher& cipher : ciphers) {
            take(cipher, "cores", "", [&] { return on_host(cipher, cores(), false); });
            take(cipher, "GPU, from host memory", study_.no_gpu(),
                 [&] { return on_host(cipher, gpu_.get(), true); });
            take(cipher, "GPU, within its memory", study_.no_gpu(),
                 [&] { return on_device(cipher); });
        }
    }

private:
    warpseal_engine* cores() { return study_.engine(study_.cores()); }

    void take(const Cipher& cipher, const char* where, const std::string& not_run,
              const std::function<Load()>& measure) {
        Row row{.table = &load_table,
                .row = cli::format("{}, {}", cipher.paper_name, where),
                .unit = "s/GB",
                .not_run = not_run};
        const bool on_cores = where == std::string_view("cores");
        if (on_cores && cipher.has_table_code) {
            const Load load = table_code_load(cipher.paper_name, study_);
            row.method = load.cpu_seconds_per_gigabyte;
            row.method_what = "32-bit code with look-up tables, one core";
            row.more.emplace_back("method_gigabytes_per_second", load.gigabytes_per_second);
        }
        if (not_run.empty()) try {
                const Load load = measure();
                row.ours = load.cpu_seconds_per_gigabyte;
                row.ours_what = cli::format("{}-ecb, {}", cipher.name, where);
                row.more.emplace_back("default_gigabytes_per_second", load.gigabytes_per_second);
                row.more.emplace_back("bytes", static_cast<double>(bytes_));
            } catch (const bench::BenchWrong& why) {
                row.not_run = std::string("no figure: ") + why.what();
                study_.wrong(row.row + ": " + row.not_run);
            }
        study_.take(row);
    }

    Load on_host(const Cipher& cipher, warpseal_engine* engine, bool compares) {
        const Key key = make_key(engine, cipher.name);
        bench::BulkMemory in(engine, false), out(engine, false);
        in.at_least(bytes_), out.at_least(bytes_);
        in.put(text_.data(), bytes_);
        const Load load = measure_load(study_, bytes_, [&] {
            check(warpseal_encrypt(key.get(), WARPSEAL_ECB, nullptr, 0, in.data(), out.data(),
                                   bytes_));
        });
        if (compares)
            out.compare(expected_.data(), bytes_, cipher.name);
        else
            expected_.assign(out.data(), out.data() + bytes_);
        return load;
    }

    Load on_device(const Cipher& cipher) {
        const Key key = make_key(gpu_.get(), cipher.name);
        bench::BulkMemory in(gpu_.get(), true), out(gpu_.get(), true);
        in.at_least(bytes_), out.at_least(bytes_);
        in.put(text_.data(), bytes_);
        const Load load = measure_load(study_, bytes_, [&] {
            check(warpseal_encrypt_device(key.get(), WARPSEAL_ECB, nullptr, 0, in.data(),
                                          out.data(), bytes_, nullptr));
            check(warpseal_device_synchronize(gpu_.get(), nullptr));
        });
        out.compare(expected_.data(), bytes_, cipher.name);
        return load;
    }

    Study& study_;
    const uint64_t bytes_;
    std::vector<uint8_t> text_, expected_;  // of the cipher measured last on cores
    cli::EngineHandle gpu_;
};

}  // namespace

void print_cpu_load(Study& study) { CpuLoad(study).run(); }

}  // namespace warpseal::papers
