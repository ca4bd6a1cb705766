// Stanzas for the tests of key slots, and unwrappers that record what they are asked.
#pragma once

#include <algorithm>
#include <cstring>

#include "container/header/header.h"
#include "files.h"

namespace tests {

constexpr uint16_t all_stanza_types[] = {WARPSEAL_SLOT_SSH_ED25519, WARPSEAL_SLOT_SSH_RSA,
                                         WARPSEAL_SLOT_STANZA};
constexpr auto secret_type(int number) { return static_cast<warpseal_secret_type>(number); }
constexpr warpseal_secret_type stanza_type = secret_type(WARPSEAL_INTERNAL_SECRET_STANZA),
                               early = secret_type(WARPSEAL_INTERNAL_SECRET_UNWRAPPER),
                               late = secret_type(WARPSEAL_INTERNAL_SECRET_LATE_UNWRAPPER);

inline size_t parameters_of(uint16_t type) { return type == WARPSEAL_SLOT_SSH_RSA ? 260 : 68; }

// A plugin's slot begins with its flags.
constexpr size_t key_at(uint32_t type) { return type == WARPSEAL_SLOT_STANZA ? 1 : 0; }

// Its parameters have a byte of the file key at key_at(type).
inline Data stanza(uint16_t type, uint8_t file_key, size_t parameter_bytes,
                   bool post_quantum = false) {
    Data bytes = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type)};
    bytes.insert(bytes.end(), 16, file_key);
    for (size_t i = 0; i < parameter_bytes; ++i)
        bytes.push_back(static_cast<uint8_t>(i == key_at(type) ? file_key : i * 7));
    if (type == WARPSEAL_SLOT_STANZA && parameter_bytes != 0)
        bytes[warpseal::container::stanza_head_bytes] =
            post_quantum ? WARPSEAL_INTERNAL_STANZA_POST_QUANTUM : 0;
    return bytes;
}
inline Data stanza(uint16_t type, uint8_t file_key) {
    return stanza(type, file_key, parameters_of(type));
}

// Unwraps what stanza() makes, and records what it is asked.
struct Asked {
    warpseal_status status = WARPSEAL_OK;
    const char* message = "";
    uint8_t mask = 0;                 // of the file key
    std::vector<uint16_t> refused{};  // slot types that get `status`; the others get a key
    bool refuses_all = false;
    std::vector<uint16_t> types{};
    std::vector<Data> parameters{};
    std::vector<Data> alike{};  // of the last question

    Data secret() {
        const warpseal_internal_unwrapper unwrapper = {answer, this};
        Data bytes(sizeof unwrapper);
        memcpy(bytes.data(), &unwrapper, sizeof unwrapper);
        return bytes;
    }

private:
    static warpseal_status answer(void* user, const warpseal_internal_stanza_slot* slot,
                                  uint8_t* file_key, char* message) {
        auto& self = *static_cast<Asked*>(user);
        self.types.push_back(static_cast<uint16_t>(slot->type));
        const uint8_t* const parameters = slot->parameters.bytes;
        self.parameters.emplace_back(parameters, parameters + slot->parameters.byte_count);
        self.alike.clear();
        for (size_t i = 0; i < slot->alike_count; ++i) {
            const warpseal_internal_parameters& one = slot->alike[i];
            self.alike.emplace_back(one.bytes, one.bytes + one.byte_count);
        }
        const auto& list = self.refused;
        if (self.refuses_all || std::find(list.begin(), list.end(), slot->type) != list.end()) {
            memcpy(message, self.message, std::min<size_t>(std::strlen(self.message) + 1, 240));
            return self.status;
        }
        memset(file_key, parameters[key_at(slot->type)] ^ self.mask, 16);
        return WARPSEAL_OK;
    }
};

inline Asked refusing(warpseal_status status, const char* message = "") {
    Asked asked;
    asked.status = status;
    asked.message = message;
    asked.refuses_all = true;
    return asked;
}

inline Outcome opened(const Data& file, Asked& asked, warpseal_secret_type when = late) {
    Options with;
    return run(Operation::open, file, with.add(when, asked.secret()));
}

}  // namespace tests
