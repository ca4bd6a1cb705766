// One known-answer row, as the checks of its family of modes take it.
#pragma once

#include "cli/vectors/arena.h"

namespace warpseal::cli {

struct Message {
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    Octets key, iv, aad, plaintext, ciphertext, tag;  // For CMAC, `plaintext` is the message.
    bool valid = true;
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    bool tagged() const { return aead() || mode == WARPSEAL_CMAC; }
};

struct CallPath {
    bool in_place;
    size_t skew;
    bool on_device;
};

// Returns the combinations to test. Device memory comes last, if the engine under test has it.
std::vector<CallPath> call_paths(const Tested& tested);
std::vector<CallPath> host_call_paths();
std::string describe(const char* operation, const CallPath& path);

// Returns true if a call on device memory takes one message of this mode. Serial modes need a batch
// there.
bool has_device_call(warpseal_mode mode, bool encrypt);

// ---- Each check runs every call that takes the row, and the calls that must be refused.
void check_plain(Tested& tested, const Message& m, const RowKey& key);   // ECB, CTR, CBC, CFB, OFB
void check_padded(Tested& tested, const Message& m, const RowKey& key);  // CBC with PKCS#7
// XTS; the message is one data unit
void check_units(Tested& tested, const Message& m, const RowKey& key);
void check_aead(Tested& tested, const Message& m, const RowKey& key);  // GCM, CCM
void check_mac(Tested& tested, const Message& m, const RowKey& key);   // CMAC
// Checks three copies of the message in a batch, under one key and under separate keys. For opening
// and verifying, the middle copy has a wrong tag.
void check_batches(Tested& tested, const Message& m, const RowKey& key, bool encrypt);

}  // namespace warpseal::cli
