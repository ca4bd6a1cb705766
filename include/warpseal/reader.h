/* reader.h: reads the text of a sealed file at any offset (docs/file-format.md).
 *
 * The rules at the top of warpseal.h hold. Opening verifies the header and the end of the file, so
 * a truncated or extended file is refused. Each read verifies the chunks of 16 KiB that it covers.
 * No unauthenticated byte is returned. */
#ifndef WARPSEAL_READER_H
#define WARPSEAL_READER_H

#include "warpseal/warpseal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpseal_reader warpseal_reader;

/* Reads up to `bytes` bytes of the sealed file at `offset`. Returns how many it read, which may be
 * fewer, 0 where the file ends, or an errno times -1.
 * It is called on any thread, several at once. It must not call the library with the same engine.
 * `out` may receive bytes that are not used, and must not be kept. */
typedef int64_t (*warpseal_read_callback)(void* user, uint64_t offset, void* out, size_t bytes);

/* Opens a sealed file that begins at the current position of in_fd. The position is not moved.
 * engine: must outlive the reader. in_fd: a regular file. It stays the caller's, and open as long
 * as the reader.
 * options: as for warpseal_file_open, without progress and any_order. They are not used later.
 * out: receives the reader; null after a failure. result: may be null.
 * result->file_bytes: the length of the file. result->plaintext_bytes: that of its text.
 * WARPSEAL_INVALID_ARGUMENT: in_fd is a pipe or a device.
 * WARPSEAL_TRUNCATED, WARPSEAL_NOT_AUTHENTIC: also where the last chunk does not verify at its
 * position. Other errors: as warpseal_file_open. */
WARPSEAL_API warpseal_status warpseal_reader_open(warpseal_engine* engine, int in_fd,
                                                  const warpseal_file_options* options,
                                                  warpseal_reader** out,
                                                  warpseal_file_result* result);

/* Opens a sealed file of file_bytes bytes that a callback reads, for example in an object store.
 * read_at: not null. user: passed to read_at; both are used until warpseal_reader_close.
 * WARPSEAL_IO: read_at failed or ended early; result->system_error is its errno, or 0.
 * Other parameters and errors: as warpseal_reader_open. */
WARPSEAL_API warpseal_status warpseal_reader_open_callback(
    warpseal_engine* engine, warpseal_read_callback read_at, void* user, uint64_t file_bytes,
    const warpseal_file_options* options, warpseal_reader** out, warpseal_file_result* result);

/* Returns the length of the text in bytes. It is authentic. 0 for null. */
WARPSEAL_API uint64_t warpseal_reader_size(const warpseal_reader* reader);

/* Reads text on all cores or GPUs of the engine. Any number of threads may read at the same time.
 * offset: in the text. out: receives *out_bytes bytes: `bytes`, or fewer where the text ends; 0 at
 * its end and past it. result: may be null.
 * After an error *out_bytes is 0 and `out` is wiped as far as the text would have reached.
 * WARPSEAL_NOT_AUTHENTIC: a chunk was changed. result->message says which one is the first.
 * WARPSEAL_IO: reading failed, or the file is shorter than when it was opened. */
WARPSEAL_API warpseal_status warpseal_reader_read_at(const warpseal_reader* reader, uint64_t offset,
                                                     void* out, size_t bytes, size_t* out_bytes,
                                                     warpseal_file_result* result);

/* Wipes and frees a reader. Null is allowed. Not while calls with it are in progress. */
WARPSEAL_API void warpseal_reader_close(warpseal_reader* reader);

#ifdef __cplusplus
}
#endif
#endif
