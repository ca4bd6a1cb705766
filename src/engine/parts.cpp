// Parts: see parts.h. Each GPU is driven by a thread of its own; the caller's thread has the last
// part, which is the cores' if they have one.
#include "engine/parts.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "engine/cancellation.h"
namespace warpseal {
namespace {

class Run {
public:
    Run(Engine::Inside& inside, const Route& route, PartWork& work, Parts& parts)
        : inside_(inside),
          route_(route),
          work_(work),
          parts_(parts),
          shared_(route.shares.shared()) {}

    void all() {
        std::jthread helpers[most_gpus];  // joined also when the caller's own part throws
        unsigned started = 0;
        if (parts_.count > 1) {
            sigset_t every, before;
            sigfillset(&every);
            pthread_sigmask(SIG_SETMASK, &every, &before);
            try {
                for (; started + 1 < parts_.count; ++started)
                    helpers[started] =
                        std::jthread([this, started] { first(parts_.all[started]); });
            } catch (const std::exception&) {
                // No more threads: the caller's has those parts too.
            }
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
        }
        for (unsigned i = started; i < parts_.count; ++i) first(parts_.all[i]);
        for (unsigned i = 0; i < started; ++i) helpers[i].join();
        for (unsigned i = 0; i < parts_.count; ++i)
            if (parts_.all[i].done < parts_.all[i].end) finish(parts_.all[i]);
    }

private:
    // Whoever the plan gives it to.
    void first(Part& part) {
        const auto begin = std::chrono::steady_clock::now();
        if (part.gpu == Rates::cores)
            work_.on_cores(part);
        else if (!on_gpu(part.gpu, part))
            return;
        if (!route_.rated) return;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        inside_.rates.note(route_.pace, part.gpu, shared_, part.bytes, took.count());
    }

    bool on_gpu(int number, Part& part) {
        Gpu& gpu = inside_.gpus[static_cast<size_t>(number)];
        if (!gpu.is_open()) return false;  // another one's failure may have taken it along
        warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
        try {
            status = work_.on_gpu(gpu, part);
        } catch (const std::bad_alloc&) {
            // As the status says.
        }
        if (status == WARPSEAL_OK) return true;
        failed_ |= 1u << number;
        gpu.failed(status);
        return false;
    }

    void finish(Part& part) {
        for (unsigned i = 0; i < parts_.count; ++i) {
            const int number = parts_.all[i].gpu;
            if (number == Rates::cores || (failed_ >> number & 1) != 0) continue;
            if (on_gpu(number, part)) return;
        }
        work_.on_cores(part);
    }

    Engine::Inside& inside_;
    const Route& route_;
    PartWork& work_;
    Parts& parts_;
    const bool shared_;
    std::atomic<uint32_t> failed_{0};
};

}  // namespace

Parts parts_of(const Route& route, uint64_t bytes, uint64_t unit_bytes) {
    Parts parts;
    uint64_t begin = 0, planned = 0;
    const auto add = [&](int gpu, uint64_t share) {
        planned += share;
        const uint64_t end = planned >= bytes ? bytes : planned / unit_bytes * unit_bytes;
        if (share == 0 || end <= begin) return;
        parts.all[parts.count] = {begin, end, begin, end - begin, gpu, parts.count};
        ++parts.count;
        begin = end;
    };
    for (unsigned i = 0; route.gpu && i < most_gpus; ++i)
        add(static_cast<int>(i), route.shares.gpu_bytes[i]);
    add(Rates::cores, route.shares.core_bytes);
    if (parts.count == 0) parts.all[parts.count++] = {0, bytes, 0, bytes, Rates::cores, 0};
    parts.all[parts.count - 1].bytes += bytes - begin;
    parts.all[parts.count - 1].end = bytes;
    return parts;
}

void run_parts(Engine::Inside& inside, const Route& route, PartWork& work, Parts& parts) {
    const CancellationDisabled disabled;
    Run(inside, route, work, parts).all();
}

}  // namespace warpseal
