#include "handles.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "injection.h"
#include "works.h"

namespace works {

const char* device = "cpu";
const char* failed_function = nullptr;
std::atomic<const char*> current_function{nullptr};

namespace {

constexpr uint8_t pattern = 0xa5;

bool is_one_of(const char* function, std::initializer_list<const char*> functions) {
    return std::any_of(functions.begin(), functions.end(),
                       [&](const char* one) { return std::strcmp(one, function) == 0; });
}

// The statuses that the headers allow for the injected faults.
bool documented(const char* function, warpseal_status status) {
    switch (status) {
        case WARPSEAL_OUT_OF_MEMORY: return true;
        case WARPSEAL_NO_RANDOM:
            return is_one_of(
                function,
                {"warpseal_random", "warpseal_seal", "warpseal_seal_batch",
                 "warpseal_seal_batch_device", "warpseal_file_seal", "warpseal_file_seal_device",
                 "warpseal_file_slots_change", "warpseal_kem_keypair", "warpseal_kem_encapsulate",
                 "warpseal_kem_key_encapsulate", "warpseal_kem_pool_create",
                 "warpseal_kem_pool_fill", "warpseal_kem_pool_acquire", "warpseal_kem_batcher_run",
                 "warpseal_kem_batcher_submit", "warpseal_drbg_create", "warpseal_drbg_reseed",
                 "warpseal_drbg_fill", "warpseal_cobblestone_create_seal"});
        // A batcher that gets no thread.
        case WARPSEAL_LIMIT_EXCEEDED: return is_one_of(function, {"warpseal_kem_batcher_submit"});
        case WARPSEAL_NO_DEVICE: return std::strcmp(device, "cpu") != 0;
        // Handles of keys that a lost GPU had.
        case WARPSEAL_INVALID_ARGUMENT:
            return std::strcmp(device, "cpu") != 0 &&
                   is_one_of(function, {"warpseal_kem_pool_decapsulate"});
        default: return false;
    }
}

}  // namespace

void complain(const char* function, const char* what) {
    std::fprintf(stderr, "%s: %s\n", function, what);
    _exit(wrong);
}

void entering(const char* function) {
    // Threads of the batcher make requests between calls. These belong to the call before.
    if (failed_function == nullptr && injection::happened()) failed_function = current_function;
    current_function = function;
}

void left(const char* function, warpseal_status status) {
    const bool happened = injection::happened();
    if (happened && failed_function == nullptr) failed_function = function;
    if (status == WARPSEAL_OK) return;
    if (!happened) complain(function, "fails without an injected fault");
    if (documented(function, status)) return;
    std::fprintf(stderr, "%s: status %d\n", function, static_cast<int>(status));
    complain(function, "a status that the headers do not give for this fault");
}

void fill(std::initializer_list<Output> outputs) {
    for (const Output& output : outputs) std::memset(output.memory, pattern, output.bytes);
}

void must_not_be_written(const char* function, std::initializer_list<Output> outputs) {
    for (const Output& output : outputs) {
        const auto* const begin = static_cast<const uint8_t*>(output.memory);
        const uint8_t first = output.bytes == 0 ? 0 : *begin;
        const bool same = std::all_of(begin, begin + output.bytes,
                                      [first](uint8_t byte) { return byte == first; });
        if (!same || (first != 0 && first != pattern))
            complain(function, "an output is written in part after a failure");
    }
}

}  // namespace works
