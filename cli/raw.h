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
    uint64_t most_blocks = UINT64_MAX;  // that one call may encrypt
    bool aead() const { return mode == WARPSEAL_GCM || mode == WARPSEAL_CCM; }
    const char* verb() const { return encrypt ? "encrypt" : "decrypt"; }
};

// What leaves the program, with an eye on whether it can be taken back.
class RawOutput {
public:
    explicit RawOutput(Output& output) : output_(output) {}
    // All of it. Throws Failure.
    void write(const uint8_t* data, size_t bytes);
    // Throws Failure if a signal asked the program to stop, and says whether something went out.
    void heed_interrupt() const;

private:
    Output& output_;
    bool gone_ = false;
};

// How many bytes came, up to `most`; 0: the input ended. Throws Failure, also if a signal asked the
// program to stop.
size_t read_some(int input, uint8_t* to, size_t most, const std::string& shown,
                 const RawOutput& output);

// Bytes that a call needs all at once, read into private memory, from the descriptor's position to
// its end: a mapped file could be changed by others between the look at its tag and the release of
// its text, or be cut short. What is no regular file has at most held_most.
class WholeInput {
public:
    static constexpr uint64_t held_most = uint64_t{1} << 30;
    // With room for `more` bytes after it.
    WholeInput(int descriptor, const std::string& shown, size_t more, const RawOutput& output);
    ~WholeInput();
    WholeInput(const WholeInput&) = delete;
    WholeInput& operator=(const WholeInput&) = delete;
    uint8_t* data() const { return data_; }
    size_t size() const { return size_; }

private:
    WholeInput(uint64_t known, size_t more, const std::string& shown);
    void read(int descriptor, const std::string& shown, const RawOutput& output);
    uint64_t known_;  // length of a regular file; 0: not known
    size_t capacity_;
    uint8_t* data_ = nullptr;
    size_t size_ = 0;
};

// Throws Failure with the words and the exit code for a call that did not succeed.
void require_raw(const RawJob& job, warpseal_status status);
// Throws Failure where that many bytes of plaintext are more blocks than one call may encrypt.
void require_within_limit(const RawJob& job, uint64_t bytes);

// Modes without a tag: piece by piece, in bounded memory.
void run_raw_pieces(const RawJob& job, warpseal_engine* engine, const warpseal_key* key, int input,
                    RawOutput& output);
// GCM and CCM, the tag after the ciphertext: in memory, and nothing is written before the tag is
// known.
void run_raw_whole(const RawJob& job, const warpseal_key* key, const WholeInput* aad, int input,
                   RawOutput& output);

}  // namespace warpseal::cli
