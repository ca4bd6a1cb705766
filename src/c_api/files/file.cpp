// File functions of the C API. Struct sizes and null pointers are checked here, everything else by
// the container.
#include "container/file.h"
#include "c_api/files/file_call.h"
#include "c_api/files/slot_keys.h"
#include "warpseal/device_file.h"

namespace warpseal::c_api {
namespace {

// Zeroes what a rescue sets.
void clear_results(warpseal_rescue& rescue) {
    rescue.hole_count = rescue.hole_bytes = rescue.bytes_after_end = 0;
    rescue.finished = rescue.end_found = 0;
}

// Returns a description of what is wrong with the arguments, or "".
const char* wrong_in(const warpseal_engine* engine, int in_fd, int out_fd, int least_out,
                     const warpseal_file_options* options, SecretTypes types) {
    if (engine == nullptr) return "the engine is null";
    if (in_fd < 0) return "the input is no descriptor";
    if (out_fd < least_out) return "the output is no descriptor";
    return wrong_in_options(options, types);
}

warpseal_status seal(warpseal_engine* engine, int in_fd, int out_fd,
                     const warpseal_file_options* options, SecretTypes types,
                     container::SlotKeys* keys, warpseal_file_result* result) {
    if (!sized(result)) return refuse("result is null, or its struct_bytes is too small");
    return reported(*result, wrong_in(engine, in_fd, out_fd, 0, options, types), [&] {
        return container::seal(*engine->engine, in_fd, out_fd, *options, *result, keys);
    });
}

warpseal_status open(warpseal_engine* engine, int in_fd, int out_fd,
                     const warpseal_file_options* options, SecretTypes types,
                     container::SlotKeys* keys, warpseal_file_result* result) {
    if (!sized(result)) return refuse("result is null, or its struct_bytes is too small");
    return reported(*result, wrong_in(engine, in_fd, out_fd, -1, options, types), [&] {
        return container::open(*engine->engine, in_fd, out_fd, *options, *result, keys);
    });
}

warpseal_status rescue(warpseal_engine* engine, int in_fd, int out_fd,
                       const warpseal_file_options* options, SecretTypes types,
                       warpseal_rescue* report, warpseal_file_result* result) {
    if (!sized(result)) return refuse("result is null, or its struct_bytes is too small");
    const char* wrong = wrong_in(engine, in_fd, out_fd, -1, options, types);
    if (!sized(report)) wrong = "there is no rescue, or its struct_bytes is too small";
    if (*wrong == 0) clear_results(*report);
    return reported(*result, wrong, [&] {
        return container::rescue(*engine->engine, in_fd, out_fd, *options, *report, *result);
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;
using c_api::SecretTypes;

extern "C" {

warpseal_status warpseal_file_seal(warpseal_engine* engine, int in_fd, int out_fd,
                                   const warpseal_file_options* options,
                                   warpseal_file_result* result) {
    return c_api::seal(engine, in_fd, out_fd, options, SecretTypes::of_interface, nullptr, result);
}

warpseal_status warpseal_file_open(warpseal_engine* engine, int in_fd, int out_fd,
                                   const warpseal_file_options* options,
                                   warpseal_file_result* result) {
    return c_api::open(engine, in_fd, out_fd, options, SecretTypes::of_interface, nullptr, result);
}

warpseal_status warpseal_file_seal_device(warpseal_engine* engine, const void* in, size_t bytes,
                                          void* stream, int out_fd,
                                          const warpseal_file_options* options,
                                          warpseal_file_result* result) {
    if (!c_api::sized(result)) return refuse("result is null, or its struct_bytes is too small");
    const char* wrong = c_api::wrong_in(engine, 0, out_fd, 0, options, SecretTypes::of_interface);
    if (*wrong == 0 && in == nullptr && bytes != 0) wrong = "in is null";
    return c_api::reported(*result, wrong, [&] {
        return container::seal_device(*engine->engine, in, bytes, stream, out_fd, *options,
                                      *result);
    });
}

warpseal_internal_slot_keys* warpseal_internal_slot_keys_create(void) {
    return new (std::nothrow) warpseal_internal_slot_keys;
}

void warpseal_internal_slot_keys_destroy(warpseal_internal_slot_keys* keys) { delete keys; }

warpseal_status warpseal_internal_file_seal(warpseal_engine* engine, int in_fd, int out_fd,
                                            const warpseal_file_options* options,
                                            warpseal_internal_slot_keys* keys,
                                            warpseal_file_result* result) {
    return c_api::seal(engine, in_fd, out_fd, options, SecretTypes::all, c_api::keys_of(keys),
                       result);
}

warpseal_status warpseal_internal_file_open(warpseal_engine* engine, int in_fd, int out_fd,
                                            const warpseal_file_options* options,
                                            warpseal_internal_slot_keys* keys,
                                            warpseal_file_result* result) {
    return c_api::open(engine, in_fd, out_fd, options, SecretTypes::all, c_api::keys_of(keys),
                       result);
}

warpseal_status warpseal_file_rescue(warpseal_engine* engine, int in_fd, int out_fd,
                                     const warpseal_file_options* options, warpseal_rescue* rescue,
                                     warpseal_file_result* result) {
    return c_api::rescue(engine, in_fd, out_fd, options, SecretTypes::of_interface, rescue, result);
}

warpseal_status warpseal_internal_file_rescue(warpseal_engine* engine, int in_fd, int out_fd,
                                              const warpseal_file_options* options,
                                              warpseal_rescue* rescue,
                                              warpseal_file_result* result) {
    return c_api::rescue(engine, in_fd, out_fd, options, SecretTypes::all, rescue, result);
}

warpseal_status warpseal_file_info_read(int in_fd, warpseal_file_info* info,
                                        warpseal_file_result* result) {
    if (!c_api::sized(result)) return refuse("result is null, or its struct_bytes is too small");
    const char* wrong = in_fd < 0 ? "the input is no descriptor" : "";
    if (!c_api::sized(info)) wrong = "there is no info, or its struct_bytes is too small";
    if (*wrong == 0) c_api::clear(*info);
    return c_api::reported(*result, wrong, [&] { return container::info(in_fd, *info, *result); });
}

}  // extern "C"
