#include "watched.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace lost_gpu {
namespace {

constexpr size_t chunk_bytes = 16384;  // of text
std::atomic<Watch*> given_watch{nullptr};

Watch& mapped(const char* path) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    void* const memory = mmap(nullptr, sizeof(Watch), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || memory == MAP_FAILED) {
        std::perror(path);
        std::_Exit(cannot_test);
    }
    (void)close(file);
    return *static_cast<Watch*>(memory);
}

Watch& watch() {
    if (Watch* const given = given_watch) return *given;
    static Watch unwatched;
    const char* const path = std::getenv("WARPSEAL_TEST_LOST_GPU");
    static Watch& found = path == nullptr ? unwatched : mapped(path);
    return found;
}

// Self-tests have messages of other lengths.
bool is_of_a_file(warpseal_mode mode, const warpseal_batch& batch) {
    return mode == WARPSEAL_GCM && batch.message_bytes == chunk_bytes && batch.keys == nullptr;
}

void lose_if_due(Watch& watched, int device, uint64_t first, uint64_t count) {
    const uint64_t at = watched.lose_at;
    if (at == never) return;
    static std::once_flag prepared;
    std::call_once(prepared, prepare_loss, device);
    if (first <= at && at < first + count) lose(device, watched.later);
}

warpseal_status batch_host(int device, const warpseal::CudaCipher& cipher, const void* state,
                           warpseal_mode mode, warpseal::Direction direction,
                           const warpseal_batch& batch, uint64_t* done, uint64_t* not_authentic) {
    const auto run = [&] {
        return backend_to_lose()->batch_host(device, cipher, state, mode, direction, batch, done,
                                             not_authentic);
    };
    if (!is_of_a_file(mode, batch)) return run();
    Watch& watched = watch();
    const uint64_t count = batch.message_count;
    lose_if_due(watched, device, watched.given.fetch_add(count), count);
    const warpseal_status status = run();
    if (status == WARPSEAL_OK || status == WARPSEAL_NOT_AUTHENTIC) {
        watched.done += count;
        return status;
    }
    watched.done += *done;
    ++watched.cut_calls;
    const auto is_forged = [](int32_t one) { return one == WARPSEAL_NOT_AUTHENTIC; };
    if (std::any_of(batch.statuses, batch.statuses + *done, is_forged)) ++watched.cut_after_forgery;
    if (static_cast<Flaw>(watched.flaw.load()) != Flaw::a_cut_call_succeeds) return status;
    std::fill(batch.statuses + *done, batch.statuses + count, int32_t{WARPSEAL_OK});
    *done = count;
    return WARPSEAL_OK;
}

bool lost() {
    const bool is_lost = backend_to_lose()->lost();
    if (is_lost) watch().lost = 1;
    return is_lost;
}

const warpseal::GpuBackend* watched_backend() {
    static const warpseal::GpuBackend* const backend = [] {
        static warpseal::GpuBackend made = *backend_to_lose();
        made.batch_host = batch_host;
        made.lost = lost;
        return &made;
    }();
    return backend;
}

}  // namespace

void watch_in(Watch& watched) { given_watch = &watched; }

}  // namespace lost_gpu

// The linker's --wrap substitutes it for warpseal::gpu_backend().
extern "C" const warpseal::GpuBackend* __wrap__ZN8warpseal11gpu_backendEv() {
    return lost_gpu::watched_backend();
}
