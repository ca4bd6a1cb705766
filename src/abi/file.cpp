// Files of the C interface: struct sizes and nulls are checked here, everything else by the container.
#include "container/file.h"
#include "abi/handles.h"

#include <cstdio>

namespace warpseal::abi {
namespace {

// Zeroes what the caller gave and keeps its size.
template <class Struct>
void clear(Struct& given) {
    const uint32_t bytes = given.struct_bytes;
    given = {};
    given.struct_bytes = bytes;
}

bool well_formed(const warpseal_file_options* options) {
    if (!sized(options) || (options->secrets == nullptr && options->secret_count != 0)) return false;
    if (options->context == nullptr && options->context_bytes != 0) return false;
    for (size_t i = 0; i < options->secret_count; ++i)
        if (options->secrets[i].bytes == nullptr && options->secrets[i].byte_count != 0) return false;
    return true;
}

// Runs work(); what went wrong always leaves a message behind.
template <class Work>
warpseal_status reported(warpseal_file_result& result, Work work) {
    clear(result);
    result.target = "";
    const warpseal_status status = guarded(work);
    if (result.target == nullptr) result.target = "";
    if (status != WARPSEAL_OK && result.message[0] == 0)
        std::snprintf(result.message, sizeof result.message, "%s", warpseal_status_text(status));
    return status;
}

}  // namespace
}  // namespace warpseal::abi

using namespace warpseal;

extern "C" {

warpseal_status warpseal_file_seal(warpseal_engine* engine, int in_fd, int out_fd, const warpseal_file_options* options,
                                   warpseal_file_result* result) {
    if (engine == nullptr || in_fd < 0 || out_fd < 0 || !abi::well_formed(options) || !abi::sized(result)) return WARPSEAL_INVALID_ARGUMENT;
    return abi::reported(*result, [&] { return container::seal(*engine->engine, in_fd, out_fd, *options, *result); });
}

warpseal_status warpseal_file_open(warpseal_engine* engine, int in_fd, int out_fd, const warpseal_file_options* options,
                                   warpseal_file_result* result) {
    if (engine == nullptr || in_fd < 0 || out_fd < -1 || !abi::well_formed(options) || !abi::sized(result))
        return WARPSEAL_INVALID_ARGUMENT;
    return abi::reported(*result, [&] { return container::open(*engine->engine, in_fd, out_fd, *options, *result); });
}

warpseal_status warpseal_file_info_read(int in_fd, warpseal_file_info* info, warpseal_file_result* result) {
    if (in_fd < 0 || !abi::sized(info) || !abi::sized(result)) return WARPSEAL_INVALID_ARGUMENT;
    abi::clear(*info);
    return abi::reported(*result, [&] { return container::info(in_fd, *info, *result); });
}

}  // extern "C"
