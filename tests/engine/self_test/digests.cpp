// Prints or checks the stored digests of the self-test.
//
//   warpseal-self-test-digests                  prints src/engine/self_test/digest_table.h
//   warpseal-self-test-digests --check [NAME]   compares the table in the library with the
//   reference
//                                               implementations, for ciphers whose name begins so
//
// A cipher gets digests only if its block function gives the published vectors.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "engine/self_test/cases.h"
#include "engine/self_test/digests.h"
#include "reference_case.h"
#include "support/reference_cipher.h"
#include "support/vectors.h"

namespace {

using namespace warpseal;
using vectors::Text;

CipherDigests digests_of(const CpuCipher& facts) {
    tests::ReferenceCase test_case(facts);
    CipherDigests digests = {facts.name, 0, {}};
    for (int m = 0; m < WARPSEAL_MODE_COUNT; ++m)
        for (const Direction direction : {Direction::encrypt, Direction::decrypt}) {
            const auto mode = static_cast<warpseal_mode>(m);
            const int d = static_cast<int>(direction);
            const bool ran = (!test_case.has(message_entry(mode), mode, direction) ||
                              run_messages(test_case, mode, direction,
                                           &digests.modes[m].messages[d]) == WARPSEAL_OK) &&
                             (!test_case.has(BackendEntry::batch, mode, direction) ||
                              run_batches(test_case, mode, direction,
                                          &digests.modes[m].batches[d]) == WARPSEAL_OK);
            if (!ran)
                throw std::runtime_error(std::string(facts.name) + "-" + warpseal_mode_name(mode) +
                                         ": the reference implementation contradicts itself");
        }
    if ((facts.modes >> WARPSEAL_GCM & 1) != 0) digests.gcm_steps = run_gcm_steps(test_case);
    return digests;
}

// Throws unless the block function gives the published example of the header and every ECB vector
// of the cipher, and there is one.
void require_vectors(const CpuCipher& facts) {
    const KnownAnswer& known = facts.known;
    Text example(known.plaintext, known.plaintext + facts.block_bytes);
    tests::make_reference_cipher(facts.name, Text(known.key, known.key + facts.key_bytes))
        ->encrypt(example.data());
    if (std::memcmp(example.data(), known.ciphertext, facts.block_bytes) != 0)
        throw std::runtime_error(std::string(facts.name) + " does not give known() of its header");
    size_t rows = 0;
    for (const vectors::Row& row : vectors::rows()) {
        if (row.cipher != facts.name || row.mode != "ecb" || !row.valid) continue;
        const auto cipher = tests::make_reference_cipher(row.cipher, row.key);
        Text block(facts.block_bytes);
        for (size_t at = 0; at < row.pt.size(); at += block.size(), ++rows) {
            std::copy_n(&row.pt[at], block.size(), block.begin());
            cipher->encrypt(block.data());
            if (std::memcmp(block.data(), &row.ct[at], block.size()) != 0)
                throw std::runtime_error(row.cipher + " encrypts row " + row.id + " of " +
                                         row.file + " wrongly");
            cipher->decrypt(block.data());
            if (std::memcmp(block.data(), &row.pt[at], block.size()) != 0)
                throw std::runtime_error(row.cipher + " decrypts row " + row.id + " of " +
                                         row.file + " wrongly");
        }
    }
    if (rows == 0)
        throw std::runtime_error(std::string("tests/vectors/block has no rows of ") + facts.name +
                                 "-ecb");
}

std::string number(uint64_t digest) {
    char text[24];
    std::snprintf(text, sizeof text, digest == 0 ? "0" : "0x%016" PRIx64, digest);
    return text;
}

std::string pair(const uint64_t (&digests)[2]) {
    return "{" + number(digests[0]) + ", " + number(digests[1]) + "}";
}

void print(const CipherDigests& digests) {
    std::printf("  {\"%s\", %s, {\n", digests.cipher, number(digests.gcm_steps).c_str());
    for (int m = 0; m < WARPSEAL_MODE_COUNT; ++m) {
        const ModeDigests& mode = digests.modes[m];
        std::printf("    {%s, %s},  // %s\n", pair(mode.messages).c_str(),
                    pair(mode.batches).c_str(), warpseal_mode_name(static_cast<warpseal_mode>(m)));
    }
    std::printf("  }},\n");
}

void print_table() {
    std::printf(
        "// Written by scripts/self-test-digests from the reference implementations in\n"
        "// tests/reference. Each row of a cipher is one mode: its messages and its batches, by\n"
        "// direction.\n"
        "#pragma once\n"
        "\n"
        "#include \"engine/self_test/digests.h\"\n"
        "\n"
        "namespace warpseal {\n"
        "\n"
        "// clang-format off\n"
        "inline constexpr CipherDigests digest_table[] = {\n");
    for (size_t i = 0; const CpuCipher* facts = cpu_cipher_at(i); ++i) {
        require_vectors(*facts);
        print(digests_of(*facts));
    }
    std::printf("};\n// clang-format on\n\n}  // namespace warpseal\n");
}

// Returns whether the table has the digests of the cipher, and says what is wrong.
bool check(const CpuCipher& facts) {
    const CipherDigests* const stored = stored_digests(facts.name);
    const CipherDigests right = digests_of(facts);
    if (stored != nullptr && stored->gcm_steps == right.gcm_steps &&
        std::memcmp(stored->modes, right.modes, sizeof right.modes) == 0)
        return true;
    std::fprintf(stderr, "%s self-test digests for %s: run scripts/self-test-digests\n",
                 stored == nullptr ? "no" : "wrong", facts.name);
    return false;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc == 1) return print_table(), 0;
    if (argc > 3 || std::strcmp(argv[1], "--check") != 0) {
        std::fprintf(stderr, "usage: %s [--check [NAME]]\n", argv[0]);
        return 2;
    }
    const char* const name = argc == 3 ? argv[2] : "";
    size_t checked = 0, wrong = 0;
    for (size_t i = 0; const CpuCipher* facts = cpu_cipher_at(i); ++i) {
        if (std::strncmp(facts->name, name, std::strlen(name)) != 0) continue;
        require_vectors(*facts);
        ++checked;
        wrong += check(*facts) ? 0 : 1;
    }
    std::printf("self-test digests: %zu ciphers checked, %zu wrong\n", checked, wrong);
    return checked == 0 || wrong != 0 ? 1 : 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "warpseal-self-test-digests: %s\n", error.what());
    return 1;
}
