// Figures from the papers, each with its place in the original.
#pragma once

#include <cstdint>

#include "bench/papers/printed.h"

namespace warpseal::papers::published {

// P1: Y. Yeom, Y. Cho, "High-Speed Implementations of Block Ciphers on Graphics Processing Units
// Using CUDA Library", 2008.
namespace p1 {

inline constexpr const char* gts = "GeForce 8800 GTS, 2008";
inline constexpr const char* gtx = "GeForce 8800 GTX, 2008";
inline constexpr const char* both_cards = "GeForce 8800 GTS and GTX, 2008";
inline constexpr const char* cpu = "Core 2 Quad 2.4 GHz, C";

// Table 3 in Gbit/s. CPU figures are from the text of 4.1, which has none for DES.
struct Throughput {
    const char* cipher;
    Printed on_gts, on_gtx, on_cpu;
};
inline constexpr Throughput throughput[] = {
    {"AES", 3.1, 4.5, 1.1}, {"ARIA", 4.8, "7.0", 0.625}, {"DES", 1.6, 2.8, 0}};

// Section 4.1: the number of multiprocessors, to which table 3 is "almost proportional".
inline constexpr int gts_multiprocessors = 12, gtx_multiprocessors = 16;
// Section 4.2: the least number of threads in all that uses a GPU fully.
inline constexpr int least_threads = 1000;

// Table 4: registers and local bytes per thread, shared bytes per block of threads.
struct Resources {
    const char* form;
    const char* cipher;
    int shared_bytes, registers, local_bytes;
};
inline constexpr Resources resources[] = {{"8-bit", "AES", 1016, 12, 20},
                                          {"8-bit", "ARIA", 1332, 14, 7},
                                          {"32-bit", "AES", 5168, 63, 176},
                                          {"32-bit", "ARIA", 4348, 19, 0},
                                          {"32-bit", "DES", 2080, 17, 128}};

// Section 3.2: the 32-bit representation is at least this many times as fast as the CPU. The 8-bit
// representation is slower than the CPU.
inline constexpr double word_form_over_cpu = 5;
inline constexpr double byte_form_over_cpu = 1;

}  // namespace p1

// P2: S. Eum, M. Song, S. Kim, H. Seo, "Optimized GPU Implementation of Camellia CTR Mode by
// Minimizing Bank Conflicts", 2025.
namespace p2 {

inline constexpr const char* gpu = "GeForce RTX 3060 Mobile, 2025";
inline constexpr uint64_t blocks = uint64_t{1} << 35;  // section 4.1

struct Layout {  // table 2, for keys of 128, 192 and 256 bits
    const char* name;
    Printed seconds[3], gigabits_per_second[3];
};
inline constexpr Layout layouts[] = {
    {"table in global memory", {9.72, 13.31, 13.24}, {452.16, 330.34, 331.96}},
    {"one shared copy, with bank conflicts", {8.87, 12.07, 12.17}, {495.67, 364.33, "361.30"}},
    {"32 shared copies, without conflicts", {7.27, 9.64, 9.67}, {604.48, 456.09, 454.54}}};
inline constexpr int key_bits[] = {128, 192, 256};

// Section 4.2: time saved by the second and third layout relative to the first, Camellia-128, in
// percent, and the difference of both, "about". For keys of 192 and 256 bits the text has no
// figures.
inline constexpr double saved[] = {8.74, 25.21}, saved_more = 16;
// Time that a layout saves by table 2, in percent.
constexpr double saved_by_table(int layout, int key) {
    return 100 * (1 - layouts[layout].seconds[key] / layouts[0].seconds[key]);
}

}  // namespace p2

// P3: J. Masood, "gKrypt", part 2, 2012. Figures 8 and 9 are drawings without numbers; the text
// gives one number.
namespace p3 {

inline constexpr const char* gpu = "Tesla C2050, 2012";
inline constexpr const char* both =
    "Tesla C2050 over Core i7 2.8 GHz with 8 threads of OpenCL, 2012";
inline constexpr double gpu_over_cpu = 25;  // figure 9: at least
inline constexpr int cpu_threads = 8;

// Shared bytes of a block of 256 threads: the states, two of 16 bytes per thread, and these plus
// the 240 bytes of an expanded key.
inline constexpr int state_shared_bytes = 8192, state_and_key_shared_bytes = 8432;
// Blocks of 256 threads that fit on a multiprocessor with either, by its shared memory of 48 KB
// ("shared memory", and "key scheduling on the GPU").
inline constexpr int state_blocks = 6, state_and_key_blocks = 5;
inline constexpr int multiprocessor_shared_bytes = 48 << 10;

}  // namespace p3

// P4: H. Seong, Y. Kim, Y. Yeom, J.-S. Kang, "Accelerated Implementation of NTRU on GPU for
// Efficient Key Exchange in Multi-Client Environment", 2021. Figures 8 to 10, 12 and 13 are
// drawings without numbers.
namespace p4 {

inline constexpr const char* gpu = "GeForce RTX 2080, 2021";
inline constexpr const char* cpu = "Core i7-4790K, the submission's optimized version";
inline constexpr const char* both = "GeForce RTX 2080 over Core i7-4790K, 2021";
inline constexpr const char* set = "ntruhps4096821";
inline constexpr uint64_t count = 10'000;  // operations for each time below

struct Part {  // table 5, in ms and in percent as printed
    const char* name;
    bool encapsulates;
    double milliseconds;
    Printed percent;
};
inline constexpr Part parts[] = {
    {"randombytes", true, 651, 13.8},   {"sample-iid", true, 8, 0.1},
    {"sample-fixed", true, 382, 8.1},   {"Rq-mul", true, 3534, 75.1},
    {"sha3-256", true, 52, 1.1},        {"Rq-mul", false, 10714, 95.5},
    {"mod(3, x^n-1)", false, 103, 0.9}, {"sha3-256", false, 192, "2.0"},
    {"S3 frombytes", false, 3, "0.0"},  {"cmov", false, 1, "0.0"}};

// Sections 4.1 and 4.3: estimates by Amdahl's law, "about", with a product 150 times as fast and
// with the speed-ups of table 6.
inline constexpr double assumed_product_speed_up = 150;
inline constexpr double encapsulate_by_product = 3.9, decapsulate_by_product = 17.7;
inline constexpr double encapsulate_by_parts = 11, decapsulate_by_parts = 38;

// Section 5.4: 10,000 clients "within about 80 ms"; the server decapsulates.
inline constexpr double clients_milliseconds = 80;

struct KemSizes {  // in bytes
    const char* name;
    const char* set;  // name of the product's set; the product may not have it
    bool in_table_2;
    int category;  // of security
    int secret_key, public_key, ciphertext;
    const char* source;
};
inline constexpr const char* ntru_source = "NTRU, round-3 submission, section 1.3.2";
inline constexpr const char* kyber_source = "Kyber, round-3 submission; ML-KEM: FIPS 203, table 3";
inline constexpr const char* saber_source = "SABER, round-3 submission";
inline constexpr KemSizes kem_sizes[] = {
    {"ntruhps4096821", "ntruhps4096821", true, 5, 1590, 1230, 1230, ntru_source},
    {"Kyber1024 and ML-KEM-1024", "ml-kem-1024", true, 5, 3168, 1568, 1568, kyber_source},
    {"FireSaber", "", true, 5, 3040, 1312, 1472, saber_source},
    {"ntruhps2048677", "ntruhps2048677", false, 3, 1234, 930, 930, ntru_source},
    {"ntruhrss701", "ntruhrss701", false, 3, 1450, 1138, 1138, ntru_source},
    {"Kyber768 and ML-KEM-768", "ml-kem-768", false, 3, 2400, 1184, 1088, kyber_source},
    {"Saber", "", false, 3, 2304, 992, 1088, saber_source},
    {"ntruhps2048509", "ntruhps2048509", false, 1, 935, 699, 699, ntru_source},
    {"Kyber512 and ML-KEM-512", "ml-kem-512", false, 1, 1632, 800, 768, kyber_source},
    {"LightSaber", "", false, 1, 1568, 672, 736, saber_source}};

struct Component {  // table 6: one block of threads; speed-up over one thread
    const char* name;
    int registers;
    Printed milliseconds, speed_up;
};
inline constexpr Component components[] = {
    {"randombytes", 18, 7.8, 173.2},      {"sample-iid", 16, 3.1, 183.6},
    {"sample-fixed", 22, 11662.3, "1.0"}, {"Rq-mul", 58, 604.3, 159.3},
    {"mod(3, x^n-1)", 20, 3.1, 183.6},    {"Lift", 19, 3.5, 232.8},
    {"+mod(q, x^n-1)", 19, 2.6, 209.4},   {"-mod(q, x^n-1)", 19, 2.7, 209.4}};
inline constexpr int most_threads = 768;  // section 4.3; blocks that decapsulate have 640

struct Times {  // Table 8, in ms, with the improvement over the CPU's rate.
    double encapsulate, decapsulate, encapsulate_improvement, decapsulate_improvement;
};
inline constexpr Times on_cpu{4704.2, 11153.3, 1, 1}, one_kernel{94.4, 87.6, 49.8, 127.3};
inline constexpr double two_kernels = 72.2, two_kernels_improvement = 154.5;  // decapsulation

// Sections 5.1 and 5.3: registers per thread; `decrypt_registers` is decapsulation without its
// hashes. Section 5.3: gain of the second kernel, "about".
inline constexpr int encapsulate_registers = 80, decapsulate_registers = 82, decrypt_registers = 59;
inline constexpr double two_kernels_over_one = 1.2;
// Section 5.1: most resident warps, and blocks on a multiprocessor.
struct Occupancy {
    double percent;
    int blocks;
};
inline constexpr Occupancy encapsulate_occupancy{75, 4}, decapsulate_occupancy{63, 4};

}  // namespace p4

// P5: J. Park, G. Oh, "A Study on Parallel AES Cipher Algorithm based on Multi Processor".
namespace p5 {

inline constexpr const char* cpu = "Core 2 T5500 1.66 GHz, 2 cores, Windows XP";

// table 4: all binaries were the same
inline constexpr const char* kinds[] = {"Text", "MP3", "MP4", "Docx", "Hwp"};

struct Counts {  // Tables 5 to 9 with n = 4; 0 if a table has no such column.
    const char* step;
    const char* formula[3];  // on one, two and four cores
    int count[3];
};
inline constexpr Counts counts[] = {
    {"SubBytes", {"4n^2+2n+1", "2n^2+n+3", "n^2+n/2+3"}, {73, 39, 21}},
    {"ShiftRows", {"16", "13", nullptr}, {16, 13, 0}},
    {"MixColumns", {"23n+1", "10n+n/2+10", "5n+n/4+10"}, {93, 52, 31}}};
inline constexpr int cores[] = {1, 2, 4};

inline constexpr uint64_t file_bytes = 100'000'000;                                  // "100MB"
inline constexpr double serial_seconds = 7.4999, of_it_encrypting_seconds = 4.2343;  // figure 6
inline constexpr double parallel_seconds = 5.0127;  // figure 7; decryption takes the same, 4.3
inline constexpr double saved_percent = 33;         // section 4.3
// The abstract says "about 30 %" and the conclusion "about 21 %".
inline constexpr double saved_percent_of_abstract = 30, saved_percent_of_conclusion = 21;
// Section 2.2: estimates by Amdahl's law for a parallel fraction of 20 %.
inline constexpr double amdahl_fraction = 0.2, amdahl_four_cores = 1.176,
                        amdahl_infinite_cores = 1.25;
inline constexpr int serial_threads = 1, parallel_threads = 2;  // figures 9 and 11

}  // namespace p5

// Multiprocessors or cores of the papers' machines, and their clock. The names are those above.
// Clocks of GPUs are the highest that the maker states. Links lead to copies of its figures.
struct Machine {
    const char* name;
    bool gpu;
    int units;
    double gigahertz;
    const char* source;
};
inline constexpr Machine machines[] = {
    // P1, section 4.1: 12 and 16 multiprocessors. Clocks of the stream processors:
    // https://www.tomshardware.com/reviews/geforce-8800,1357-3.html
    {p1::gts, true, 12, 1.2, "multiprocessors: the paper; clock: NVIDIA's data sheet"},
    {p1::gtx, true, 16, 1.35, "multiprocessors: the paper; clock: NVIDIA's data sheet"},
    // P1, section 4.1: "Core2 quad (2.4GHz)".
    {p1::cpu, false, 1, 2.4, "the paper; that one core ran is our inference"},
    // P2, section 4.1: "RTX 3060 Mobile", without count or clock. 3840 CUDA cores, 128 to a
    // multiprocessor, and up to 1.703 GHz:
    // https://askgeek.io/ru/gpus/NVIDIA/GeForce-RTX-3060-Mobile (3840)
    // https://www.hardwaredb.net/geforce-rtx-3060-laptop-benchmark (1703 MHz)
    {p2::gpu, true, 30, 1.703,
     "NVIDIA's data sheet of the RTX 3060 Laptop GPU, 1.283 to 1.703 GHz by its power limit"},
    // P3, figure 8: "Tesla C2050", without count or clock. 14 multiprocessors, 448 cores at 1147
    // MHz: https://sysrqmts.com/vi/gpus/compare/nvidia-tesla-c2050-vs-nvidia-tesla-m10
    // 448 cores: https://manualmachine.com/nvidia/teslac2070/22485136-specification
    {p3::gpu, true, 14, 1.15, "NVIDIA's board specification"},
    // P4, table 7: "GeForce RTX 2080", 48 multiprocessors, 3072 cores, memory of 14 Gbit/s, without
    // a clock. 48 and 3072 are of the full chip; on the RTX 2080 two multiprocessors are disabled:
    // https://en.gamegpu.com/geforce-rtx-2xx-series/geforce-rtx-2080 (46, 14 Gbit/s, 1.71 GHz)
    {p4::gpu, true, 46, 1.71,
     "NVIDIA's data sheet of the RTX 2080; the paper's table 7 has the full chip's 48"},
    // P4, section 4.1: "Intel Core i7-4790K", without a clock. At most 4.4 GHz:
    // https://computing.co.uk/news/2345213/intel-to-release-its-first-4ghz-microprocessor-in-weeks
    {p4::cpu, false, 1, 4.4,
     "Intel's data sheet, highest clock; that one core ran is our inference"},
    // P5, section 4: "Intel Core2 CPU T5500 1.66GHz".
    {p5::cpu, false, 2, 1.66, "the paper"}};

}  // namespace warpseal::papers::published
