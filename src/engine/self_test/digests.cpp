// Finds the digests of a cipher in the table.
#include "engine/self_test/digests.h"

#include <cstring>

#include "engine/self_test/digest_table.h"

namespace warpseal {

const CipherDigests* stored_digests(const char* cipher) {
    for (const CipherDigests& row : digest_table)
        if (std::strcmp(row.cipher, cipher) == 0) return &row;
    return nullptr;
}

}  // namespace warpseal
