/* slots.h: changes the key slots of a sealed file in place (docs/file-format.md).
 *
 * The rules at the top of warpseal.h hold. The payload is neither read nor written. A crash at any
 * moment leaves a file that opens with the old or the new keys.
 * Removing a slot does not revoke a key. Who had it may have kept the data key or an older copy of
 * the file, and opens the same payload for ever. */
#ifndef WARPSEAL_SLOTS_H
#define WARPSEAL_SLOTS_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpseal_slots_change {
    uint32_t struct_bytes;
    const warpseal_secret* add; /* one new slot for each */
    size_t add_count;
    const uint32_t* remove; /* indices into warpseal_file_info.slots */
    size_t remove_count;
    /* 1: also removes every slot that a secret of the options opens. The new slots take the place
     * of the first of them. */
    int32_t remove_opened;
    /* Set by the call. */
    uint32_t removed_count;
    uint32_t slot_count; /* after the change */
    int32_t in_force;    /* 1: the change is in force. Also where only the second copy failed. */
} warpseal_slots_change;

/* Removes and adds key slots of the sealed file that begins at the current position of fd. Both
 * header copies are written and synced, one after the other. Without a change they are repaired.
 * engine: for the slots; its other calls may go on. fd: a regular file, open for reading and
 * writing, not in append mode. Its position is not moved. It is locked with flock(2) meanwhile.
 * options: secrets that open the file now, and the Argon2id cost of new passphrases.
 * secrets_used is called for the secrets of both structs, before the first write. progress, suite
 * and any_order are unused.
 * WARPSEAL_INVALID_ARGUMENT: also where no slot would stay that one of the given secrets opens, or
 * where post-quantum recipients and others would be together (age1pq1, warpntru1, some plugins;
 * age1, SSH keys, other plugins).
 * WARPSEAL_LIMIT_EXCEEDED: the slots are full, or would cost too much Argon2id work.
 * WARPSEAL_WRONG_KEY: also where only an outdated or unfinished header copy opens.
 * WARPSEAL_NOT_AUTHENTIC: also where `remove` was given and the copy that warpseal_file_info_read
 * shows does not verify. The copies are repaired then: read the slots again.
 * WARPSEAL_NO_RANDOM: no random bytes for a new slot.
 * WARPSEAL_IO: also where another program holds the lock; system_error is EWOULDBLOCK.
 * Slots of unknown types are kept. Unless in_force is 1, the old keys open the file. If syncing or
 * reading the first copy failed, the new ones may open it too. */
WARPSEAL_API warpseal_status warpseal_file_slots_change(warpseal_engine* engine, int fd,
                                                        const warpseal_file_options* options,
                                                        warpseal_slots_change* change,
                                                        warpseal_file_result* result);

#ifdef __cplusplus
}
#endif
#endif
