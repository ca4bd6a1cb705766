// A key of the library together with its engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bindings/engine.h"

namespace warpseal::python {

class Key {
public:
    // Creates a key for one cipher by its name, "aes-256". xts: for XTS alone, of twice the bytes.
    Key(EngineHandle engine, const char* cipher, const uint8_t* key, size_t bytes,
        bool xts = false);
    ~Key() { warpseal_key_destroy(key_); }
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    const warpseal_key* get() const { return key_; }

private:
    EngineHandle engine_;  // outlives the key
    warpseal_key* key_ = nullptr;
};

// Bytes from the operating system's random source.
nanobind::bytes random_bytes(size_t bytes);

}  // namespace warpseal::python
