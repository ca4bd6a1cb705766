#include "bindings/aead_batch.h"

#include <memory>
#include <vector>

#include "bindings/buffer.h"
#include "bindings/calls.h"
#include "bindings/errors.h"
#include "warpseal/error.h"

namespace nb = nanobind;

namespace warpseal::python {
namespace {

constexpr uint64_t batch_release_bytes = 1024;  // such a batch runs without the GIL
constexpr uint32_t nonce_bytes = 12;

bool is_array(nb::handle object) {
    return PyObject_CheckBuffer(object.ptr()) != 0 || nb::hasattr(object, "__dlpack_device__");
}

// Buffers of a sequence, in place until the end of the call.
class Buffers {
public:
    Buffers(nb::handle sequence, const char* name) {
        if (is_array(sequence)) {
            PyErr_Format(PyExc_TypeError, "%s: a sequence of bytes-like objects is needed", name);
            throw nb::python_error();
        }
        for (const nb::handle item : sequence) {
            objects_.push_back(nb::borrow(item));  // an iterator may hold its items no longer
            all_.push_back(std::make_unique<InputBuffer>(item, name));
            bytes_ += all_.back()->size();
        }
    }
    size_t size() const { return all_.size(); }
    const InputBuffer& operator[](size_t i) const { return *all_[i]; }
    uint64_t bytes() const { return bytes_; }

private:
    std::vector<nb::object> objects_;
    std::vector<std::unique_ptr<InputBuffer>> all_;
    uint64_t bytes_ = 0;
};

void check_count(const char* name, size_t count, size_t expected, const char* of) {
    if (count != expected)
        throw_value_error("%s has %zu items, and %s has %zu: give one for each message", name,
                          count, of, expected);
}

// Associated data: none, one buffer for all messages, or one for each.
class AssociatedData {
public:
    AssociatedData(nb::handle object, size_t count, const char* of) {
        if (object.is_none()) return;
        if (is_array(object)) {
            shared_ = std::make_unique<InputBuffer>(object, "associated_data");
            return;
        }
        each_ = std::make_unique<Buffers>(object, "associated_data");
        check_count("associated_data", each_->size(), count, of);
    }
    // count: of the messages that follow by add(), which are all if `each` messages are used.
    void add(size_t i) {
        if (!each_) return;
        pointers_.push_back((*each_)[i].data());
        lengths_.push_back((*each_)[i].size());
    }
    void put(warpseal_scattered_batch& batch) const {
        if (shared_) {
            batch.batch.aad = shared_->data();
            batch.batch.aad_bytes = shared_->size();
        } else if (each_) {
            batch.aad_pointers = pointers_.data();
            batch.aad_lengths = lengths_.data();
        }
    }

private:
    std::unique_ptr<InputBuffer> shared_;
    std::unique_ptr<Buffers> each_;
    std::vector<const uint8_t*> pointers_;
    std::vector<uint64_t> lengths_;
};

warpseal_scattered_batch batch_of(const AeadBatchKey& key, std::vector<int32_t>& statuses,
                                  const std::vector<uint64_t>& lengths) {
    warpseal_scattered_batch batch = {};
    batch.batch.struct_bytes = sizeof batch;
    batch.batch.iv_bytes = nonce_bytes;
    batch.batch.tag_bytes = static_cast<uint32_t>(key.tag_bytes);
    batch.batch.message_count = lengths.size();
    batch.batch.lengths = lengths.data();
    statuses.assign(lengths.size(), WARPSEAL_OK);
    batch.batch.statuses = statuses.data();
    return batch;
}

// Runs a call without the GIL. Throws for all but messages that do not verify.
template <class Call>
void run(uint64_t bytes, Call call) {
    const warpseal_status status = without_gil(bytes >= batch_release_bytes, call);
    if (status != WARPSEAL_OK && status != WARPSEAL_NOT_AUTHENTIC)
        throw_status(status, warpseal_last_error_message());
}

// Integers of a sequence or array.
std::vector<uint64_t> integers(nb::handle object, const char* name) {
    std::vector<uint64_t> out;
    for (const nb::handle item : object) {
        const nb::object index = nb::steal(PyNumber_Index(item.ptr()));
        if (!index.is_valid()) throw nb::python_error();
        const unsigned long long value = PyLong_AsUnsignedLongLong(index.ptr());
        if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            throw_value_error("%s[%zu]: an offset is 0 or more, and at most 2^64 - 1", name,
                              out.size());
        }
        out.push_back(value);
    }
    return out;
}

// Records in one buffer, whose parts all lie in it.
class Records {
public:
    Records(const AeadBatchKey& key, const RecordArguments& arguments)
        : buf_(arguments.buf, "buf"),
          nonces_(integers(arguments.nonces, "nonces")),
          data_(integers(arguments.data, "data")),
          lengths_(integers(arguments.lengths, "lengths")),
          tags_(integers(arguments.tags, "tags")),
          aad_(arguments.associated_data, data_.size(), "data") {
        check_count("nonces", nonces_.size(), data_.size(), "data");
        check_count("lengths", lengths_.size(), data_.size(), "data");
        check_count("tags", tags_.size(), data_.size(), "data");
        for (size_t i = 0; i < data_.size(); ++i) {
            check_inside("nonces", i, nonces_[i], nonce_bytes);
            check_inside("data", i, data_[i], lengths_[i]);
            check_inside("tags", i, tags_[i], key.tag_bytes);
            bytes_ += lengths_[i];
            aad_.add(i);
        }
    }
    warpseal_scattered_batch batch(const AeadBatchKey& key) {
        warpseal_scattered_batch batch = batch_of(key, statuses_, lengths_);
        batch.batch.in = batch.batch.out = batch.batch.tags = buf_.data();
        batch.batch.in_offsets = batch.batch.out_offsets = data_.data();
        batch.iv_offsets = nonces_.data();
        batch.tag_offsets = tags_.data();
        aad_.put(batch);
        return batch;
    }
    uint8_t* memory() const { return buf_.data(); }
    uint64_t bytes() const { return bytes_; }
    nb::list failed() const {
        nb::list out;
        for (size_t i = 0; i < statuses_.size(); ++i)
            if (statuses_[i] != WARPSEAL_OK) out.append(i);
        return out;
    }

private:
    void check_inside(const char* name, size_t i, uint64_t offset, uint64_t bytes) const {
        if (offset > buf_.size() || bytes > buf_.size() - offset)
            throw_value_error("%s[%zu]: %llu bytes at %llu end past the %zu bytes of buf", name, i,
                              static_cast<unsigned long long>(bytes),
                              static_cast<unsigned long long>(offset), buf_.size());
    }

