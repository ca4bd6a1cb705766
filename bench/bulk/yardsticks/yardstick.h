// Libraries that ours is measured beside, behind one interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/bulk/reference.h"

namespace warpseal::bench {

// A library's cipher in one mode and direction, with a key. One thread uses it at a time.
class YardstickCipher : public Reference {
public:
    // `library` is the name that --against has. `cipher_name` is the library's name for the cipher,
    // with the mode: "CAMELLIA128-ctr".
    YardstickCipher(const BenchCase& what, std::string library, std::string cipher_name)
        : what_(what), library_(std::move(library)), cipher_name_(std::move(cipher_name)) {}
    // Cuts XTS into data units, and compares a MAC in the verifying direction.
    bool run(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
             uint8_t* tag) override;
    std::string name() const override { return library_ + " " + cipher_name_; }
    const std::string& cipher_name() const { return cipher_name_; }

protected:
    // Processes one message or data unit in modes that have output.
    virtual bool run_message(const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes,
                             uint8_t* tag) = 0;
    // Writes the MAC of one message, what_.tag_bytes() long.
    virtual bool run_mac(const uint8_t* in, size_t bytes, uint8_t* tag) = 0;
    const BenchCase what_;

private:
    const std::string library_, cipher_name_;
};

class YardstickLibrary {
public:
    virtual ~YardstickLibrary() = default;
    virtual std::string version() const = 0;
    // Returns why ciphers may be lacking that the library has elsewhere, or an empty string.
    virtual std::string limits() const { return ""; }
    // Returns the cipher with `key` set, or null if the library lacks the cipher or the mode.
    // Throws Failure if the library has it and does not take the key.
    virtual std::unique_ptr<YardstickCipher> find(const BenchCase& what,
                                                  const std::vector<uint8_t>& key) const = 0;
};

// Names that --against takes, in the order of the help.
std::vector<std::string> yardstick_names();
// Returns why `text` is no NAME or NAME=PATH of a yardstick, or an empty string.
std::string check_yardstick(const std::string& text);
// Opens each NAME or NAME=PATH. An absent library without a path is returned with its reason.
// Throws Failure if a path does not load, a function is missing, the version is too old, or a name
// is there twice.
std::vector<Yardstick> open_yardsticks(const std::vector<std::string>& texts);

// Each opens one library from `path`, or from the files where it normally is if `path` is empty.
// Throws LibraryAbsent and Failure.
std::shared_ptr<const YardstickLibrary> open_linked_openssl();
std::shared_ptr<const YardstickLibrary> open_openssl_3_5(const std::string& path);
std::shared_ptr<const YardstickLibrary> open_libgcrypt(const std::string& path);
std::shared_ptr<const YardstickLibrary> open_botan(const std::string& path);

}  // namespace warpseal::bench
