// `warpseal raw`: data without a container, under a given key and IV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command.h"
#include "output.h"

namespace warpseal::cli {

struct RawJob {
    std::string name;  // "aes-256-ctr"
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    bool encrypt = true;
    bool padding = false;     // CBC
    uint64_t unit_bytes = 0;  // XTS
    std::vector<uint8_t> iv;
    uint64_t most_blocks = UINT64_MAX;  // that this key may encrypt in this call
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    const char* verb() const { return encrypt ? "encrypt" : "decrypt"; }
};

// Bytes that a call needs all at once. A regular file is mapped from its position on; anything else is read into memory, up to held_most.
class WholeInput {
public:
    static constexpr uint64_t held_most = uint64_t{1} << 30;
    WholeInput(int descriptor, const std::string& shown);
    ~WholeInput();
    WholeInput(const WholeInput&) = delete;
    WholeInput& operator=(const WholeInput&) = delete;
    const uint8_t* data() const { return data_; }
    size_t size() const { return size_; }

private:
    void map(int descriptor, uint64_t position, uint64_t end, const std::string& shown);
    void read(int descriptor, const std::string& shown);
    void* mapping_ = nullptr;
    bool held_ = false;  // in memory of our own
    size_t mapped_ = 0;
    const uint8_t* data_ = nullptr;
    size_t size_ = 0;
};

// Throws Failure with the words and the exit code for a call that did not succeed.
void require_raw(const RawJob& job, warpseal_status status);
// Throws Failure where that many bytes of plaintext are more blocks than the key may encrypt.
void require_within_limit(const RawJob& job, uint64_t bytes);

// Modes without a tag: piece by piece, in bounded memory.
void run_raw_pieces(const RawJob& job, warpseal_engine* engine, const warpseal_key* key, int input, int output);
// GCM and CCM, the tag after the ciphertext: a file is written where it lies, what goes to a stream is held until it is whole.
void run_raw_whole(const RawJob& job, const warpseal_key* key, const WholeInput* aad, int input, Output& output);

// Writes all of it. Throws Failure.
void write_whole(int output, const uint8_t* data, size_t bytes);

}  // namespace warpseal::cli
