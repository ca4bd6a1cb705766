// The header of a sealed file and its slots: parsed alone, and opened under a key, identities, a
// passphrase and an unwrapper.
#include "container/header/header.h"
#include "container/files.h"
#include "container/recipients.h"
#include "container/stanzas.h"
#include "fuzz/target.h"

namespace {

using namespace warpseal::container;
using fuzz::claim;
using fuzz::Data;

// Gives a key that opens the slot for a plugin, and no other.
warpseal_status unwrap(void*, const warpseal_internal_stanza_slot* slot, uint8_t* file_key, char*) {
    const auto is_this = [&](const warpseal_internal_parameters& one) {
        return one.bytes == slot->parameters.bytes && one.byte_count == slot->parameters.byte_count;
    };
    if (slot->type == WARPSEAL_SLOT_STANZA) {
        claim(slot->parameters.byte_count > 1, "the text of a plugin's slot is not empty");
        claim(slot->parameters.bytes[0] <= 1, "its flags are known");
    }
    claim(std::any_of(slot->alike, slot->alike + slot->alike_count, is_this),
          "a slot is among those of its type");
    memset(file_key, 3, 16);
    return WARPSEAL_OK;
}

const tests::Options& secrets() {
    static const tests::Options& both = *[] {
        auto* const out = new tests::Options;
        out->key().passphrase("a passphrase");
        for (const auto type : {tests::x25519, tests::hybrid, tests::ntru})
            tests::Person(type).open(*out);
        const warpseal_internal_unwrapper unwrapper = {unwrap, nullptr};
        Data bytes(sizeof unwrapper);
        memcpy(bytes.data(), &unwrapper, sizeof unwrapper);
        out->add(tests::late, std::move(bytes));
        return out;
    }();
    return both;
}

// Files for one type of recipient and for a plugin, beside a key and a passphrase.
Data sealed_for(RecipientType type) {
    tests::Options to;
    tests::Person(type).seal(to).key().passphrase("a passphrase");
    to.add(tests::stanza_type,
           tests::stanza(WARPSEAL_SLOT_STANZA, 3, 68, type != RecipientType::x25519));
    return tests::sealed(Data(100, 7), to);
}

const Data& sealed_file(size_t number) {
    static const Data files[] = {sealed_for(RecipientType::x25519),
                                 sealed_for(RecipientType::mlkem768_x25519)};
    return files[number];
}

bool lies_in(const warpseal::Bytes& part, const Data& whole) {
    return part.size == 0 ||
           (part.data >= whole.data() && part.data + part.size <= whole.data() + whole.size());
}

// The first byte chooses between a header as given, and patches to a good one.
void run(const uint8_t* data, size_t bytes) {
    fuzz::Input input(data, bytes);
    const auto choice = input.number(1) % 8;
    Data file = choice % 4 == 0 ? input.rest() : sealed_file(choice / 4);
    fuzz::patch(file, input);
    file.resize(std::min<size_t>(file.size(), header_bytes(copy_bytes_max)));
    Header header;
    Fault fault;
    Data first = file;
    first.resize(first_block_bytes);
    if (parse_first_block(first.data(), std::min(file.size(), first_block_bytes), header.fixed,
                          fault) != WARPSEAL_OK)
        return;
    file.resize(header_bytes(header.fixed.copy_bytes));
    header.bytes = file;
    parse_copies(header);
    for (const HeaderCopy& copy : header.copies) {
        if (!copy.well_formed) continue;
        claim(copy.slot_count <= WARPSEAL_MAX_SLOTS, "a copy has at most 32 slots");
        for (uint32_t i = 0; i < copy.slot_count; ++i)
            for (const warpseal::Bytes& part : {copy.slots[i].whole, copy.slots[i].head,
                                                copy.slots[i].parameters, copy.slots[i].body})
                claim(lies_in(part, header.bytes), "a slot lies in the header");
    }
    warpseal::Secret<data_key_bytes> key;
    int in_force = -1;
    const warpseal_status status = unlock(tests::engine(), header, secrets().secrets,
                                          secrets().secret_count, key, in_force, fault, 256);
    if (status == WARPSEAL_OK)
        claim(in_force >= 0 && in_force < 2 && header.copies[in_force].well_formed,
              "a well-formed copy is in force");
}

std::vector<Data> seeds() {
    Data whole = {0};
    whole.insert(whole.end(), sealed_file(0).begin(), sealed_file(0).end());
    return {whole,
            {1, 0, 0x10, 0x04, 1},
            {1, 0, 0x10, 0x10, 1, 0, 0x30, 0x12, 1},
            {1, 0, 0, 8, 1},
            {5, 0, 0x10, 0x16, 1, 0, 0x80, 0x16, 1}};
}

FUZZ_TARGET("header", run, seeds);

}  // namespace
