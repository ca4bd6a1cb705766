// Changes of key slots, and chunks of age files.
#include "warpseal/slots.h"

#include <vector>

#include "bindings/bindings.h"
#include "bindings/calls.h"
#include "bindings/engine.h"
#include "bindings/file_options.h"
#include "bindings/slot_keys.h"
#include "c_api/internal.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

// Returns the numbers of slots that were removed and that the file has now.
nb::tuple change_slots(int file, nb::handle secrets, nb::handle added, nb::handle removed,
                       bool replace, const SlotKeys& keys, nb::handle engine_argument) {
    FileOptions options(secrets, nb::none(), false);
    const SecretList fresh(added);
    std::vector<uint32_t> indices;
    for (nb::handle index : removed) indices.push_back(nb::cast<uint32_t>(index));
    const EngineHandle engine = engine_of(engine_argument);
    warpseal_slots_change change = {};
    change.struct_bytes = sizeof change;
    change.add = fresh.list().data();
    change.add_count = fresh.list().size();
    change.remove = indices.data();
    change.remove_count = indices.size();
    change.remove_opened = replace ? 1 : 0;
    warpseal_file_result result = {};
    result.struct_bytes = sizeof result;
    const warpseal_status status = without_gil(true, [&] {
        return warpseal_internal_file_slots_change(engine.get(), file, &*options, keys.get(),
                                                   &change, &result);
    });
    if (status != WARPSEAL_OK) throw_status(status, result.message, result.system_error);
    return nb::make_tuple(change.removed_count, change.slot_count);
}

constexpr size_t age_chunk_bytes = 65536, age_tag_bytes = 16;

// Seals or opens the chunks of an age file from number `first` on.
nb::object age_chunks(bool opening, nb::handle key_argument, uint64_t first, bool ends,
                      nb::handle data_argument, nb::handle engine_argument) {
    const InputBuffer key(key_argument, "key"), data(data_argument, "data");
    if (key.size() != 32) throw_value_error("key must be 32 bytes, this has %zu", key.size());
    const size_t from = opening ? age_chunk_bytes + age_tag_bytes : age_chunk_bytes;
    const size_t chunks = data.size() / from + (data.size() % from != 0 || data.size() == 0);
    if (opening && data.size() - (chunks - 1) * from < age_tag_bytes)
        throw_status(WARPSEAL_TRUNCATED, "the file ends within a chunk");
    const EngineHandle engine = engine_of(engine_argument);
    nb::object out = new_bytes(opening ? data.size() - chunks * age_tag_bytes
                                       : data.size() + chunks * age_tag_bytes);
    uint8_t* const memory = memory_of(out);
    const warpseal_status status = without_gil(true, [&] {
        return warpseal_internal_age_chunks(engine.get(), opening ? 1 : 0, key.data(), first,
                                            ends ? 1 : 0, data.data(), data.size(), memory);
    });
    if (status != WARPSEAL_OK) throw_status(status);
    return out;
}

// A message of ChaCha20-Poly1305 without associated data: the text, or None if the tag does not
// verify.
nb::object chacha20_poly1305(bool opening, nb::handle key_argument, nb::handle nonce_argument,
                             nb::handle data_argument) {
    const InputBuffer key(key_argument, "key"), nonce(nonce_argument, "nonce"),
        data(data_argument, "data");
    if (key.size() != 32) throw_value_error("key must be 32 bytes, this has %zu", key.size());
    if (nonce.size() != 12) throw_value_error("nonce must be 12 bytes, this has %zu", nonce.size());
    if (opening && data.size() < age_tag_bytes) return nb::none();
    nb::object out = new_bytes(opening ? data.size() - age_tag_bytes : data.size() + age_tag_bytes);
    const warpseal_status status = warpseal_internal_chacha20_poly1305(
        opening ? 1 : 0, key.data(), nonce.data(), data.data(), data.size(), memory_of(out));
    if (status == WARPSEAL_NOT_AUTHENTIC) return nb::none();
    check(status);
    return out;
}

}  // namespace

void bind_slots(nb::module_& module) {
    module.def("change_slots", change_slots, nb::arg("fd"), nb::arg("secrets"), nb::arg("added"),
               nb::arg("removed"), nb::arg("replace"), nb::arg("keys"), nb::arg("engine").none());
    module.def("age_chunks", age_chunks, nb::arg("opening"), nb::arg("key"), nb::arg("first"),
               nb::arg("ends"), nb::arg("data"), nb::arg("engine").none());
    module.def("chacha20_poly1305", chacha20_poly1305, nb::arg("opening"), nb::arg("key"),
               nb::arg("nonce"), nb::arg("data"));
}

}  // namespace warpseal::python
