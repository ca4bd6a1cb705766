// Implements reader.h, and reads of device_file.h.
#include "warpseal/device_file.h"

#include "c_api/files/file_call.h"
#include "c_api/files/slot_keys.h"
#include "container/reader.h"

struct warpseal_reader {
    std::unique_ptr<warpseal::container::Reader> reader;
};

namespace warpseal::c_api {
namespace {

using container::Fault;
using container::Reader;
using container::ReaderInput;

// The caller's result, or one of our own if that is null.
class Result {
public:
    explicit Result(warpseal_file_result* given) : given_(given) {
        own_.struct_bytes = sizeof own_;
    }
    bool right() const { return given_ == nullptr || sized(given_); }
    warpseal_file_result& operator*() { return given_ != nullptr ? *given_ : own_; }

private:
    warpseal_file_result* const given_;
    warpseal_file_result own_ = {};
};

warpseal_status report(const Fault& fault, warpseal_file_result& result) {
    result.system_error = fault.system_error;
    std::memcpy(result.message, fault.message, sizeof result.message);
    return fault.status;
}

const char* wrong_in(int fd) { return fd < 0 ? "in_fd is no descriptor" : ""; }

auto descriptor_input(int fd) {
    return [fd](ReaderInput& source, Fault& fault) {
        return container::input_of_descriptor(fd, source, fault);
    };
}

// input(ReaderInput&, Fault&) returns where the file is read.
template <class Input>
warpseal_status open(warpseal_engine* engine, const char* wrong, Input input,
                     const warpseal_file_options* options, warpseal_reader** out,
                     warpseal_file_result* given, SecretTypes types = SecretTypes::of_interface,
                     container::SlotKeys* keys = nullptr) {
    Result result(given);
    if (out == nullptr) return refuse("out is null");
    *out = nullptr;
    if (!result.right()) return refuse("the struct_bytes of result is too small");
    if (engine == nullptr) wrong = "the engine is null";
    if (*wrong == 0) wrong = wrong_in_options(options, types);
    return reported(*result, wrong, [&] {
        Fault fault;
        ReaderInput source;
        auto made = std::make_unique<warpseal_reader>();
        if (input(source, fault) != WARPSEAL_OK ||
            Reader::open(*engine->engine, std::move(source), *options, made->reader, fault, keys) !=
                WARPSEAL_OK)
            return report(fault, *result);
        (*result).file_bytes = made->reader->file_bytes();
        (*result).plaintext_bytes = made->reader->text_bytes();
        (*result).header_copies_differ = made->reader->header_copies_differ() ? 1 : 0;
        *out = made.release();
        return WARPSEAL_OK;
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_reader_open(warpseal_engine* engine, int in_fd,
                                     const warpseal_file_options* options, warpseal_reader** out,
                                     warpseal_file_result* result) {
    return c_api::open(engine, c_api::wrong_in(in_fd), c_api::descriptor_input(in_fd), options, out,
                       result);
}

warpseal_status warpseal_internal_reader_open(warpseal_engine* engine, int in_fd,
                                              const warpseal_file_options* options,
                                              warpseal_internal_slot_keys* keys,
                                              warpseal_reader** out, warpseal_file_result* result) {
    return c_api::open(engine, c_api::wrong_in(in_fd), c_api::descriptor_input(in_fd), options, out,
                       result, c_api::SecretTypes::all, c_api::keys_of(keys));
}

warpseal_status warpseal_reader_open_callback(warpseal_engine* engine,
                                              warpseal_read_callback read_at, void* user,
                                              uint64_t file_bytes,
                                              const warpseal_file_options* options,
                                              warpseal_reader** out, warpseal_file_result* result) {
    const auto input = [=](container::ReaderInput& source, container::Fault&) {
        source = container::input_of_callback(read_at, user, file_bytes);
        return WARPSEAL_OK;
    };
    return c_api::open(engine, read_at == nullptr ? "read_at is null" : "", input, options, out,
                       result);
}

uint64_t warpseal_reader_size(const warpseal_reader* reader) {
    return reader == nullptr ? 0 : reader->reader->text_bytes();
}

warpseal_status warpseal_reader_read_at(const warpseal_reader* reader, uint64_t offset, void* out,
                                        size_t bytes, size_t* out_bytes,
                                        warpseal_file_result* given) {
    c_api::Result result(given);
    if (out_bytes == nullptr) return refuse("out_bytes is null");
    *out_bytes = 0;
    if (!result.right()) return refuse("the struct_bytes of result is too small");
    const char* const wrong = reader == nullptr              ? "the reader is null"
                              : out == nullptr && bytes != 0 ? "out is null"
                                                             : "";
    return c_api::reported(*result, wrong, [&] {
        container::Fault fault;
        reader->reader->read_at(offset, static_cast<uint8_t*>(out), bytes, *out_bytes,
                                (*result).target, fault);
        (*result).plaintext_bytes = *out_bytes;
        return c_api::report(fault, *result);
    });
}

warpseal_status warpseal_reader_read_at_device(const warpseal_reader* reader, uint64_t offset,
                                               void* out, size_t bytes, void* stream,
                                               size_t* out_bytes, warpseal_file_result* given) {
    c_api::Result result(given);
    if (out_bytes == nullptr) return refuse("out_bytes is null");
    *out_bytes = 0;
    if (!result.right()) return refuse("the struct_bytes of result is too small");
    const char* const wrong = reader == nullptr              ? "the reader is null"
                              : out == nullptr && bytes != 0 ? "out is null"
                                                             : "";
    return c_api::reported(*result, wrong, [&] {
        container::Fault fault;
        reader->reader->read_at_device(offset, static_cast<uint8_t*>(out), bytes, stream,
                                       *out_bytes, (*result).target, fault);
        (*result).plaintext_bytes = *out_bytes;
        return c_api::report(fault, *result);
    });
}

warpseal_status warpseal_file_open_device(warpseal_engine* engine, int in_fd,
                                          const warpseal_file_options* options, uint64_t offset,
                                          void* out, size_t bytes, void* stream, size_t* out_bytes,
                                          warpseal_file_result* given) {
    c_api::Result result(given);
    if (out_bytes == nullptr) return refuse("out_bytes is null");
    *out_bytes = 0;
    warpseal_reader* reader = nullptr;
    warpseal_status status = warpseal_reader_open(engine, in_fd, options, &reader, given);
    if (status != WARPSEAL_OK) return status;
    const warpseal_file_result opened = *result;
    status = warpseal_reader_read_at_device(reader, offset, out, bytes, stream, out_bytes, given);
    if (given != nullptr) {
        given->file_bytes = opened.file_bytes;
        given->plaintext_bytes = warpseal_reader_size(reader);
        given->header_copies_differ = opened.header_copies_differ;
    }
    warpseal_reader_close(reader);
    return status;
}

void warpseal_reader_close(warpseal_reader* reader) {
    const CancellationDisabled disabled;
    delete reader;
}

}  // extern "C"
