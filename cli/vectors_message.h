// One known-answer row as the checks of its family of modes take it.
#pragma once

#include "vectors_arena.h"

namespace warpseal::cli {

struct Message {
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    Octets key, iv, aad, plaintext, ciphertext, tag;  // CMAC: plaintext is the message
    bool valid = true;
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    bool tagged() const { return aead() || mode == WARPSEAL_CMAC; }
};

struct Way {
    bool in_place;
    size_t skew;
    bool on_device;
};

std::vector<Way> ways(const Subject& subject);  // device memory last, where the subject has it
std::vector<Way> host_ways();
std::string describe(const char* operation, const Way& way);

// Whether a call on device memory takes one message of this: what is serial in a message is a batch
// there.
bool has_device_call(warpseal_mode mode, bool encrypt);

// Every call that takes the row, and what must be refused of it.
void check_plain(Subject& subject, const Message& m, const RowKey& key);  // ECB, CTR, CBC, CFB, OFB
void check_padded(Subject& subject, const Message& m, const RowKey& key);  // CBC with PKCS#7
void check_units(Subject& subject, const Message& m,
                 const RowKey& key);  // XTS: the message is one data unit
void check_aead(Subject& subject, const Message& m, const RowKey& key);  // GCM, CCM
void check_mac(Subject& subject, const Message& m, const RowKey& key);   // CMAC
// The message three times in a batch, under one key and under keys of its own. Opening and
// verifying: the middle one with a spoilt tag.
void check_batches(Subject& subject, const Message& m, const RowKey& key, bool encrypt);

}  // namespace warpseal::cli
