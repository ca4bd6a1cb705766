// `warpseal raw`: encrypts data without a container, under a given key and IV.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/support/command.h"
#include "cli/support/output.h"
#include "cli/support/stream.h"

namespace warpseal::cli {

struct RawJob {
    std::string name;  // e.g. "aes-256-ctr"
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    bool encrypt = true;
    bool padding = false;     // CBC only
    uint64_t unit_bytes = 0;  // XTS only
    std::vector<uint8_t> iv;
    uint64_t most_blocks = UINT64_MAX;  // maximum number of blocks that one call may encrypt
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    const char* verb() const { return encrypt ? "encrypt" : "decrypt"; }
};

// Input that a call needs as a whole, read into private memory from the descriptor's position to
// its end. A mapped file could be truncated, or changed between the tag check and the release of
// the plaintext. Input that is no regular file may have at most held_most bytes.
class WholeInput {
public:
    static constexpr uint64_t held_most = uint64_t{1} << 30;
    // Reserves room for `more` bytes after the input.
    WholeInput(int descriptor, const std::string& shown, size_t more, const RawOutput& output);
    ~WholeInput();
    WholeInput(const WholeInput&) = delete;
    WholeInput& operator=(const WholeInput&) = delete;
    uint8_t* data() const { return data_; }
    size_t size() const { return size_; }

private:
    WholeInput(uint64_t known, size_t more, const std::string& shown);
    void read(int descriptor, const std::string& shown, const RawOutput& output);
    uint64_t known_;  // Length of a regular file; 0: unknown.
    size_t capacity_;
    uint8_t* data_ = nullptr;
    size_t size_ = 0;
};

// Throws Failure with the text and exit code of `status` unless it is success.
void require_raw(const RawJob& job, warpseal_status status);
// Throws Failure if `bytes` bytes of plaintext exceed the number of blocks that one call may
// encrypt.
void require_within_limit(const RawJob& job, uint64_t bytes);

// Reads at most `most` bytes and returns their number; 0 means end of input. Throws Failure.
using RawRead = std::function<size_t(uint8_t* to, size_t most)>;

// Processes modes without a tag in chunks, with bounded memory.
void run_raw_chunks(const RawJob& job, warpseal_engine* engine, const warpseal_key* key,
                    const RawRead& read, RawOutput& output);
// Processes GCM and CCM in memory; the tag follows the ciphertext. Writes nothing before the tag is
// computed or checked.
void run_raw_whole(const RawJob& job, const warpseal_key* key, const WholeInput* aad, int input,
                   RawOutput& output);

}  // namespace warpseal::cli
