// P4's tables, and how each measurement here differs from the paper's.
#pragma once

#include "bench/papers/published.h"
#include "bench/papers/row.h"

namespace warpseal::papers::p4 {

namespace paper = published::p4;

inline constexpr Table parts_table{
    "P4", "table 5", "where a core's time goes, 10,000 operations of ntruhps4096821", paper::cpu,
    "that the paper measures one core and C is our inference from \"the optimized version\"; the "
    "method is the ladder's code in C++ on one core, vectorized by the compiler, with a factor of "
    "each product reversed and doubled; its random bytes are hashed counters instead of AES's; "
    "its S3 frombytes reduces modulo 3, which the paper has under mod(3, x^n-1); times are scaled "
    "from as many operations as run in the time allowed; our default is one core's call of 32 "
    "operations, coins included, where the paper has single ones"};
inline constexpr Table shares_table{
    "P4", "table 5, shares", "shares of an operation's time on a core", paper::cpu,
    "the paper's product takes 96.1 % of a decapsulation by its own times, not 95.5, and its "
    "hashes "
    "1.7 %, not 2.0; each part here is timed alone, and the rest is what remains of the whole, "
    "below zero if parts ran slower alone"};
inline constexpr Table estimates_table{
    "P4", "sections 4.1 and 4.3, estimates", "speed-up of an operation by Amdahl's law",
    paper::both,
    "the law with shares of table 5, measured here, and speed-ups of 150 for the product (section "
    "4.1) or of table 6 (section 4.3), measured here; by the paper's own tables the law gives 3.9 "
    "and 21.8 for the product, 8.8 and 27.6 for all parts, as the paper leaves out the time "
    "that no part has and rounds the share of the product in decapsulation to 95 %; it knows that "
    "a kernel falls short of the estimate"};
inline constexpr Table sizes_table{
    "P4", "tables 2 and 3, sizes", "keys and ciphertexts of KEMs by category of security",
    "by its table 2",
    "the paper has category 5 alone; the method is the size in the scheme's specification, and the "
    "default the product's own; sets stand in the order of categories 5, 3 and 1, of which the "
    "paper's table 3 gives NTRU's: 509 is 1, 677 and 701 are 3, 821 is 5"};
inline constexpr Table components_table{
    "P4", "table 6", "parts of an operation in one block of threads, 10,000 of each", paper::gpu,
    "in the block's shared memory; random bytes are a hashed counter each instead of a call of "
    "cuRAND; a coefficient of a product is summed up in a register, where the paper's listing "
    "adds to memory; registers are those of the kernels compiled without a limit; the best number "
    "of threads counts; times are scaled from as many as run in the time allowed; the last part "
    "is ours"};
inline constexpr Table threads_table{
    "P4", "figures 8 to 10", "speed-up of parts by threads in the block", paper::gpu,
    "the figures are drawings without numbers, of random bytes, Rq-mul and sample-iid"};
inline constexpr Table registers_table{
    "P4", "sections 5.1 and 5.3", "registers of a thread", paper::gpu,
    "read from the kernels as compiled for this GPU, without a limit of registers; the last two "
    "rows are the same kernels compiled for blocks of up to 768 threads, which leaves 80 "
    "registers to each"};
inline constexpr Table occupancy_table{
    "P4", "section 5.1, occupancy", "resident warps and blocks of threads on a multiprocessor",
    paper::gpu,
    "with 192 threads that encapsulate and 160 that decapsulate, our inference from the paper's "
    "75 and 63 % with 4 blocks on a multiprocessor of 1024 threads; computed by the driver from "
    "the kernels as compiled for this GPU, whose multiprocessors hold twice as many threads"};
inline constexpr Table copies_table{
    "P4", "section 5.2", "latency of global memory hidden by copying with all threads", paper::gpu,
    "no figures are published; without it each thread copies a run of adjacent bytes, which the "
    "paper compares, or one thread copies everything"};
inline constexpr Table whole_table{
    "P4", "table 8", "10,000 operations of ntruhps4096821", paper::gpu,
    "within the GPU's memory, copies to and from the host not counted (the paper does not say); "
    "the method draws coins by hashed counters, our default by AES-256-CTR; a seventh of the "
    "ciphertexts is invalid"};
inline constexpr Table improvement_table{
    "P4", "table 8, improvement", "the GPU over one core", paper::both,
    "both of this machine: the method over its code on one core, whose products have a doubled "
    "factor; our default over our default on one core"};
inline constexpr Table kernels_table{
    "P4", "section 5.3", "decapsulation with its hashes in a kernel of their own over one kernel",
    paper::gpu, "the rate of two kernels over that of one, both of this GPU"};
inline constexpr Table variants_table{
    "P4", "section 5.3, variants", "beyond the paper: its kernels changed in one respect each",
    paper::gpu,
    "no figures are published; lane-hash is what the paper expects a gain from and leaves open: "
    "SHA3-256 of one operation by the lanes of a warp; doubled is ours: a factor reversed and "
    "doubled in place of indexes modulo n; rates are over the paper's kernel of the same row"};
inline constexpr Table block_table{
    "P4", "section 4.3", "whole operations by threads in the block", paper::gpu,
    "a study of ours; the paper says only that blocks may have 768 threads to encapsulate and 640 "
    "to decapsulate"};
inline constexpr Table clients_table{
    "P4", "figures 12 and 13", "improvement over one core by number of clients", paper::both,
    "the figures are drawings without numbers; both of this machine: the method over its code on "
    "one core, whose products have a doubled factor; our default over our default on one core; "
    "within the GPU's memory; "
    "decapsulation by the method takes two kernels"};
inline constexpr Table client_times_table{
    "P4", "figures 12 and 13, times", "milliseconds by number of clients", paper::gpu,
    "the paper has no such times; within the GPU's memory; key pairs are made on the CPU in the "
    "paper"};

inline constexpr Table clients_at_once_table{
    "P4", "section 5.4", "clients at once: time until the last one has its answer", paper::gpu,
    "the paper's figure is its kernels' time, without a queue or copies; here 16 threads submit "
    "single requests to the product's batcher, from and to host memory; a new batcher was created "
    "just before, without that time; a warm one has the median of three bursts; engines are warm "
    "in both; the clients' own work is not counted, and every secret is compared; without a GPU "
    "auto is the cores"};

}  // namespace warpseal::papers::p4
