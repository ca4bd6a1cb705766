// Many handshakes: steps shared by all kinds of loops, and sums of their results.
#include "bench/tls/load.h"

#include <openssl/err.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>

#include "examples/tls_exchange/openssl.h"

namespace warpseal::tls {
namespace {

double cpu_seconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string reason_of(SSL* end, int error) {
    const long verified = SSL_get_verify_result(end);
    if (verified != X509_V_OK)
        return std::string("certificate: ") + X509_verify_cert_error_string(verified);
    return error == SSL_ERROR_SYSCALL && ERR_peek_error() == 0 ? "the connection ended"
                                                               : openssl_error();
}

}  // namespace

void Tally::fail(const std::string& why) {
    if (failed++ == 0) first_failure = why;
}

void Tally::add(Tally&& other) {
    if (failed == 0) first_failure = other.first_failure;
    done += other.done;
    failed += other.failed;
    milliseconds.insert(milliseconds.end(), other.milliseconds.begin(), other.milliseconds.end());
    server_seconds += other.server_seconds;
    thread_seconds += other.thread_seconds;
}

double Measured::percentile(double part) const {
    if (tally.milliseconds.empty()) return 0;
    const long at = std::lround(part * static_cast<double>(tally.milliseconds.size() - 1));
    return static_cast<double>(tally.milliseconds[static_cast<size_t>(at)]);
}

Step step(SSL* end, Tally& tally, bool server) {
    ERR_clear_error();
    const double before = server ? cpu_seconds(CLOCK_THREAD_CPUTIME_ID) : 0;
    const int result = SSL_do_handshake(end);
    if (server) tally.server_seconds += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
    if (result == 1) return Step::done;
    switch (const int error = SSL_get_error(end, result)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE: return Step::blocked;
        case SSL_ERROR_WANT_ASYNC: return Step::paused;
        default:
            tally.fail((server ? "server: " : "client: ") + reason_of(end, error));
            return Step::failed;
    }
}

Measured run_loops(const std::vector<std::function<Tally()>>& loops) {
    Measured all;
    all.loops = loops.size();
    std::vector<Tally> tallies(loops.size());
    std::vector<std::exception_ptr> broken(loops.size());
    const double process = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID),
                 mine = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        for (size_t i = 0; i < loops.size(); ++i)
            threads.emplace_back([&, i] {
                try {
                    tallies[i] = loops[i]();
                } catch (...) {
                    broken[i] = std::current_exception();
                }
                tallies[i].thread_seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
            });
    }
    all.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const std::exception_ptr& why : broken)
        if (why) std::rethrow_exception(why);
    for (Tally& tally : tallies) all.tally.add(std::move(tally));
    const double others = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - mine + all.tally.thread_seconds;
    all.engine_seconds = std::max(0.0, cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - process - others);
    std::sort(all.tally.milliseconds.begin(), all.tally.milliseconds.end());
    return all;
}

uint64_t share_of(uint64_t all, unsigned index, unsigned count) {
    return all * (index + 1) / count - all * index / count;
}

uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    uint64_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace warpseal::tls
