// Headers and armors of age files, and stanzas in key slots: stanzas that are written as they were
// read, or an error with a text.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "cli/age/format/armor.h"
#include "cli/age/format/header.h"
#include "cli/age/format/stanza.h"
#include "cli/age/slots/parameters.h"
#include "cli/age/stanzas.h"
#include "cli/support/command.h"
#include "fuzz/target.h"

namespace {

using namespace warpseal::cli;
using fuzz::claim;

class MemorySource final : public age::Source {
public:
    MemorySource(const uint8_t* data, size_t bytes) : at_(data), left_(bytes) {}
    size_t read(uint8_t* to, size_t most) override {
        const size_t bytes = std::min(most, left_);
        std::copy_n(at_, bytes, to);
        at_ += bytes;
        left_ -= bytes;
        return bytes;
    }

private:
    const uint8_t* at_;
    size_t left_;
};

class MemorySink final : public age::Sink {
public:
    void write(age::View bytes) override { data.insert(data.end(), bytes.begin(), bytes.end()); }
    fuzz::Data data;
};

// The grammar has one text for each header.
void check(const age::Header& header) {
    claim(!header.stanzas.empty() && header.stanzas.size() <= age::max_stanzas,
          "a header has stanzas, and not too many");
    claim(header.authenticated.size() <= age::max_header_bytes, "a header has a bound");
    std::string text = "age-encryption.org/v1\n";
    for (const age::Stanza& stanza : header.stanzas) {
        claim(!stanza.arguments.empty(), "a stanza has a type");
        age::write_stanza({stanza.arguments.begin(), stanza.arguments.end()}, stanza.body,
                          [&](std::string_view part) { text += part; });
    }
    claim(text + "---" == header.authenticated, "a header is written as it was read");
    age::check_stanzas(header.stanzas);
}

void check_slot(age::View parameters) {
    const std::vector<age::Stanza> stanzas = age::stanzas_in_slot(WARPSEAL_SLOT_STANZA, parameters);
    if (stanzas.empty() || parameters[0] > 1) return;  // The library refuses other flags.
    const age::Octets text = age::plugin_parameters(stanzas, parameters[0] == 1);
    claim(std::equal(text.begin(), text.end(), parameters.begin(), parameters.end()),
          "a slot is written as it was read");
}

void run(const uint8_t* data, size_t bytes) {
    check_slot({data, bytes});
    MemorySource memory(data, bytes);
    try {
        age::AgeSource source(memory);
        check(age::read_header(source.binary()));
        while (source.binary().get() >= 0) {
        }
        claim(source.text.taken() <= bytes, "no more is taken than there is");
    } catch (const Failure& failure) {
        claim(failure.what()[0] != 0, "an error has a text");
    }
}

std::vector<fuzz::Data> seeds() {
    std::vector<fuzz::Data> all;
    for (const char* name : {"ed25519.age", "rsa.age", "locked.age"}) {
        std::ifstream file(std::string(WARPSEAL_SOURCE "/tests/vectors/age/ssh/") + name,
                           std::ios::binary);
        const std::string content{std::istreambuf_iterator<char>(file), {}};
        claim(!content.empty(), "the stored files are there");
        all.emplace_back(content.begin(), content.end());
        MemorySink armored;
        age::ArmorSink armor(armored);
        armor.write(all.back());
        armor.finish();
        all.push_back(armored.data);
    }
    const std::string many =
        "age-encryption.org/v1\n-> X25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n-> other a b \"\n\n"
        "-> scrypt AAAAAAAAAAAAAAAAAAAAAA 18\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
        "--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";
    all.emplace_back(many.begin(), many.end());
    for (const char flags : {0, 1}) {
        const std::string slot =
            std::string(1, flags) +
            "-> wrapped-by-test a\n"
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n\n"
            "-> another\nAAAA\n";
        all.emplace_back(slot.begin(), slot.end());
    }
    return all;
}

FUZZ_TARGET("age_header", run, seeds);

}  // namespace
