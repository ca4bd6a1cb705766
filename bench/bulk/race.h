// Races of `bench auto`: candidates do one call in turn on the same memory, and their outputs must
// match.
#pragma once

#include "bench/bulk/reference_output.h"

namespace warpseal::bench {

// Input and output of a point in "host", "pinned" or "device" memory, with the IV, tag and status
// of a call.
class Ground {
public:
    // `engine` allocates the memory, except for "host".
    Ground(warpseal_engine* engine, const std::string& place, uint64_t bytes);
    ~Ground();
    Ground(const Ground&) = delete;
    Ground& operator=(const Ground&) = delete;

    const std::string& place() const { return place_; }
    bool on_device() const { return place_ == "device"; }
    const uint8_t* in() const { return static_cast<uint8_t*>(in_); }
    uint8_t* out() const { return static_cast<uint8_t*>(out_); }
    uint64_t bytes() const { return bytes_; }
    const uint8_t* iv() const { return small_; }
    uint8_t* tag() const { return small_ + tag_at; }
    int32_t* status() const { return reinterpret_cast<int32_t*>(small_ + status_at); }

    std::vector<uint8_t> input() const;
    std::vector<uint8_t> output() const;  // Returns the current output followed by the tag.
    void spoil();                         // Overwrites the output's first and last bytes.

private:
    static constexpr size_t small_bytes = 256, tag_at = 64, status_at = 128;

    void* allocate(size_t bytes);
    void release(void* memory);
    void put(void* to, const void* from, size_t bytes) const;
    void get(void* to, const void* from, size_t bytes) const;

    warpseal_engine* engine_;
    const std::string place_;
    const uint64_t bytes_;
    void *const in_, *const out_;
    uint8_t* const small_;
};

struct Candidate {
    std::string name;
    warpseal_engine* engine;
    BenchKey key;
    // True if the first calls choose the method. Such a candidate is timed to the end even if it is
    // slow.
    bool learns = false;
    std::vector<double> seconds{};
    bool racing = true;

    void call(const BenchCase& what, const Ground& ground) const;
    double gigabytes_per_second(uint64_t bytes) const;  // Returns the rate of the median time.
};

// Times the candidates and fills their `seconds`.
void race(std::vector<Candidate>& candidates, const BenchCase& what, const Ground& ground);

// Checks that the first candidate's output is right and that all others are equal. Throws
// BenchWrong.
void check_outputs(const std::vector<Candidate>& candidates, const BenchCase& what, Ground& ground);

}  // namespace warpseal::bench
