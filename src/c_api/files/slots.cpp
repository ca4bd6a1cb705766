// warpseal_file_slots_change: checks struct sizes and null pointers; the container does the rest.
#include "container/slots.h"

#include "c_api/files/file_call.h"
#include "c_api/files/slot_keys.h"

namespace warpseal::c_api {
namespace {

// Returns a description of what is wrong with the arguments, or "".
const char* wrong_in(const warpseal_engine* engine, int fd, const warpseal_file_options* options,
                     const warpseal_slots_change* change, SecretTypes types) {
    if (engine == nullptr) return "the engine is null";
    if (fd < 0) return "fd is no descriptor";
    if (!sized(change)) return "there is no change, or its struct_bytes is too small";
    if (change->add == nullptr && change->add_count != 0) return "add is null";
    if (change->remove == nullptr && change->remove_count != 0) return "remove is null";
    const char* const wrong = wrong_in_types(change->add, change->add_count, types);
    return *wrong != 0 ? wrong : wrong_in_options(options, types);
}

warpseal_status change_slots(warpseal_engine* engine, int fd, const warpseal_file_options* options,
                             SecretTypes types, container::SlotKeys* keys,
                             warpseal_slots_change* change, warpseal_file_result* result) {
    if (!sized(result)) return refuse("result is null, or its struct_bytes is too small");
    const char* const wrong = wrong_in(engine, fd, options, change, types);
    if (*wrong == 0) {
        change->removed_count = change->slot_count = 0;
        change->in_force = 0;
    }
    return reported(*result, wrong, [&] {
        return container::change_slots(*engine->engine, fd, *options, *change, *result, keys);
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_file_slots_change(warpseal_engine* engine, int fd,
                                           const warpseal_file_options* options,
                                           warpseal_slots_change* change,
                                           warpseal_file_result* result) {
    return c_api::change_slots(engine, fd, options, c_api::SecretTypes::of_interface, nullptr,
                               change, result);
}

warpseal_status warpseal_internal_file_slots_change(warpseal_engine* engine, int fd,
                                                    const warpseal_file_options* options,
                                                    warpseal_internal_slot_keys* keys,
                                                    warpseal_slots_change* change,
                                                    warpseal_file_result* result) {
    return c_api::change_slots(engine, fd, options, c_api::SecretTypes::all, c_api::keys_of(keys),
                               change, result);
}

}  // extern "C"