    const OutputBuffer buf_;
    const std::vector<uint64_t> nonces_, data_, lengths_, tags_;
    AssociatedData aad_;
    std::vector<int32_t> statuses_;
    uint64_t bytes_ = 0;
};

}  // namespace

nb::list seal_batch(const AeadBatchKey& key, nb::handle data, nb::handle associated_data) {
    const Buffers texts(data, "data");
    AssociatedData aad(associated_data, texts.size(), "data");
    std::vector<nb::object> sealed;
    std::vector<const uint8_t*> in;
    std::vector<uint8_t*> nonces, out, tags;
    std::vector<uint64_t> lengths;
    for (size_t i = 0; i < texts.size(); ++i) {
        const size_t bytes = texts[i].size(), more = nonce_bytes + key.tag_bytes;
        if (bytes > static_cast<size_t>(PY_SSIZE_T_MAX) - more)
            throw_status(WARPSEAL_LIMIT_EXCEEDED);
        sealed.push_back(new_bytes(bytes + more));
        nonces.push_back(memory_of(sealed.back()));
        out.push_back(nonces.back() + nonce_bytes);
        tags.push_back(out.back() + bytes);
        in.push_back(texts[i].data());
        lengths.push_back(bytes);
        aad.add(i);
    }
    std::vector<int32_t> statuses;
    warpseal_scattered_batch batch = batch_of(key, statuses, lengths);
    batch.in_pointers = in.data();
    batch.out_pointers = out.data();
    batch.iv_pointers = nonces.data();
    batch.tag_pointers = tags.data();
    aad.put(batch);
    run(texts.bytes(),
        [&] { return warpseal_seal_batch(key.key, key.mode, &batch.batch, nullptr); });
    nb::list result;
    for (const nb::object& one : sealed) result.append(one);
    return result;
}

nb::list open_batch(const AeadBatchKey& key, nb::handle sealed, nb::handle associated_data) {
    const Buffers messages(sealed, "sealed");
    AssociatedData aad(associated_data, messages.size(), "sealed");
    std::vector<nb::object> opened(messages.size());
    std::vector<size_t> numbers;  // of the messages that are long enough
    std::vector<const uint8_t*> in;
    std::vector<uint8_t*> nonces, out, tags;
    std::vector<uint64_t> lengths;
    for (size_t i = 0; i < messages.size(); ++i) {
        if (messages[i].size() < nonce_bytes + key.tag_bytes) continue;
        const size_t bytes = messages[i].size() - nonce_bytes - key.tag_bytes;
        numbers.push_back(i);
        opened[i] = new_bytes(bytes);
        auto* const message = const_cast<uint8_t*>(messages[i].data());  // only read
        nonces.push_back(message);
        in.push_back(message + nonce_bytes);
        tags.push_back(message + nonce_bytes + bytes);
        out.push_back(memory_of(opened[i]));
        lengths.push_back(bytes);
        aad.add(i);
    }
    std::vector<int32_t> statuses;
    warpseal_scattered_batch batch = batch_of(key, statuses, lengths);
    batch.in_pointers = in.data();
    batch.out_pointers = out.data();
    batch.iv_pointers = nonces.data();
    batch.tag_pointers = tags.data();
    aad.put(batch);
    if (!numbers.empty())
        run(messages.bytes(), [&] { return warpseal_open_batch(key.key, key.mode, &batch.batch); });
    for (size_t k = 0; k < numbers.size(); ++k)
        if (statuses[k] != WARPSEAL_OK) opened[numbers[k]].reset();
    nb::list result;
    for (const nb::object& one : opened) result.append(one.is_valid() ? one : nb::none());
    return result;
}

void seal_records(const AeadBatchKey& key, const RecordArguments& arguments) {
    Records records(key, arguments);
    const warpseal_scattered_batch batch = records.batch(key);
    run(records.bytes(),
        [&] { return warpseal_seal_batch(key.key, key.mode, &batch.batch, records.memory()); });
}

nb::list open_records(const AeadBatchKey& key, const RecordArguments& arguments) {
    Records records(key, arguments);
    warpseal_scattered_batch batch = records.batch(key);
    batch.batch.ivs = records.memory();
    run(records.bytes(), [&] { return warpseal_open_batch(key.key, key.mode, &batch.batch); });
    return records.failed();
}

}  // namespace warpseal::python
