// NTRU of tests/reference for programs in other languages: one request per line on standard input,
// one answer per line, all bytes in hexadecimal.
//
//   sizes SET                               public key, ciphertext, coins of a pair, coins of an
//                                           encapsulation, spare bits
//   keypair SET COINS                       public key, secret key; or `none`, where these coins
//   give
//                                           no pair
//   encapsulate SET COINS PUBLIC            ciphertext, secret
//   decapsulate SET CIPHERTEXT SECRET       secret
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "reference/ntru.h"

namespace {

using reference::Ntru;
using reference::Text;

Text bytes_of(std::istream& words) {
    std::string word;
    words >> word;
    Text out;
    for (size_t i = 0; i + 1 < word.size(); i += 2)
        out.push_back(static_cast<uint8_t>(std::stoi(word.substr(i, 2), nullptr, 16)));
    return out;
}

Text bytes_of(std::istream& words, size_t wanted) {
    Text out = bytes_of(words);
    if (out.size() != wanted) throw std::invalid_argument("wrong length");
    return out;
}

std::string hexadecimal(const Text& bytes) {
    std::string out;
    for (const uint8_t byte : bytes) {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

std::string answer(std::istream& words) {
    std::string what, set;
    words >> what >> set;
    const Ntru ntru(set);
    std::ostringstream out;
    if (what == "sizes") {
        out << ntru.public_key_bytes() << ' ' << ntru.ciphertext_bytes() << ' '
            << ntru.keypair_coins() << ' ' << ntru.encapsulation_coins() << ' '
            << ntru.spare_bits();
    } else if (what == "keypair") {
        const auto keys = ntru.keypair(bytes_of(words, ntru.keypair_coins()));
        if (!keys) return "none";
        out << hexadecimal(keys->public_key) << ' ' << hexadecimal(keys->secret_key);
    } else if (what == "encapsulate") {
        const Text coins = bytes_of(words, ntru.encapsulation_coins());
        const auto both = ntru.encapsulate(coins, bytes_of(words, ntru.public_key_bytes()));
        out << hexadecimal(both.ciphertext) << ' ' << hexadecimal(both.secret);
    } else if (what == "decapsulate") {
        const Text ciphertext = bytes_of(words, ntru.ciphertext_bytes());
        out << hexadecimal(ntru.decapsulate(ciphertext, bytes_of(words, ntru.secret_key_bytes())));
    } else {
        throw std::invalid_argument("no such request");
    }
    return out.str();
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        try {
            std::cout << answer(words) << std::endl;
        } catch (const std::exception& wrong) {
            std::cout << "error " << wrong.what() << std::endl;
        }
    }
}
