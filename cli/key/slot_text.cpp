// Names of slot types, and Argon2id costs.
#include "cli/key/slot_text.h"

#include <fmt/core.h>

namespace warpseal::cli {
namespace {

const char* slot_name(uint32_t type) {
    switch (type) {
        case WARPSEAL_SLOT_KEY: return "key file";
        case WARPSEAL_SLOT_PASSPHRASE: return "passphrase";
        case WARPSEAL_SLOT_X25519: return "X25519";
        case WARPSEAL_SLOT_MLKEM768_X25519: return "mlkem768x25519";
        default: return "unknown";
    }
}

}  // namespace

std::string slot_text(const warpseal_slot_info& slot) {
    if (slot.type == WARPSEAL_SLOT_X25519) return "recipient X25519 (age1…)";
    if (slot.type == WARPSEAL_SLOT_MLKEM768_X25519)
        return "recipient mlkem768x25519 (age1pq1…), post-quantum";
    if (slot.type != WARPSEAL_SLOT_PASSPHRASE) return slot_name(slot.type);
    return fmt::format("{}, Argon2id {} MiB, {} passes", slot_name(slot.type),
                       slot.argon2_memory_kib / 1024, slot.argon2_passes);
}

nlohmann::ordered_json slots_json(const warpseal_file_info& info) {
    nlohmann::ordered_json slots = nlohmann::ordered_json::array();
    for (uint32_t i = 0; i < info.slot_count && i < WARPSEAL_MAX_SLOTS; ++i) {
        nlohmann::ordered_json slot{{"type", slot_name(info.slots[i].type)}};
        if (info.slots[i].type == WARPSEAL_SLOT_PASSPHRASE) {
            slot["argon2_passes"] = info.slots[i].argon2_passes;
            slot["argon2_memory_kib"] = info.slots[i].argon2_memory_kib;
        }
        slots.push_back(slot);
    }
    return slots;
}

}  // namespace warpseal::cli
