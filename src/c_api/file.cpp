// File functions of the C API. Struct sizes and null pointers are checked here, everything else by
// the container.
#include "container/file.h"
#include "c_api/handles.h"

#include <cstdio>

namespace warpseal::c_api {
namespace {

// Zeroes the struct except for its size.
template <class Struct>
void clear(Struct& given) {
    const uint32_t bytes = given.struct_bytes;
    given = {};
    given.struct_bytes = bytes;
}

// Zeroes what a rescue sets.
void clear_results(warpseal_rescue& rescue) {
    rescue.hole_count = rescue.hole_bytes = rescue.bytes_after_end = 0;
    rescue.finished = rescue.end_found = 0;
}

// Returns a description of what is wrong with the arguments, or "".
const char* wrong_in(const warpseal_file_options* options) {
    if (!sized(options)) return "there are no options, or their struct_bytes is too small";
    if (options->secrets == nullptr && options->secret_count != 0) return "secrets is null";
    if (options->context == nullptr && options->context_bytes != 0) return "context is null";
    for (size_t i = 0; i < options->secret_count; ++i)
        if (options->secrets[i].bytes == nullptr && options->secrets[i].byte_count != 0)
            return "a secret's bytes are null";
    return "";
}

const char* wrong_in(const warpseal_engine* engine, int in_fd, int out_fd, int least_out,
                     const warpseal_file_options* options) {
    if (engine == nullptr) return "the engine is null";
    if (in_fd < 0) return "the input is no descriptor";
    if (out_fd < least_out) return "the output is no descriptor";
    return wrong_in(options);
}

// Runs work() unless `wrong` is not empty. Every failure leaves a message in the result.
template <class Work>
warpseal_status reported(warpseal_file_result& result, const char* wrong, Work work) {
    clear(result);
    result.target = "";
    if (*wrong != 0) std::snprintf(result.message, sizeof result.message, "%s", wrong);
    const warpseal_status status = *wrong != 0 ? WARPSEAL_INVALID_ARGUMENT : guarded_waiting(work);
    if (result.target == nullptr) result.target = "";
    if (status != WARPSEAL_OK && result.message[0] == 0)
        std::snprintf(result.message, sizeof result.message, "%s", warpseal_status_text(status));
    return status;
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_file_seal(warpseal_engine* engine, int in_fd, int out_fd,
                                   const warpseal_file_options* options,
                                   warpseal_file_result* result) {
    if (!c_api::sized(result)) return WARPSEAL_INVALID_ARGUMENT;
    return c_api::reported(*result, c_api::wrong_in(engine, in_fd, out_fd, 0, options), [&] {
        return container::seal(*engine->engine, in_fd, out_fd, *options, *result);
    });
}

warpseal_status warpseal_file_open(warpseal_engine* engine, int in_fd, int out_fd,
                                   const warpseal_file_options* options,
                                   warpseal_file_result* result) {
    if (!c_api::sized(result)) return WARPSEAL_INVALID_ARGUMENT;
    return c_api::reported(*result, c_api::wrong_in(engine, in_fd, out_fd, -1, options), [&] {
        return container::open(*engine->engine, in_fd, out_fd, *options, *result);
    });
}

warpseal_status warpseal_file_rescue(warpseal_engine* engine, int in_fd, int out_fd,
                                     const warpseal_file_options* options, warpseal_rescue* rescue,
                                     warpseal_file_result* result) {
    if (!c_api::sized(result)) return WARPSEAL_INVALID_ARGUMENT;
    const char* wrong = c_api::wrong_in(engine, in_fd, out_fd, -1, options);
    if (!c_api::sized(rescue)) wrong = "there is no rescue, or its struct_bytes is too small";
    if (*wrong == 0) c_api::clear_results(*rescue);
    return c_api::reported(*result, wrong, [&] {
        return container::rescue(*engine->engine, in_fd, out_fd, *options, *rescue, *result);
    });
}

warpseal_status warpseal_file_info_read(int in_fd, warpseal_file_info* info,
                                        warpseal_file_result* result) {
    if (!c_api::sized(result)) return WARPSEAL_INVALID_ARGUMENT;
    const char* wrong = in_fd < 0 ? "the input is no descriptor" : "";
    if (!c_api::sized(info)) wrong = "there is no info, or its struct_bytes is too small";
    if (*wrong == 0) c_api::clear(*info);
    return c_api::reported(*result, wrong, [&] { return container::info(in_fd, *info, *result); });
}

}  // extern "C"
