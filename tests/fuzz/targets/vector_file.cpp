// Vector files in all their syntaxes: JSON documents and lines, NIST's text, gzip. Rows pass, fail
// or are skipped; a broken file is an error with a text.
#include "cli/vectors/vectors.h"
#include "cli_files.h"
#include "container/readers.h"

namespace {

using fuzz::bytes_of;

void run(const uint8_t* data, size_t bytes) {
    static warpseal::cli::Tested& tested = *new warpseal::cli::Tested(tests::c_engine(), false);
    const fuzz::NamedFile file(data, bytes);
    try {
        const warpseal::cli::Tally tally = warpseal::cli::check_file(tested, file.path());
        uint64_t skipped = 0;
        for (const auto& [reason, number] : tally.reasons) skipped += number;
        fuzz::claim(skipped == tally.skipped, "each skipped row has a reason");
    } catch (const std::runtime_error& error) {
        fuzz::claim(error.what()[0] != 0, "an error has a text");
    }
}

std::vector<fuzz::Data> seeds() {
    return {
        bytes_of(R"({"cipher":"aes-128","mode":"ecb","key":"000102030405060708090a0b0c0d0e0f",)"
                 R"("plaintext":"00112233445566778899aabbccddeeff",)"
                 R"("ciphertext":"69c4e0d86a7b0430d8cdb78070b4c55a","source":"FIPS 197"})"
                 "\n"),
        bytes_of(R"({"algorithm":"AES-GCM","testGroups":[{"ivSize":96,"keySize":128,"tagSize":128,)"
                 R"("type":"AeadTest","tests":[{"tcId":1,"key":"00000000000000000000000000000000",)"
                 R"("iv":"000000000000000000000000","aad":"","msg":"","ct":"",)"
                 R"("tag":"58e2fccefa7e3061367f1d57a4e7455a","result":"valid","flags":[]}]}]})"),
        bytes_of("count = 0\nseed = 00\npk = 00\nsk = 00\nct = 00\nss = 00\n"),
        {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0}};
}

FUZZ_TARGET("vector_file", run, seeds);

}  // namespace
