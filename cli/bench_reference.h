// What a measured output is compared with: OpenSSL's mode, or its block cipher through a slow mode
// of ours, or another of our targets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench.h"

namespace warpseal::cli {

constexpr size_t bench_tag_stride = 16;
constexpr size_t bench_nonce_bytes = 12;

// The IV of a mode as the bench uses it: 12 bytes for GCM and CCM, the number of a data unit for
// XTS, block_bytes else, 0 for ECB and CMAC.
size_t bench_iv_bytes(const BenchCase& what);

class Reference {
public:
    virtual ~Reference() = default;
    virtual bool set_key(const uint8_t* key) = 0;
    // One message. With a tag: writes it when sealing, checks it when opening. False: it failed, or
    // the tag is wrong.
    virtual bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                     uint8_t* tag) = 0;
    virtual std::string name()
        const = 0;  // "openssl aria-128-ctr", "openssl aria-128-ecb, block by block", "portable"
};

// The first of the three that can be had. `device` is what is measured: the third is another target
// than that, if there is one. Throws BenchWrong.
std::unique_ptr<Reference> make_reference(const BenchCase& what, const std::vector<uint8_t>& key,
                                          const std::string& device);
// The cores' best target: for a GPU's outputs that are too long to ask OpenSSL for. Throws
// BenchWrong.
std::unique_ptr<Reference> make_quick_reference(const BenchCase& what,
                                                const std::vector<uint8_t>& key);

}  // namespace warpseal::cli
