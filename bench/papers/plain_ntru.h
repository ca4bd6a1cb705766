// NTRU on one core as P4 measures the submission's code: products term by term, a network that
// sorts, one hash after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace warpseal::papers {

// Of ntruhps4096821, the paper's set. The text is the ladder's, run by one thread.
class PlainNtru {
public:
    PlainNtru();
    ~PlainNtru();

    // Item i draws coins of its own.
    void encapsulate(uint64_t item, const uint8_t* public_key, uint8_t* ciphertext,
                     uint8_t* secret);
    void decapsulate(const uint8_t* ciphertext, const uint8_t* secret_key, uint8_t* secret);
    static void draw_coins(uint64_t item, std::span<uint8_t> coins);

    // What its operations are made of, each with whatever lies there from the last call.
    struct Part {
        const char* name;  // as in the paper's table 5
        bool encapsulates;
        int calls;  // in an operation
        void (*run)(PlainNtru&);
    };
    static std::span<const Part> parts();

private:
    struct Memory;
    const std::unique_ptr<Memory> memory_;
};

}  // namespace warpseal::papers
