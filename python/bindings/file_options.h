// The options of file calls from Python arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "bindings/buffer.h"
#include "bindings/errors.h"

namespace warpseal::python {

// Keeps the memory of the arguments in place, without a copy of a secret.
class FileOptions {
public:
    // key, passphrase, context: buffers or None. cobblestone: that format instead of our own.
    // Throws ValueError without any secret.
    FileOptions(nanobind::handle key_argument, nanobind::handle passphrase_argument,
                nanobind::handle context_argument, bool cobblestone)
        : key_(key_argument, "key"),
          passphrase_(passphrase_argument, "passphrase"),
          context_(context_argument, "context") {
        if (!key_argument.is_none())
            secrets_.push_back({WARPSEAL_SECRET_KEY, key_.data(), key_.size()});
        if (!passphrase_argument.is_none())
            secrets_.push_back(
                {WARPSEAL_SECRET_PASSPHRASE, passphrase_.data(), passphrase_.size()});
        if (secrets_.empty()) throw_value_error("give a key or a passphrase");
        options_.struct_bytes = sizeof options_;
        options_.format = cobblestone ? WARPSEAL_FORMAT_COBBLESTONE : WARPSEAL_FORMAT_WARPSEAL;
        options_.secrets = secrets_.data();
        options_.secret_count = secrets_.size();
        if (!context_argument.is_none()) {
            options_.context = context_.data();
            options_.context_bytes = context_.size();
        }
    }

    warpseal_file_options& operator*() { return options_; }

private:
    const OptionalBuffer key_, passphrase_, context_;
    std::vector<warpseal_secret> secrets_;
    warpseal_file_options options_ = {};
};

}  // namespace warpseal::python
