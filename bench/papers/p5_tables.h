// P5's tables, and how each measurement here differs from the paper's.
#pragma once

#include "bench/papers/published.h"
#include "bench/papers/row.h"

namespace warpseal::papers::p5 {

namespace paper = published::p5;

inline constexpr Table kinds_table{
    "P5", "table 4", "bytes that differ from serial AES, by kind of file", paper::cpu,
    "AES-128-ECB with PKCS#7, of which the paper says nothing; the method is the listings with "
    "OpenMP and threads of ours inside one state (part of the file, for their slowness), tiles of "
    "states, and threads over blocks; the default is the product's public call on all cores"};
inline constexpr Table counts_table{
    "P5", "tables 5 to 9", "operations of the busiest core for one state, T(4)", "by its formulas",
    "counted as the listings run; a column of MixColumns counts 20 here and in the paper's "
    "parallel form, 22 in its serial one"};
inline constexpr Table printed_table{
    "P5", "tables 1 to 3, as printed", "blocks that are wrong by the printed listings, two threads",
    paper::cpu,
    "the paper finds all outputs right (its table 4); its ShiftRows and MixColumns share "
    "temporaries between threads, which is a data race; its text counts them as created for each "
    "thread; no compiler accepts the clauses on its `omp for`, so they are on `omp parallel` here; "
    "an optimizing compiler keeps the temporaries in registers and hides the race; how often a "
    "block is wrong depends on chance and on the load of the machine"};
inline constexpr Table time_table{
    "P5", "figures 6 and 7", "a text file of 100 MB, from file to file", paper::cpu,
    "the paper claims 33 % in section 4.3, about 30 % in its abstract and 21 % in its conclusion; "
    "its own seconds give 33 %; below zero, two threads take longer; files in memory "
    "(--directory); the method of two threads is the "
    "listings with OpenMP, each thread with temporaries of its own, measured on some blocks and "
    "extrapolated where the row says so, plus the serial row's reading and writing; the inverse "
    "listings are ours; the default seals and opens the file by the product's file call, "
    "with AES-128-GCM instead of ECB, on as many threads as the row"};
inline constexpr Table variants_table{
    "P5", "figures 6 and 7, variants",
    "the same file by the printed listings, and on other threads", paper::cpu,
    "the printed listings have the paper's shared temporaries and wrong blocks; the published "
    "figures are those of section 4.3's two threads, of the abstract and of the conclusion; the "
    "default is the product's file call"};
inline constexpr Table tiles_table{
    "P5", "section 4.3, tiles of states", "our variant: gain of the layout apart from the threads'",
    paper::cpu,
    "the paper has no tiles; threads share rows and columns of 16384 states at once, AddRoundKey "
    "too, by threads of ours; layout is the tile on one thread over one state at a time; "
    "threads are the tile on two threads over the tile on one"};
inline constexpr Table forks_table{
    "P5", "section 4.3, fork and join", "what dividing one state costs", paper::cpu,
    "the paper names the cost and gives no figure; by OpenMP as in the paper, and by threads of "
    "ours that wait by looking; 100 MB is extrapolated from the blocks that ran"};
inline constexpr Table cores_table{
    "P5", "speed-up",
    "by threads: the listings with OpenMP over the serial way, the default over "
    "one thread of its own",
    paper::cpu,
    "in memory; the published figure divides the paper's seconds of figures 6 and 7, which include "
    "reading and writing; four is all that a state's rows and columns divide into"};
inline constexpr Table amdahl_table{
    "P5", "section 2.2, Amdahl's law", "speed-up of a program of which a fraction is parallel",
    "by formula",
    "the paper's two estimates are for a fraction of 20 % that it does not derive from AES, and "
    "name four and infinitely many cores; the fraction here is of AES on one thread: the time of "
    "SubBytes, ShiftRows and MixColumns; the law has no cost of a fork"};
inline constexpr Table profile_table{
    "P5", "figures 8 to 11", "how busy threads are", paper::cpu,
    "the figures are drawings, of which only the number of threads is a number; at work: within "
    "its share of a step by the clock, whose reading counts; on a core: by the kernel's account, "
    "waiting by looking included"};

}  // namespace warpseal::papers::p5
