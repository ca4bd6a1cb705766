// The options of file calls from Python arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>
#include <memory>
#include <vector>

#include "bindings/buffer.h"
#include "bindings/errors.h"

namespace warpseal::python {

// Secrets from a sequence of pairs: "key", "passphrase", "recipient" or "identity", and a buffer.
// Keeps the memory of the buffers in place, without a copy of a secret.
class SecretList {
public:
    // Throws TypeError and ValueError without any secret.
    explicit SecretList(nanobind::handle pairs) {
        for (nanobind::handle pair : pairs) {
            const auto name = nanobind::cast<const char*>(nanobind::object(pair[0]));
            const warpseal_secret_type type = type_named(name);
            memory_.push_back(std::make_unique<InputBuffer>(nanobind::object(pair[1]), name));
            list_.push_back({type, memory_.back()->data(), memory_.back()->size()});
        }
    }
    const std::vector<warpseal_secret>& list() const { return list_; }

private:
    static warpseal_secret_type type_named(const char* name) {
        if (std::strcmp(name, "key") == 0) return WARPSEAL_SECRET_KEY;
        if (std::strcmp(name, "passphrase") == 0) return WARPSEAL_SECRET_PASSPHRASE;
        if (std::strcmp(name, "recipient") == 0) return WARPSEAL_SECRET_RECIPIENT;
        if (std::strcmp(name, "identity") == 0) return WARPSEAL_SECRET_IDENTITY;
        throw_value_error("there is no secret of type %.20s", name);
    }

    std::vector<std::unique_ptr<InputBuffer>> memory_;
    std::vector<warpseal_secret> list_;
};

class FileOptions {
public:
    // secrets: as of SecretList. context: a buffer or None. cobblestone: that format instead of our
    // own. Throws as SecretList.
    FileOptions(nanobind::handle secrets, nanobind::handle context_argument, bool cobblestone)
        : secrets_(secrets), context_(context_argument, "context") {
        if (secrets_.list().empty()) throw_value_error("give a key or a passphrase");
        options_.struct_bytes = sizeof options_;
        options_.format = cobblestone ? WARPSEAL_FORMAT_COBBLESTONE : WARPSEAL_FORMAT_WARPSEAL;
        options_.secrets = secrets_.list().data();
        options_.secret_count = secrets_.list().size();
        if (!context_argument.is_none()) {
            options_.context = context_.data();
            options_.context_bytes = context_.size();
        }
    }

    warpseal_file_options& operator*() { return options_; }

private:
    const SecretList secrets_;
    const OptionalBuffer context_;
    warpseal_file_options options_ = {};
};

}  // namespace warpseal::python
