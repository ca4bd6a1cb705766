#include "container/front.h"

#include "container/call.h"

namespace warpseal::container {

warpseal_status add_payload_head(Engine& engine, const Suite& suite, Bytes input_key, Bytes context,
                                 Opened& out, std::vector<uint8_t>& front, Fault& fault) {
    uint8_t head[payload_head_bytes];
    if (new_payload(engine, suite, input_key, {&context, 1}, head, out.payload, fault) !=
        WARPSEAL_OK)
        return fault.status;
    out.suite = &suite;
    derive_journal_key(input_key, head, out.journal_key);
    front.insert(front.end(), head, head + sizeof head);
    out.head_bytes = front.size();
    return WARPSEAL_OK;
}

warpseal_status new_front(Engine& engine, const Suite& suite, const warpseal_file_options& options,
                          Opened& out, std::vector<uint8_t>& front,
                          Secret<data_key_bytes>& data_key, Fault& fault, SlotKeys* keys) {
    Header header;
    if (new_header(engine, suite, options.secrets, options.secret_count, argon2_cost(options),
                   header, data_key, fault, keys) != WARPSEAL_OK)
        return fault.status;
    Secret<32> input_key;
    payload_input_key(suite, data_key, input_key);
    front = std::move(header.bytes);
    return add_payload_head(engine, suite, {input_key.data(), suite.key_bytes},
                            {header.fixed.bytes, fixed_part_bytes}, out, front, fault);
}

warpseal_status open_front(Engine& engine, const warpseal_file_options& options, const ReadAt& read,
                           Opened& out, Secret<data_key_bytes>& data_key, Fault& fault,
                           SlotKeys* keys) {
    uint8_t head[payload_head_bytes];
    Header header;
    int in_force = 0;
    if (read_header(read, header, fault) != WARPSEAL_OK) return fault.status;
    out.head_bytes = header.bytes.size();
    if (unlock(engine, header, options.secrets, options.secret_count, data_key, in_force, fault,
               argon2_budget, keys) != WARPSEAL_OK) {
        return fault.status;
    }
    out.header_copies_differ = !header.copies_equal();
    out.suite = header.fixed.suite;
    Secret<32> input_key;
    payload_input_key(*out.suite, data_key, input_key);
    if (read_payload_head(read, out, head, fault) != WARPSEAL_OK) return fault.status;
    const Bytes key = {input_key.data(), out.suite->key_bytes};
    const Bytes context = {header.fixed.bytes, fixed_part_bytes};
    derive_journal_key(key, head, out.journal_key);
    const warpseal_status status =
        open_payload(engine, *out.suite, key, {&context, 1}, head, out.payload, fault);
    // The header verified, so the key is right and the payload head was changed.
    if (status == WARPSEAL_WRONG_KEY)
        return fault.say(WARPSEAL_NOT_AUTHENTIC,
                         "the start of the payload, at byte %llu, was changed",
                         static_cast<unsigned long long>(out.head_bytes - payload_head_bytes));
    return status;
}

}  // namespace warpseal::container
