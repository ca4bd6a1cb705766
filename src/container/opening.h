// The start of a sealed file: checks the options of a call, reads the header, and derives the key
// of the chunks.
#pragma once

#include <functional>

#include "container/header/header.h"

namespace warpseal::container {

// Reads up to `bytes` bytes at an offset of the file. `got` is less only where the file ends.
using ReadAt = std::function<warpseal_status(uint64_t offset, void* out, size_t bytes, size_t& got,
                                             Fault& fault)>;

inline bool is_bare(const warpseal_file_options& options) {
    return options.format == WARPSEAL_FORMAT_COBBLESTONE;
}
inline Bytes secret_bytes(const warpseal_file_options& options, size_t i) {
    return {static_cast<const uint8_t*>(options.secrets[i].bytes), options.secrets[i].byte_count};
}
inline Bytes context_of(const warpseal_file_options& options) {
    return {static_cast<const uint8_t*>(options.context), options.context_bytes};
}

// A recipient seals and an identity opens. Other secrets do both.
enum class SecretUse : uint8_t { seal, open };

// Checks format, secrets and context, which sealing and opening have in common.
warpseal_status check_options(const warpseal_file_options& options, SecretUse use, Fault& fault);
// Checks type and content of a secret for key slots.
warpseal_status check_secret(const warpseal_secret& secret, SecretUse use, Fault& fault);

// Reads the first block and both header copies.
warpseal_status read_header(const ReadAt& read, Header& header, Fault& fault);

struct Opened {
    const Suite* suite = nullptr;
    PayloadKey payload;
    Secret<hmac_bytes> journal_key;
    uint64_t head_bytes = 0;  // offset of the first chunk; after a failure, the bytes read
    bool header_copies_differ = false;
};

// Reads the head of the payload, which begins at out.head_bytes, and adds what was read to these.
warpseal_status read_payload_head(const ReadAt& read, Opened& out, uint8_t head[payload_head_bytes],
                                  Fault& fault);

// Reads everything before the chunks: steps 1 to 5 of docs/file-format.md. `keys` of a run
// may be null.
warpseal_status open_head(Engine& engine, const warpseal_file_options& options, const ReadAt& read,
                          Opened& out, Fault& fault, SlotKeys* keys = nullptr);

// Returns the text length of a payload whose chunks take `bytes` bytes; UINT64_MAX if no payload
// has that length.
inline uint64_t text_bytes_of(uint64_t bytes) {
    const uint64_t rest = bytes % chunk_bytes;
    return rest < tag_bytes ? UINT64_MAX
                            : bytes / chunk_bytes * chunk_text_bytes + rest - tag_bytes;
}

}  // namespace warpseal::container
