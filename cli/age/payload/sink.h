// Output of the age commands.
#pragma once

#include "cli/age/format/bytes.h"
#include "cli/support/stream.h"

namespace warpseal::cli::age {

class Sink {
public:
    virtual ~Sink() = default;
    virtual void write(View bytes) = 0;  // throws Failure
    virtual void finish() {}
};

// Writes to an output and counts the bytes, also those of a write that failed later.
class OutputSink final : public Sink {
public:
    explicit OutputSink(Output& output) : raw_(output) {}
    void write(View bytes) override { raw_.write(bytes.data(), bytes.size()); }
    uint64_t written() const { return raw_.written_bytes(); }

private:
    RawOutput raw_;
};

// Discards its input, for `verify`.
class NoSink final : public Sink {
public:
    void write(View) override {}
};

}  // namespace warpseal::cli::age
