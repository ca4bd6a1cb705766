// Runs fuzz targets without libFuzzer: the seeds of a target, the files of its corpus, and random
// mutations of both. A crash or a failed claim writes the input to a file first.
#include <fcntl.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "support/random.h"
#include "target.h"

namespace {

using fuzz::Data;
using fuzz::Target;

Data current;
char crash_file[256];

// Saves the input; the default action then ends the program.
void save(int signal) {
    const int file = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0 && write(file, current.data(), current.size()) >= 0) {
        static constexpr char text[] = "CRASH: the input is in ";
        (void)!write(2, text, sizeof text - 1);
        (void)!write(2, crash_file, std::strlen(crash_file));
        (void)!write(2, "\n", 1);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void run(const Target& target, Data input) {
    current = std::move(input);
    target.run(current.data(), current.size());
}

Data mutated(const std::vector<Data>& pool, tests::Random& random) {
    Data out = pool[random.below(pool.size())];
    for (size_t changes = 1 + random.length(8); changes != 0; --changes) {
        const size_t at = out.empty() ? 0 : random.below(out.size());
        const auto here = out.begin() + static_cast<ptrdiff_t>(at);
        switch (random.below(7)) {
            case 0:
                if (!out.empty()) *here ^= static_cast<uint8_t>(1 << random.below(8));
                break;
            case 1:
                if (!out.empty()) *here = static_cast<uint8_t>(random.next());
                break;
            case 2: {
                const Data more = random.text(1 + random.length(20));
                out.insert(here, more.begin(), more.end());
                break;
            }
            case 3:
                out.erase(here, here + static_cast<ptrdiff_t>(
                                           std::min(out.size() - at, random.length(40))));
                break;
            case 4: out.resize(at); break;
            case 5: {  // a part of another input
                const Data& other = pool[random.below(pool.size())];
                if (other.empty()) break;
                const size_t from = random.below(other.size()),
                             n = std::min(other.size() - from, 1 + random.length(200));
                out.insert(here, other.begin() + static_cast<ptrdiff_t>(from),
                           other.begin() + static_cast<ptrdiff_t>(from + n));
                break;
            }
            default: {
                static constexpr uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
                for (size_t i = at; i < std::min(out.size(), at + 8); ++i)
                    out[i] = values[random.below(5)];
            }
        }
    }
    if (out.size() > 200'000) out.resize(200'000);
    return out;
}

std::vector<Data> corpus(const Target& target) {
    std::vector<Data> pool;
    if (target.seeds != nullptr) pool = target.seeds();
    const std::filesystem::path folder =
        std::filesystem::path(WARPSEAL_SOURCE) / "tests/fuzz/corpus" / target.name;
    if (std::filesystem::is_directory(folder))
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            std::ifstream in(entry.path(), std::ios::binary);
            pool.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        }
    return pool;
}

int replay(const Target& target, double seconds, uint64_t runs, uint64_t seed) {
    std::snprintf(crash_file, sizeof crash_file, "crash-%s", target.name);
    const std::vector<Data> pool = corpus(target);
    if (pool.empty()) {
        std::printf("%s: FAILED: no seed\n", target.name);
        return 1;
    }
    for (const Data& one : pool) run(target, one);
    tests::Random random(seed);
    const auto start = std::chrono::steady_clock::now();
    uint64_t done = 0;
    for (; done < runs; ++done) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (passed.count() >= seconds) break;
        run(target, mutated(pool, random));
    }
    std::printf("%s: seed %llu, %zu seeds, %llu mutations\n", target.name,
                static_cast<unsigned long long>(seed), pool.size(),
                static_cast<unsigned long long>(done));
    std::fflush(stdout);
    return done == 0 && runs != 0 ? 1 : 0;
}

int usage(const char* program) {
    std::fprintf(stderr,
                 "usage: %s TARGET|all [--seconds S] [--runs N] [--seed N] [--input FILE] "
                 "[--write-seeds FOLDER]\ntargets:",
                 program);
    for (const Target& target : fuzz::all_targets()) std::fprintf(stderr, " %s", target.name);
    std::fprintf(stderr, "\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    double seconds = 10;
    uint64_t runs = UINT64_MAX, seed = std::random_device()();
    std::string input, folder;
    if (argc < 2 || argc % 2 != 0) return usage(argv[0]);
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        if (name == "--seconds")
            seconds = std::strtod(argv[i + 1], nullptr);
        else if (name == "--runs")
            runs = std::strtoull(argv[i + 1], nullptr, 10);
        else if (name == "--seed")
            seed = std::strtoull(argv[i + 1], nullptr, 10);
        else if (name == "--input")
            input = argv[i + 1];
        else if (name == "--write-seeds")
            folder = argv[i + 1];
        else
            return usage(argv[0]);
    }
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, save);
    bool found = false;
    int result = 0;
    for (const Target& target : fuzz::all_targets()) {
        if (argv[1] != std::string_view("all") && argv[1] != std::string_view(target.name))
            continue;
        found = true;
        size_t number = 0;
        if (!folder.empty()) {
            for (const Data& one : corpus(target))
                std::ofstream(folder + "/seed-" + std::to_string(number++), std::ios::binary)
                    .write(reinterpret_cast<const char*>(one.data()),
                           static_cast<std::streamsize>(one.size()));
        } else if (!input.empty()) {
            std::ifstream in(input, std::ios::binary);
            run(target, Data(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()));
        } else {
            result |= replay(target, seconds, runs, seed);
        }
    }
    return found ? result : usage(argv[0]);
}
