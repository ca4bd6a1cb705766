// Vector files in all their syntaxes: JSON documents and lines, NIST's text, gzip. Rows pass, fail
// or are skipped; a broken file is an error with a text.
#include "cli/vectors/vectors.h"
#include "cli_files.h"
#include "container/readers.h"

namespace {

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

FUZZ_TARGET("vector_file", run);

}  // namespace
