// Each GPU shard runs on a thread of its own. The caller's thread runs the last shard, which is the
// CPU's if it has one.
#include "engine/schedule/shards.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "platform/cancellation.h"
namespace warpseal {
namespace {

class Run {
public:
    Run(Engine::Impl& impl, const Route& route, ShardWork& work, Shards& shards)
        : impl_(impl),
          route_(route),
          work_(work),
          shards_(shards),
          shared_(route.shard_plan.shared()) {}

    void all() {
        std::jthread helpers[most_gpus];  // joined also if the caller's own shard throws
        unsigned started = 0;
        if (shards_.count > 1) {
            sigset_t every, before;
            sigfillset(&every);
            pthread_sigmask(SIG_SETMASK, &every, &before);
            try {
                for (; started + 1 < shards_.count; ++started)
                    helpers[started] =
                        std::jthread([this, started] { first(shards_.all[started]); });
            } catch (const std::exception&) {
                // No more threads: the caller's thread runs those shards too.
            }
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
        }
        for (unsigned i = started; i < shards_.count; ++i) first(shards_.all[i]);
        for (unsigned i = 0; i < started; ++i) helpers[i].join();
        for (unsigned i = 0; i < shards_.count; ++i)
            if (shards_.all[i].done < shards_.all[i].end) finish(shards_.all[i]);
    }

private:
    // Runs the shard where the plan put it.
    void first(Shard& shard) {
        if (!route_.measured) return (void)ran(shard);
        const auto begin = std::chrono::steady_clock::now();
        if (!ran(shard)) return;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        impl_.throughput.note(route_.call_class, shard.gpu, shared_, shard.bytes, took.count());
    }

    // Returns false if a GPU left part of the shard.
    bool ran(Shard& shard) {
        if (shard.gpu != Throughput::cores) return on_gpu(shard.gpu, shard);
        work_.on_cores(shard);
        return true;
    }

    bool on_gpu(int number, Shard& shard) {
        Gpu& gpu = impl_.gpus[static_cast<size_t>(number)];
        if (!gpu.is_open()) return false;  // another GPU's failure may have lost this one too
        warpseal_status status = WARPSEAL_OUT_OF_MEMORY;
        try {
            status = work_.on_gpu(gpu, shard);
        } catch (const std::bad_alloc&) {
            // `status` already says so.
        }
        if (status == WARPSEAL_OK) return true;
        failed_ |= 1u << number;
        gpu.failed(status);
        return false;
    }

    void finish(Shard& shard) {
        for (unsigned i = 0; i < shards_.count; ++i) {
            const int number = shards_.all[i].gpu;
            if (number == Throughput::cores || (failed_ >> number & 1) != 0) continue;
            if (on_gpu(number, shard)) return;
        }
        work_.on_cores(shard);
    }

    Engine::Impl& impl_;
    const Route& route_;
    ShardWork& work_;
    Shards& shards_;
    const bool shared_;
    std::atomic<uint32_t> failed_{0};
};

}  // namespace

Shards shards_of(const Route& route, uint64_t bytes, uint64_t unit_bytes) {
    Shards shards;
    uint64_t begin = 0, planned = 0;
    const auto add = [&](int gpu, uint64_t shard_bytes) {
        planned += shard_bytes;
        const uint64_t end = planned >= bytes ? bytes : planned / unit_bytes * unit_bytes;
        if (shard_bytes == 0 || end <= begin) return;
        shards.all[shards.count] = {begin, end, begin, end - begin, gpu, shards.count};
        ++shards.count;
        begin = end;
    };
    for (unsigned i = 0; route.gpu && i < most_gpus; ++i)
        add(static_cast<int>(i), route.shard_plan.gpu_bytes[i]);
    add(Throughput::cores, route.shard_plan.core_bytes);
    if (shards.count == 0) shards.all[shards.count++] = {0, bytes, 0, bytes, Throughput::cores, 0};
    shards.all[shards.count - 1].bytes += bytes - begin;
    shards.all[shards.count - 1].end = bytes;
    return shards;
}

void run_shards(Engine::Impl& impl, const Route& route, ShardWork& work, Shards& shards) {
    // On the caller's thread alone nothing blocks, so there is no cancellation point.
    const bool blocks =
        shards.count != 1 || shards.all[0].gpu != Throughput::cores || route.plan.threads != 1;
    if (!blocks && !route.measured) return work.on_cores(shards.all[0]);
    const CancellationDisabled disabled;
    Run(impl, route, work, shards).all();
}

}  // namespace warpseal
