// Finds the file keys of key slots. Each failure becomes a status and a message of the library.
#include "cli/age/slots/identities.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "cli/age/crypto.h"
#include "cli/age/payload/source.h"
#include "cli/age/plugin/group.h"
#include "cli/age/slots/message.h"
#include "cli/age/slots/parameters.h"
#include "cli/age/ssh/stanzas.h"

namespace warpseal::cli::age {
namespace {

// The library may say more before a message.
constexpr size_t message_bytes_most = 180;
static_assert(message_bytes_most < sizeof(warpseal_file_result::message));

// For failures of the program itself: its exit code is the one of another error.
constexpr warpseal_status other_error = WARPSEAL_OUT_OF_MEMORY;

// The status whose exit code is the failure's.
warpseal_status status_of(const Failure& failure) {
    for (const warpseal_status status :
         {WARPSEAL_INVALID_ARGUMENT, WARPSEAL_WRONG_KEY, WARPSEAL_NOT_AUTHENTIC, WARPSEAL_TRUNCATED,
          WARPSEAL_UNSUPPORTED, WARPSEAL_LIMIT_EXCEEDED, WARPSEAL_WEAK_KEY, other_error})
        if (exit_code_of(status) == failure.code) return status;
    return failure.code >= ExitCode::interrupted ? WARPSEAL_CANCELLED : WARPSEAL_IO;
}

bool is_ssh_slot(uint32_t type) {
    return type == WARPSEAL_SLOT_SSH_ED25519 || type == WARPSEAL_SLOT_SSH_RSA;
}

Secret digest_of(uint32_t slot_type, View parameters) {
    Octets whole{static_cast<uint8_t>(slot_type)};
    append(whole, parameters);
    return hmac_sha256({}, whole);
}

MadeSecret made(int type, const warpseal_internal_unwrapper& unwrapper,
                const std::shared_ptr<SlotIdentities>& owner) {
    SecretBytes bytes;
    static_assert(sizeof unwrapper <= SecretBytes::page_bytes);
    memcpy(bytes.data(), &unwrapper, sizeof unwrapper);
    bytes.size = sizeof unwrapper;
    return {static_cast<warpseal_secret_type>(type), std::move(bytes), owner};
}

}  // namespace

SlotIdentities::SlotIdentities(std::vector<Identity> open, std::vector<LockedFile> locked,
                               std::vector<SecretBytes> passphrases,
                               std::shared_ptr<UnlockedKeys> keys, const Session& session)
    : open_(std::move(open)),
      locked_(std::move(locked)),
      keys_(std::move(keys)),
      ring_(std::move(passphrases), *keys_, session) {}

std::vector<MadeSecret> SlotIdentities::secrets(const std::shared_ptr<SlotIdentities>& identities) {
    std::vector<MadeSecret> secrets;
    const auto is_early = [](const Identity& one) { return is_ssh(one.type) && !one.is_locked(); };
    const auto is_late = [&](const Identity& one) { return !is_early(one); };
    const std::vector<Identity>& open = identities->open_;
    if (std::any_of(open.begin(), open.end(), is_early))
        secrets.push_back(made(WARPSEAL_INTERNAL_SECRET_UNWRAPPER,
                               {callback<false>, identities.get()}, identities));
    if (std::any_of(open.begin(), open.end(), is_late) || !identities->locked_.empty())
        secrets.push_back(made(WARPSEAL_INTERNAL_SECRET_LATE_UNWRAPPER,
                               {callback<true>, identities.get()}, identities));
    return secrets;
}

SlotIdentities::Result SlotIdentities::unwrap_by_ssh_keys(
    const warpseal_internal_stanza_slot& slot) const {
    Result result;
    if (!is_ssh_slot(slot.type)) return result;
    const std::vector<Stanza> stanzas =
        stanzas_in_slot(slot.type, {slot.parameters.bytes, slot.parameters.byte_count});
    if (stanzas.empty()) return result;
    for (const Identity& identity : open_) {
        if (!is_ssh(identity.type)) continue;
        try {
            result.file_key = unwrap_ssh(identity, stanzas[0]);
        } catch (const Failure& failure) {  // Another key may have the same tag.
            if (!result.failure) result.failure = failure;
        }
        if (result.file_key) break;
    }
    return result;
}

SlotIdentities::Result SlotIdentities::ask_locked_keys(const Stanza& stanza) {
    Result result;
    const auto ask = [&](const auto& locked) {
        try {
            for (const Identity& key : ring_.unlock(locked))
                if (!result.file_key && is_ssh(key.type)) result.file_key = unwrap_ssh(key, stanza);
        } catch (const Failure& failure) {
            if (!is_about_one_identity(failure) && failure.code != ExitCode::not_authentic) throw;
            if (!result.failure) result.failure = failure;
        }
    };
    for (const Identity& identity : open_)
        if (!result.file_key && is_ssh(identity.type) && identity.is_locked() &&
            is_for_ssh(identity, stanza))
            ask(identity);
    for (const LockedFile& file : locked_)
        if (!result.file_key) ask(file);
    return result;
}

void SlotIdentities::ask_plugins(const warpseal_internal_stanza_slot& slot) {
    std::vector<Secret> digests;
    std::vector<std::vector<Stanza>> files;  // A plugin gets the stanzas of a slot as a file.
    for (size_t i = 0; i < slot.alike_count; ++i) {
        const View parameters{slot.alike[i].bytes, slot.alike[i].byte_count};
        Secret digest = digest_of(slot.type, parameters);
        std::vector<Stanza> stanzas = stanzas_in_slot(slot.type, parameters);
        if (stanzas.empty() || found_.count(digest) != 0 ||
            std::find(digests.begin(), digests.end(), digest) != digests.end())
            continue;
        digests.push_back(std::move(digest));
        files.push_back(std::move(stanzas));
    }
    std::vector<const std::vector<Stanza>*> given;
    given.reserve(files.size());
    for (const std::vector<Stanza>& one : files) given.push_back(&one);
    std::optional<Failure> failure;
    std::vector<std::optional<Secret>> keys = plugin::unwrap_by_plugins(open_, given, failure);
    for (size_t i = 0; i < keys.size(); ++i) {
        Result& result = found_[digests[i]];
        result.file_key = std::move(keys[i]);
        if (!result.file_key) result.failure = failure;
    }
}

SlotIdentities::Result SlotIdentities::unwrap_late(const warpseal_internal_stanza_slot& slot) {
    const View parameters{slot.parameters.bytes, slot.parameters.byte_count};
    const std::vector<Stanza> stanzas = stanzas_in_slot(slot.type, parameters);
    if (stanzas.empty()) return {};
    const Secret digest = digest_of(slot.type, parameters);
    const std::lock_guard lock(mutex_);
    if (found_.count(digest) == 0) {
        if (slot.type == WARPSEAL_SLOT_STANZA)
            ask_plugins(slot);
        else
            found_[digest] = ask_locked_keys(stanzas[0]);
    }
    return found_[digest];
}

warpseal_status SlotIdentities::unwrap(bool late, const warpseal_internal_stanza_slot& slot,
                                       uint8_t* file_key) {
    throw_if_interrupted();
    const Result result = late ? unwrap_late(slot) : unwrap_by_ssh_keys(slot);
    if (!result.file_key) {
        if (result.failure) throw *result.failure;
        return WARPSEAL_WRONG_KEY;
    }
    if (result.file_key->size() != file_key_bytes) return WARPSEAL_NOT_AUTHENTIC;
    std::copy(result.file_key->begin(), result.file_key->end(), file_key);
    return WARPSEAL_OK;
}

// Called by the library. Nothing is thrown through it, not even where a message needs memory.
template <bool late>
warpseal_status SlotIdentities::callback(void* user, const warpseal_internal_stanza_slot* slot,
                                         uint8_t* file_key, char* message) noexcept {
    const auto say = [&](const char* text) {
        try {
            const std::string said = shortened(text, message_bytes_most);
            memcpy(message, said.c_str(), said.size() + 1);
        } catch (...) {
            message[0] = 0;  // The library says something.
        }
    };
    try {
        return static_cast<SlotIdentities*>(user)->unwrap(late, *slot, file_key);
    } catch (const Failure& failure) {
        say(failure.what());
        return status_of(failure);
    } catch (const std::bad_alloc&) {
        say("out of memory");
    } catch (const std::exception& error) {
        say(error.what());
    } catch (...) {
        say("an unknown error");
    }
    return other_error;
}

}  // namespace warpseal::cli::age
