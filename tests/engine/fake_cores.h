// Ciphers on the cores with one function broken, and machines with other targets than this one.
#pragma once

#include "backends/cipher_backend.h"

namespace tests {

// The broken function of a cipher on the cores: only its outputs are wrong.
enum class Break {
    nothing,
    expand,
    sweep,
    xts,
    gcm_begin,
    gcm_segment,
    gcm_combine,
    gcm_finish,
    batch_text,
    batch_tag,
    batch_count,
    known_answer
};
inline constexpr Break breaks[] = {
    Break::expand,      Break::sweep,      Break::xts,        Break::gcm_begin, Break::gcm_segment,
    Break::gcm_combine, Break::gcm_finish, Break::batch_text, Break::batch_tag, Break::batch_count};

// Makes machine_cipher(target, name) broken in that function for aes-256, one mode and direction;
// every other target is intact. Descriptors are new: they have no self-test results, as in a new
// process.
void break_cores(warpseal::Target target, Break what, warpseal_mode mode,
                 warpseal::Direction direction);
void break_all_cores(Break what, warpseal_mode mode, warpseal::Direction direction);
void mend_cores();

// A machine with every CPU target. All run the better of this machine's portable and AES-NI.
const warpseal::CpuCipher* machine_cipher(warpseal::Target target, const char* name);
bool machine_has(warpseal::Target target);
// A machine without AES instructions.
bool portable_alone(warpseal::Target target);

// aes-256 that reports keys of equal bytes as weak, like DES.
const warpseal::CpuCipher* choosy_cipher(warpseal::Target target, const char* name);

}  // namespace tests
