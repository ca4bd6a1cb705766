// Key files and passphrase files: secrets, or an error with a text.
#include "cli/support/secrets.h"
#include "cli_files.h"

namespace {

using fuzz::claim;

void run(const uint8_t* data, size_t bytes) {
    const fuzz::NamedFile file(data, bytes);
    const auto read = [&](bool passphrase, warpseal_format format) {
        warpseal::cli::SecretChoice choice;
        (passphrase ? choice.passphrase_files : choice.key_files).push_back(file.path());
        try {
            const warpseal::cli::Secrets secrets(choice, format, false);
            claim(secrets.list().size() == 1, "a file is one secret");
            const warpseal_secret& secret = secrets.list()[0];
            claim(secret.byte_count != 0 && secret.byte_count <= bytes,
                  "a secret is not empty and not longer than its file");
            // Text of a key is longer than the key.
            claim((!passphrase && secret.byte_count < bytes) ||
                      std::memcmp(secret.bytes, data, secret.byte_count) == 0,
                  "a secret is the start of its file, unless it is text");
            claim(passphrase || secret.byte_count == 16 || secret.byte_count == 32,
                  "a key has 16 or 32 bytes");
        } catch (const warpseal::cli::Failure& failure) {
            claim(failure.what()[0] != 0, "an error has a text");
        }
    };
    for (const bool passphrase : {false, true}) read(passphrase, WARPSEAL_FORMAT_WARPSEAL);
    read(false, WARPSEAL_FORMAT_COBBLESTONE);
}

FUZZ_TARGET("key_file", run);

}  // namespace
