#include "container/call.h"

#include "container/front.h"

namespace warpseal::container {
warpseal_status make_front(FileCall& call, const Suite& suite, Opened& out,
                           std::vector<uint8_t>& front) {
    if (is_bare(call.options)) {
        return add_payload_head(call.engine, suite, secret_bytes(call.options, 0),
                                context_of(call.options), out, front, call.fault);
    }
    Secret<data_key_bytes> data_key;
    return new_front(call.engine, suite, call.options, out, front, data_key, call.fault, call.keys);
}

warpseal_status check_sealing(const warpseal_file_options& options, const Suite*& suite,
                              Fault& fault) {
    suite = options.suite == nullptr ? &default_suite : suite_by_name(options.suite);
    if (is_bare(options)) suite = suite_by_key_bytes(options.secrets[0].byte_count);
    if (suite == nullptr)
        return fault.say(WARPSEAL_UNSUPPORTED, "there is no cipher suite %.40s", options.suite);
    if (options.secret_count > WARPSEAL_MAX_SLOTS) {
        return fault.say(WARPSEAL_LIMIT_EXCEEDED, "a file has at most %d key slots",
                         WARPSEAL_MAX_SLOTS);
    }
    const Argon2Cost cost = argon2_cost(options);
    uint64_t all_work = 0;
    size_t all_bytes = 0;
    RecipientKinds kinds;
    for (size_t i = 0; i < options.secret_count && !is_bare(options); ++i) {
        all_work += options.secrets[i].type == WARPSEAL_SECRET_PASSPHRASE ? work(cost) : 0;
        all_bytes += slot_bytes_of(options.secrets[i]);
        kinds.add_new(options.secrets[i]);
    }
    if (all_bytes > slot_room(copy_bytes_default))
        return fault.say(WARPSEAL_LIMIT_EXCEEDED,
                         "the key slots need %zu bytes, and a header has %zu: give fewer "
                         "recipients, of which %zu post-quantum ones fit",
                         all_bytes, slot_room(copy_bytes_default),
                         slot_room(copy_bytes_default) / hybrid_slot_bytes);
    if (kinds.check(fault) != WARPSEAL_OK) return fault.status;
    return check_cost(cost, all_work, fault);
}

warpseal_status check_cost(Argon2Cost cost, uint64_t all_work, Fault& fault) {
    if (within_bounds(cost) && all_work <= argon2_work_max) return WARPSEAL_OK;
    return fault.say(WARPSEAL_LIMIT_EXCEEDED,
                     "Argon2id takes 1 to %u passes over %u to %u KiB, and %llu passes "
                     "times KiB for all passphrases together",
                     argon2_passes_max, argon2_memory_kib_min, argon2_memory_kib_max,
                     static_cast<unsigned long long>(argon2_work_max));
}

}  // namespace warpseal::container
