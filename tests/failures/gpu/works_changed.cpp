// Changed files: see works_changed.h.
#include "works_changed.h"

#include <algorithm>
#include <vector>

#include "../handles.h"
#include "../works.h"
#include "on_auto.h"
#include "unnamed.h"

namespace works {
namespace {

using Data = std::vector<uint8_t>;

// Several segments, so that the GPU has some in flight when it fails.
constexpr size_t bytes = (size_t{9} << 20) + 777, chunk = 16384, sealed_chunk = chunk + 16;
constexpr size_t chunks_at = 61440 + 56;
constexpr unsigned threads = 3;

uint8_t plain[bytes], out[bytes + chunk];
std::vector<Data> changed;

warpseal_file_options options_with(const warpseal_secret& one) {
    warpseal_file_options options = {};
    options.struct_bytes = sizeof options;
    options.secrets = &one, options.secret_count = 1;
    return options;
}

// A regular file gets each chunk at its offset once it is authentic. Between them it has zeros.
void must_hold_only_text(const Unnamed& opened) {
    const size_t got = opened.read(out, sizeof out);
    if (got > bytes) complain("warpseal_file_open", "an output that is longer than the text");
    for (size_t at = 0; at < got; at += chunk) {
        const size_t some = std::min(chunk, got - at);
        const bool zeros = std::all_of(out + at, out + at + some, [](uint8_t b) { return b == 0; });
        if (!zeros && std::memcmp(out + at, plain + at, some) != 0)
            complain("warpseal_file_open", "unauthenticated bytes are in the output");
    }
}

// Returns WARPSEAL_OK if the call reports the change.
warpseal_status open_changed(const Data& file) {
    const Engine engine(threads);
    const warpseal_secret key = {WARPSEAL_SECRET_KEY, secret, 32};
    const warpseal_file_options options = options_with(key);
    const Unnamed in(file.data(), file.size()), opened;
    return Steps({engine.status}).then("warpseal_file_open", [&] {
        warpseal_file_result result = {};
        result.struct_bytes = sizeof result;
        const warpseal_status status =
            warpseal_file_open(engine.get(), in.get(), opened.get(), &options, &result);
        must_hold_only_text(opened);
        if (status == WARPSEAL_OK) complain("warpseal_file_open", "a changed file is accepted");
        return status == WARPSEAL_NOT_AUTHENTIC || status == WARPSEAL_TRUNCATED ? WARPSEAL_OK
                                                                                : status;
    });
}

}  // namespace

void prepare_changed() {
    for (size_t i = 0; i < bytes; ++i) plain[i] = static_cast<uint8_t>(i * 11 + i / 253 + 1);
    const Engine engine(threads);
    const warpseal_secret key = {WARPSEAL_SECRET_KEY, secret, 32};
    const warpseal_file_options options = options_with(key);
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    const Unnamed in(plain, bytes), sealed;
    if (warpseal_file_seal(engine.get(), in.get(), sealed.get(), &options, &result) != WARPSEAL_OK)
        complain("prepare_changed", "a call fails");
    Data file(chunks_at + bytes + (bytes / chunk + 1) * 16);
    if (sealed.read(file.data(), file.size()) != file.size())
        complain("prepare_changed", "a length that the test does not expect");
    const auto chunk_of = [](Data& data, size_t number) {
        return data.begin() + static_cast<ptrdiff_t>(chunks_at + number * sealed_chunk);
    };
    changed.assign(4, file);
    *chunk_of(changed[0], 5) ^= 1;  // in the first segment
    changed[1].back() ^= 0x80;      // in the last tag
    changed[2].erase(chunk_of(changed[2], 400), changed[2].end());
    std::swap_ranges(chunk_of(changed[3], 300), chunk_of(changed[3], 301),
                     chunk_of(changed[3], 500));
}

warpseal_status changed_files() {
    Steps steps;
    for (const Data& one : changed) (void)steps.run([&] { return open_changed(one); });
    return steps;
}

warpseal_status auto_changed_files() {
    const OnAuto on_auto;
    return changed_files();
}

}  // namespace works
