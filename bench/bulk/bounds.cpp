// Upper bounds of a GPU's figures.
#include "bench/bulk/bounds.h"

#include <algorithm>

#include "bench/report/figures.h"
#include "bench/work/work.h"
#include "cli/support/format.h"

namespace warpseal::bench {
namespace {

constexpr double banks = 32;  // shared memory banks; each serves one lookup per clock
// LOP3, PRMT and SHF results per clock and multiprocessor, for compute capability 7.5 to 12.0.
constexpr double logic_lanes = 64;
// A 32 by 32 transposition passes each word through five stages of at least one instruction. A
// 64-bit block needs two transpositions.
constexpr double transposition = 2 * 5 * 32;

double number(const nlohmann::ordered_json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// Returns the bound of the busiest unit in the cipher's representation. `clocks` is the sum over
// all multiprocessors of all GPUs per second.
std::optional<Bound> unit_bound(const CipherWork& work, const std::string& mode, bool serial,
                                double clocks) {
    const bool counts = mode == "ctr" || mode == "gcm" || mode == "ccm";
    if (work.plane_gates != 0 && !serial) {
        const double operations = (work.plane_gates + (counts ? 1 : 2) * transposition) / 32;
        return Bound{
            clocks * logic_lanes / operations * work.block_bytes / 1e9,
            cli::format("{:.1f} gates and transpositions a block, {:g} a clock and multiprocessor",
                        operations, logic_lanes)};
    }
    if (work.lookups != 0) {
        const unsigned text = serial   ? work.lookups
                              : counts ? work.counting_lookups
                                       : work.pair_lookups;
        const unsigned lookups = mode == "ccm" ? work.lookups + work.counting_lookups : text;
        return Bound{
            clocks * banks / lookups * work.block_bytes / 1e9,
            cli::format("{} lookups a block, {:g} a clock and multiprocessor", lookups, banks)};
    }
    if (work.logic == 0) return std::nullopt;
    const unsigned logic = mode == "ccm" ? 2 * work.logic : work.logic;
    return Bound{clocks * logic_lanes / logic * work.block_bytes / 1e9,
                 cli::format("{} XORs and rotations a block, {:g} a clock and multiprocessor",
                             logic, logic_lanes)};
}

}  // namespace

std::optional<Bound> gpu_bound(const nlohmann::ordered_json& head,
                               const nlohmann::ordered_json& row) {
    const std::string mode = row.at("mode"), operation = row.at("operation");
    const CipherWork* work = cipher_work(row.at("cipher"));
    // The head describes the first GPU. A row of several has their number, and they are alike.
    const double gpus = std::max(1.0, number(row, "gpus"));
    const double clocks =
        gpus * number(head, "gpu_multiprocessors") * number(head, "gpu_clock_megahertz") * 1e6;
    const double memory = gpus * number(head, "gpu_memory_bytes_per_second"),
                 link = number(row, "link_gigabytes_per_second");
    std::optional<Bound> bound;
    const auto least = [&](Bound other) {
        if (!bound || other.gigabytes_per_second < bound->gigabytes_per_second)
            bound = std::move(other);
    };
    const bool serial = mode == "ofb" || mode == "ccm" || mode == "cmac" ||
                        ((mode == "cbc" || mode == "cfb") && operation == "encrypt");
    if (work && clocks > 0)
        if (auto unit = unit_bound(*work, mode, serial, clocks)) least(*unit);
    if (memory > 0 && bound) {
        const double passes = mode == "cmac" ? 1 : 2;
        least({memory / passes / 1e9,
               passes == 1 ? "memory, read once" : "memory, read and written once"});
    }
    if (row.at("place") == "host" && link > 0)
        least({link, "plain copies over the link, both ways at once, in the same repetitions"});
    return bound;
}

void add_bound(const nlohmann::ordered_json& head, nlohmann::ordered_json& row) {
    if (row.at("device").get<std::string>().rfind("cuda", 0) != 0) return;
    const std::optional<Bound> bound = gpu_bound(head, row);
    if (!bound) return;
    row["bound"] = bound->binds;
    row["bound_gigabytes_per_second"] = rounded(bound->gigabytes_per_second);
}

}  // namespace warpseal::bench
