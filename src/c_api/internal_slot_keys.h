/* Internal functions of the C API for a run over many files: calls that share one key derivation.
 * It has types of secrets for slots whose file key the program wraps and unwraps itself.
 * Not installed, and not exported from the shared library. */
#ifndef WARPSEAL_INTERNAL_SLOT_KEYS_H
#define WARPSEAL_INTERNAL_SLOT_KEYS_H

#include "container/recipients/unwrapper.h"
#include "warpseal/reader.h"
#include "warpseal/slots.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys that passphrases gave in a run. New files of the run have the same Argon2id salt for the
 * same passphrase and cost. Any number of threads may use them. They zeroize themselves when
 * destroyed. Returns null if out of memory. */
typedef struct warpseal_internal_slot_keys warpseal_internal_slot_keys;
warpseal_internal_slot_keys* warpseal_internal_slot_keys_create(void);
/* Null is allowed. Not while calls with them are in progress. */
void warpseal_internal_slot_keys_destroy(warpseal_internal_slot_keys* keys);

/* Like warpseal_file_seal, warpseal_file_open, warpseal_reader_open, warpseal_file_slots_change and
 * warpseal_file_rescue, which refuse the types of secrets of unwrapper.h. `keys` may be null. */
warpseal_status warpseal_internal_file_seal(warpseal_engine* engine, int in_fd, int out_fd,
                                            const warpseal_file_options* options,
                                            warpseal_internal_slot_keys* keys,
                                            warpseal_file_result* result);
warpseal_status warpseal_internal_file_open(warpseal_engine* engine, int in_fd, int out_fd,
                                            const warpseal_file_options* options,
                                            warpseal_internal_slot_keys* keys,
                                            warpseal_file_result* result);
warpseal_status warpseal_internal_reader_open(warpseal_engine* engine, int in_fd,
                                              const warpseal_file_options* options,
                                              warpseal_internal_slot_keys* keys,
                                              warpseal_reader** out, warpseal_file_result* result);
warpseal_status warpseal_internal_file_slots_change(warpseal_engine* engine, int fd,
                                                    const warpseal_file_options* options,
                                                    warpseal_internal_slot_keys* keys,
                                                    warpseal_slots_change* change,
                                                    warpseal_file_result* result);
warpseal_status warpseal_internal_file_rescue(warpseal_engine* engine, int in_fd, int out_fd,
                                              const warpseal_file_options* options,
                                              warpseal_rescue* rescue,
                                              warpseal_file_result* result);

#ifdef __cplusplus
}
#endif
#endif
