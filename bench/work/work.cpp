// Operation counts of every cipher of the catalogue, for the bounds on the program's page. The
// program itself includes no cipher source.
#include <vector>

#include "bench/work/count.h"
#include "every_cipher.h"

namespace warpseal::bench {

const CipherWork* cipher_work(const std::string& cipher) {
    static const std::vector<CipherWork> all = [] {
        std::vector<CipherWork> found;
        for_each_cipher(
            [&]<class Cipher>(CipherType<Cipher>) { found.push_back(work::count<Cipher>()); });
        return found;
    }();
    for (const CipherWork& work : all)
        if (cipher == work.cipher) return &work;
    return nullptr;
}

}  // namespace warpseal::bench
