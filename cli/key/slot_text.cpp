// Names of slot types, and Argon2id costs.
#include "cli/key/slot_text.h"

#include <algorithm>

#include "cli/support/format.h"
#include "cli/support/output.h"

namespace warpseal::cli {
namespace {

const char* slot_name(uint32_t type) {
    switch (type) {
        case WARPSEAL_SLOT_KEY: return "key file";
        case WARPSEAL_SLOT_PASSPHRASE: return "passphrase";
        case WARPSEAL_SLOT_X25519: return "X25519";
        case WARPSEAL_SLOT_MLKEM768_X25519: return "mlkem768x25519";
        case WARPSEAL_SLOT_NTRU_X25519: return "ntruhps4096821x25519";
        case WARPSEAL_SLOT_SSH_ED25519: return "ssh-ed25519";
        case WARPSEAL_SLOT_SSH_RSA: return "ssh-rsa";
        case WARPSEAL_SLOT_STANZA: return "plugin";
        default: return "unknown";
    }
}

}  // namespace

warpseal_file_info read_file_info(int input, const std::string& failed,
                                  warpseal_file_result& result) {
    warpseal_file_info info{};
    info.struct_bytes = sizeof info;
    result.struct_bytes = sizeof result;
    const warpseal_status status = warpseal_file_info_read(input, &info, &result);
    if (status == WARPSEAL_OK) return info;
    throw Failure(exit_code_of(status),
                  cli::format("{}: {}.", failed,
                              result.message[0] ? result.message : warpseal_status_text(status)));
}

std::string slot_lines(const warpseal_file_info& info, const char* format) {
    std::string text;
    for (uint32_t i = 0; i < std::min<uint32_t>(info.slot_count, WARPSEAL_MAX_SLOTS); ++i)
        text += cli::format(fmt::runtime(format), i + 1, slot_text(info.slots[i]));
    return text;
}

std::string slot_text(const warpseal_slot_info& slot) {
    if (slot.type == WARPSEAL_SLOT_X25519) return "recipient X25519 (age1…)";
    if (slot.type == WARPSEAL_SLOT_MLKEM768_X25519)
        return "recipient mlkem768x25519 (age1pq1…), post-quantum";
    if (slot.type == WARPSEAL_SLOT_NTRU_X25519)
        return "recipient ntruhps4096821x25519 (warpntru1…), post-quantum";
    if (slot.type == WARPSEAL_SLOT_SSH_ED25519 || slot.type == WARPSEAL_SLOT_SSH_RSA)
        return cli::format("recipient {}", slot_name(slot.type));
    if (slot.type == WARPSEAL_SLOT_STANZA) return "recipients of a plugin";
    if (slot.type != WARPSEAL_SLOT_PASSPHRASE) return slot_name(slot.type);
    const uint32_t kib = slot.argon2_memory_kib;
    return cli::format("{}, Argon2id {} {}, {} {}", slot_name(slot.type),
                       kib % 1024 == 0 ? kib / 1024 : kib, kib % 1024 == 0 ? "MiB" : "KiB",
                       slot.argon2_passes, slot.argon2_passes == 1 ? "pass" : "passes");
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
