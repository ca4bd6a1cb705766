// P3: files encrypted through the GPU and on all cores, which is the purpose of gKrypt.
#include "bench/papers/p3_files.h"

#include "bench/papers/published.h"
#include "cli/support/format.h"

namespace warpseal::papers {
constinit const Table p3_files_table{
    "P3", "file encryption", "time of a file, AES-256, beside the kernel's time in figure 8",
    published::p3::both,
    "the article's product encrypts files and its figures are of the kernel alone; files in memory "
    "(--directory) by our library, from open files until the last byte is written, with copies to "
    "and from the GPU; AES-256-GCM authenticates, which the article's ECB does not; the method is "
    "in figure 8; bench/file_through_gpu measures the program on disks and other ciphers"};

namespace {

constexpr uint64_t sizes[] = {1, 4, 16, 64, 256, 1024};  // MiB

void take_file(Study& study, uint64_t mebibytes, bool on_gpu, bool seals) {
    const uint64_t bytes = mebibytes << 20;
    Row row{.table = &p3_files_table,
            .row = cli::format("{} MiB, {}, {}", mebibytes, seals ? "encryption" : "decryption",
                               on_gpu ? "GPU" : "all cores"),
            .unit = "ms"};
    if (study.limited(bytes) != bytes) {
        row.not_run = on_gpu && study.gpu().empty() ? study.no_gpu() : "more than --bytes";
        return study.take(row);
    }
    const Figure figure = study.from_file_to_file(on_gpu, seals, bytes);
    set_ours(row, figure, [&](double rate) { return static_cast<double>(bytes) / rate / 1e6; });
    row.more.emplace_back("bytes", static_cast<double>(bytes));
    if (figure.gigabytes_per_second)
        row.more.emplace_back("gigabytes_per_second", *figure.gigabytes_per_second);
    study.take(row);
}

}  // namespace

void encrypt_p3_files(Study& study) {
    for (const bool seals : {true, false})
        for (const uint64_t mebibytes : sizes) {
            for (const bool on_gpu : {true, false}) take_file(study, mebibytes, on_gpu, seals);
        }
}

}  // namespace warpseal::papers
