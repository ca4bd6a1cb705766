// SSH private keys and the lines of their public keys: keys, or an error with a text.
#include <sodium.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/support/command.h"
#include "fuzz/target.h"

namespace {

using namespace warpseal::cli;
using fuzz::claim;

void use(const age::Identity& identity) {
    const auto recipient = age::parse_ssh_recipient(age::ssh_recipient_text(identity.wire), "it");
    claim(recipient && recipient->key == identity.wire && recipient->type == identity.type,
          "the recipient of a key is read back");
    claim(identity.is_locked() == !identity.locked.empty(), "a locked key is kept as it is");
    if (identity.is_locked() || identity.type != age::KeyType::ssh_ed25519) return;
    const age::Octets file_key(16, 7);
    const auto opened = age::unwrap_ssh(identity, age::wrap_ssh(*recipient, file_key));
    claim(opened && std::equal(opened->begin(), opened->end(), file_key.begin(), file_key.end()),
          "what is wrapped for a key opens with it");
}

void without_crash(const std::function<void()>& work) {
    try {
        work();
    } catch (const Failure& failure) {
        claim(failure.what()[0] != 0, "an error has a text");
    }
}

void run(const uint8_t* data, size_t bytes) {
    if (bytes > 16384) return;  // no key file is longer: the program refuses it
    const std::string text(data, data + bytes);
    without_crash([&] { use(age::parse_ssh_identity(text, "it")); });
    without_crash([&] { use(age::parse_openssh_key({data, bytes}, "it")); });
    without_crash([&] { age::require_bounded_work(text, "it"); });
    without_crash([&] {
        const auto found = age::parse_ssh_recipient(text, "it");
        claim(!found || age::type_of_wire(found->key, "it") == found->type, "a line is a key");
    });
}

std::vector<fuzz::Data> seeds() {
    std::vector<fuzz::Data> all;
    for (const char* name : {"ed25519", "ed25519.pub", "rsa", "rsa.pub", "rsa-pkcs1", "rsa-pkcs8",
                             "ed25519-pkcs8", "locked"}) {
        std::ifstream file(std::string(WARPSEAL_SOURCE "/tests/vectors/age/ssh/") + name);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        claim(!text.empty(), "the stored keys are there");
        all.emplace_back(text.begin(), text.end());
        if (text.find("OPENSSH") == std::string::npos) continue;
        // The same without base64, so that changes reach the fields.
        const size_t begin = text.find('\n'), end = text.rfind("-----END");
        fuzz::Data binary(text.size());
        size_t size = 0;
        claim(sodium_base642bin(binary.data(), binary.size(), text.data() + begin, end - begin,
                                "\n", &size, nullptr, sodium_base64_VARIANT_ORIGINAL) == 0,
              "the stored keys are base64");
        binary.resize(size);
        all.push_back(binary);
    }
    return all;
}

FUZZ_TARGET("ssh_key", run, seeds);

}  // namespace
