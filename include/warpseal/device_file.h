/* device_file.h: sealed files to and from the memory of a GPU. Their text is never in host memory:
 * ciphertext goes through pinned host memory. All reads of an engine share at most 256 MiB, which
 * it keeps until it is destroyed. Each read that finds all of it in use takes 4 MiB more. A call
 * that seals takes at most 160 MiB. Managed memory is accepted, but CUDA may move it to the host.
 *
 * The rules at the top of warpseal.h hold. The calls wait for the work that is queued on `stream`,
 * which belongs to the GPU of the text; null is its default stream. When they return, the text is
 * complete, so work on any stream may follow. */
#ifndef WARPSEAL_DEVICE_FILE_H
#define WARPSEAL_DEVICE_FILE_H

#include "warpseal/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads text into device memory, as warpseal_reader_read_at does into host memory. Any number of
 * threads may read at the same time, also into several GPUs of the engine.
 * out: device memory of at least as many bytes as the text has from `offset` on, or `bytes`.
 * After an error *out_bytes is 0. If reading had begun, `out` is wiped as far as the text would
 * have reached, unless the GPU is lost. A refused argument, or a file that does not open, leaves
 * it. WARPSEAL_INVALID_ARGUMENT: out is not in the memory of one GPU of the engine.
 * WARPSEAL_NO_DEVICE: the engine has no GPU, or it is lost.
 * Other parameters and errors: as warpseal_reader_read_at. */
WARPSEAL_API warpseal_status warpseal_reader_read_at_device(const warpseal_reader* reader,
                                                            uint64_t offset, void* out,
                                                            size_t bytes, void* stream,
                                                            size_t* out_bytes,
                                                            warpseal_file_result* result);

/* Opens a sealed file, or `bytes` bytes of its text from `offset` on, into device memory. The end
 * of the file is verified first, then the chunks of the range.
 * in_fd: a regular file, read from its current position, which is not moved.
 * options: as for warpseal_reader_open. out, out_bytes: as for warpseal_reader_read_at_device.
 * result: may be null. result->plaintext_bytes: those of the whole text, also where the range is
 * less. To know them before: warpseal_file_info_read, or a reader.
 * Errors: as warpseal_reader_open and warpseal_reader_read_at_device. */
WARPSEAL_API warpseal_status warpseal_file_open_device(warpseal_engine* engine, int in_fd,
                                                       const warpseal_file_options* options,
                                                       uint64_t offset, void* out, size_t bytes,
                                                       void* stream, size_t* out_bytes,
                                                       warpseal_file_result* result);

/* Seals text in device memory to out_fd, from its current position. `in` must not change meanwhile.
 * in: may be null for 0 bytes. options, result, errors: as for warpseal_file_seal.
 * After a failure the output is a prefix of a file and must be dropped.
 * WARPSEAL_INVALID_ARGUMENT: in is not in the memory of one GPU of the engine.
 * WARPSEAL_NO_DEVICE: the engine has no GPU, or it is lost. */
WARPSEAL_API warpseal_status warpseal_file_seal_device(warpseal_engine* engine, const void* in,
                                                       size_t bytes, void* stream, int out_fd,
                                                       const warpseal_file_options* options,
                                                       warpseal_file_result* result);

#ifdef __cplusplus
}
#endif
#endif
