// Cobblestone messages in updates of any size: the same text and the same success as opening the
// whole message from a file.
#include "warpseal/cobblestone.h"
#include "container/files.h"
#include "container/readers.h"
#include "fuzz/target.h"

namespace {

using fuzz::claim;
using fuzz::Data;

struct Message {
    tests::Options options;
    Data text, sealed;
    Message(size_t key_bytes, size_t bytes) : text(tests::Random(bytes).text(bytes)) {
        options.bare(key_bytes);
        sealed = tests::sealed(text, options);
    }
};

const Message& message_of(size_t which) {
    static const Message* const all[] = {new Message(16, 0), new Message(32, 500),
                                         new Message(16, 2 * tests::chunk),
                                         new Message(32, 3 * tests::chunk + 1)};
    return *all[which % 4];
}

void run(const uint8_t* data, size_t bytes) {
    fuzz::Input input(data, bytes);
    const Message& message = message_of(input.number(1));
    tests::Random sizes(input.number(2));
    Data changed = message.sealed;
    fuzz::patch(changed, input);
    const Data key = message.options.held[0];
    warpseal_cobblestone* stream = nullptr;
    claim(warpseal_cobblestone_create_open(tests::c_engine(), key.data(), key.size(), nullptr, 0,
                                           &stream) == WARPSEAL_OK,
          "opening begins");
    Data text;
    warpseal_status status = WARPSEAL_OK;
    const auto step = [&](size_t expected, const auto& call) {
        Data out(expected + 1, 0xa5);
        size_t made = 0;
        status = call(out.data(), expected, &made);
        claim(out[expected] == 0xa5, "nothing is written past the promised length");
        claim(made == (status == WARPSEAL_OK ? expected : 0), "the length is as promised");
        text.insert(text.end(), out.begin(), out.begin() + static_cast<ptrdiff_t>(made));
    };
    for (size_t done = 0; done < changed.size() && status == WARPSEAL_OK;) {
        const size_t n = std::min(changed.size() - done, sizes.length(40'000));
        step(warpseal_cobblestone_update_bytes(stream, n), [&](uint8_t* out, size_t room,
                                                               size_t* made) {
            return warpseal_cobblestone_update(stream, changed.data() + done, n, out, room, made);
        });
        done += n;
    }
    if (status == WARPSEAL_OK)
        step(warpseal_cobblestone_finish_bytes(stream),
             [&](uint8_t* out, size_t room, size_t* made) {
                 return warpseal_cobblestone_finish(stream, out, room, made);
             });
    warpseal_cobblestone_destroy(stream);
    claim(tests::is_prefix(text, message.text), "the output is a prefix of the text");
    claim(status != WARPSEAL_OK || changed == message.sealed, "a changed message does not open");
    const tests::Outcome file = tests::run(tests::Operation::open, changed, message.options);
    claim((file.status == WARPSEAL_OK) == (status == WARPSEAL_OK), "file and stream agree");
}

FUZZ_TARGET("cobblestone", run);

}  // namespace
