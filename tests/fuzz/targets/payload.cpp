// Changed sealed files: what opens is a prefix of the text, the whole of it only where nothing past
// the header was changed; the reader agrees.
#include "container/files.h"
#include "fuzz/target.h"

namespace {

using fuzz::claim;
using fuzz::Data;

struct File {
    tests::Options options;
    Data text, sealed;
    explicit File(size_t bytes) : text(tests::Random(bytes).text(bytes)) {
        options.key();
        sealed = tests::sealed(text, options);
    }
};

const File& file_of(size_t which) {
    static const File* const files[] = {new File(0), new File(1000), new File(3 * tests::chunk),
                                        new File(5 * tests::chunk + 9)};
    return *files[which % 4];
}

void run(const uint8_t* data, size_t bytes) {
    fuzz::Input input(data, bytes);
    const File& file = file_of(input.number(1));
    Data changed = file.sealed;
    fuzz::patch(changed, input);
    const bool same_payload = changed.size() == file.sealed.size() &&
                              std::equal(changed.begin() + tests::payload_at, changed.end(),
                                         file.sealed.begin() + tests::payload_at);
    const tests::Outcome opened = tests::run(tests::Operation::open, changed, file.options);
    claim(tests::is_prefix(opened.out, file.text), "the output is a prefix of the text");
    if (opened.status == WARPSEAL_OK) {
        claim(opened.out == file.text, "success gives the whole text");
        claim(same_payload, "a changed payload does not open");
    }
    if (changed == file.sealed) claim(opened.status == WARPSEAL_OK, "an unchanged file opens");
}

FUZZ_TARGET("payload", run);

}  // namespace
