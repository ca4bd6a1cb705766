// References for measured outputs: OpenSSL's mode, or another of our targets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/bulk/measure.h"

namespace warpseal::bench {

constexpr size_t bench_tag_stride = 16;
constexpr size_t bench_nonce_bytes = 12;

// Returns the IV length of a mode in the bench: 12 for GCM and CCM, 16 for XTS, 0 for ECB and CMAC,
// otherwise block_bytes.
size_t bench_iv_bytes(const BenchCase& what);

class Reference {
public:
    virtual ~Reference() = default;
    virtual bool set_key(const uint8_t* key) = 0;
    // Processes one message. In modes with a tag, sealing writes it and opening checks it. Returns
    // false on failure or a wrong tag.
    virtual bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                     uint8_t* tag) = 0;
    // Returns e.g. "openssl aria-128-ctr" or "portable".
    virtual std::string name() const = 0;
};

// Returns OpenSSL if it has the mode, otherwise a target that is not `device`, the measured one.
// Each target has passed its self-test. Throws BenchWrong.
std::unique_ptr<Reference> make_reference(const BenchCase& what, const std::vector<uint8_t>& key,
                                          const std::string& device);
// Returns the cores' fastest target, for GPU outputs that are too long for OpenSSL. Throws
// BenchWrong.
std::unique_ptr<Reference> make_quick_reference(const BenchCase& what,
                                                const std::vector<uint8_t>& key);

}  // namespace warpseal::bench
