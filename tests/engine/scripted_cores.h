// Ciphers on cores with one function broken, and machines that have other targets than this one.
#pragma once

#include "backends/cipher_backend.h"

namespace tests {

// What may be broken in a cipher on cores: the outputs of that function are wrong, and nothing
// else.
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

// From now on machine_cipher(target, name) has that broken for aes-256 in one mode and direction;
// every other target is intact. Descriptors are new: no self-test has seen them, as in a new
// process.
void break_cores(warpseal::Target target, Break what, warpseal_mode mode,
                 warpseal::Direction direction);
void break_all_cores(Break what, warpseal_mode mode, warpseal::Direction direction);
void mend_cores();

// A machine with every CPU target, all of which run what this machine has best among portable and
// AES-NI.
const warpseal::CpuCipher* machine_cipher(warpseal::Target target, const char* name);
bool machine_has(warpseal::Target target);
// A machine without AES instructions.
bool portable_alone(warpseal::Target target);

// aes-256 that calls keys of equal bytes weak, as DES has keys that it is no cipher under.
const warpseal::CpuCipher* choosy_cipher(warpseal::Target target, const char* name);

}  // namespace tests
