// NTRU on one core as P4 measures the submission's code: schoolbook multiplication, a sorting
// network and single hashes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace warpseal::papers {

// Implements ntruhps4096821, the paper's set, with the ladder's code on one thread.
class PlainNtru {
public:
    PlainNtru();
    ~PlainNtru();

    // Item `item` draws its own coins.
    void encapsulate(uint64_t item, const uint8_t* public_key, uint8_t* ciphertext,
                     uint8_t* secret);
    void decapsulate(const uint8_t* ciphertext, const uint8_t* secret_key, uint8_t* secret);
    static void draw_coins(uint64_t item, std::span<uint8_t> coins);

    // Part of an operation. It runs on the data that the last call left.
    struct Part {
        const char* name;  // as in the paper's table 5
        bool encapsulates;
        int calls;  // number of calls in one operation
        void (*run)(PlainNtru&);
    };
    static std::span<const Part> parts();

private:
    struct Memory;
    const std::unique_ptr<Memory> memory_;
};

}  // namespace warpseal::papers
