// Helpers for checks of vector rows: fields, keys, comparisons and counts of results.
#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>

#include "cli/support/ciphers.h"
#include "cli/vectors/vectors.h"

namespace warpseal::cli {

void Tally::run(const std::string& row_name, const std::function<void()>& check) {
    constexpr size_t failures_shown = 20;
    try {
        check();
        ++passed;
    } catch (const RowSkipped& why) {
        ++skipped;
        ++reasons[why.what()];
    } catch (const nlohmann::json::exception&) {
        ++skipped;
        ++reasons["malformed row: a field of the wrong type"];
    } catch (const RowFailed& why) {
        ++failed;
        if (failures.size() < failures_shown) failures.push_back(row_name + ": " + why.what());
    }
}

void Tally::add(const Tally& other) {
    passed += other.passed;
    failed += other.failed;
    skipped += other.skipped;
    for (const auto& [reason, count] : other.reasons) reasons[reason] += count;
}

Tested::~Tested() { warpseal_device_free(engine_, device_memory_); }

uint8_t* Tested::device_memory(size_t bytes) {
    if (bytes > device_bytes_) {
        warpseal_device_free(engine_, device_memory_);
        device_memory_ = nullptr;
        device_bytes_ = 0;
        void* memory = nullptr;
        const size_t wanted = std::max<size_t>(bytes, 1 << 20);
        require_status(warpseal_device_alloc(engine_, wanted, &memory), WARPSEAL_OK,
                       "allocating GPU memory");
        device_memory_ = static_cast<uint8_t*>(memory);
        device_bytes_ = wanted;
    }
    return device_memory_;
}

warpseal_cipher_info Tested::cipher(const std::string& name) const {
    warpseal_cipher_info info{};
    for (size_t i = 0; warpseal_cipher_at(i, &info) == WARPSEAL_OK; ++i)
        if (name == info.name) return info;
    throw RowSkipped("cipher " + name + " is not in this program");
}

warpseal_mode Tested::mode(const warpseal_cipher_info& cipher, const std::string& name) const {
    for (const warpseal_mode mode : modes_of(cipher))
        if (name == full_mode_name(cipher, mode)) return mode;
    throw RowSkipped("mode " + name + " of " + cipher.name + " is not in this program");
}

KeyHandle Tested::key_or_fail(const warpseal_cipher_info& cipher, const Octets& bytes) const {
    warpseal_key* key = nullptr;
    require_status(warpseal_key_create(engine_, cipher.name, bytes.data(), bytes.size(), &key),
                   WARPSEAL_OK, "making the key");
    return KeyHandle(key);
}

Octets from_hex(std::string_view text, const char* what) {
    if (text.size() % 2 != 0)
        throw RowSkipped(std::string("malformed row: ") + what +
                         " has an odd number of hex digits");
    Octets bytes(text.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i) {
        const char* digits = text.data() + 2 * i;
        const auto [end, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
        if (error != std::errc() || end != digits + 2)
            throw RowSkipped(std::string("malformed row: ") + what + " is not hex");
    }
    return bytes;
}

std::string text_field(const nlohmann::json& row, const char* name) {
    const auto field = row.find(name);
    if (field == row.end() || !field->is_string())
        throw RowSkipped(std::string("malformed row: no text in ") + name);
    return field->get<std::string>();
}

Octets hex_field(const nlohmann::json& row, const char* name) {
    return from_hex(text_field(row, name), name);
}

Octets hex_field_or_empty(const nlohmann::json& row, const char* name) {
    return row.contains(name) ? hex_field(row, name) : Octets{};
}

uint64_t number_field(const nlohmann::json& row, const char* name) {
    const auto field = row.find(name);
    if (field != row.end() && field->is_number_unsigned()) return field->get<uint64_t>();
    // 64-bit seeds are strings, because many JSON readers lose bits of large numbers.
    uint64_t value = 0;
    if (field != row.end() && field->is_string()) {
        const auto& text = field->get_ref<const std::string&>();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return value;
    }
    throw RowSkipped(std::string("malformed row: no number in ") + name);
}

void require(bool condition, const std::string& what) {
    if (!condition) throw RowFailed(what);
}

void require_status(warpseal_status status, warpseal_status expected, const std::string& what) {
    if (status == expected) return;
    throw RowFailed(what + ": " + warpseal_status_text(status) +
                    (expected == WARPSEAL_OK
                         ? ""
                         : std::string("; expected: ") + warpseal_status_text(expected)));
}

void require_refused(warpseal_status status, const std::string& what) {
    require(status == WARPSEAL_INVALID_ARGUMENT || status == WARPSEAL_LIMIT_EXCEEDED ||
                status == WARPSEAL_UNSUPPORTED,
            what + " is not refused: " + warpseal_status_text(status));
}

void require_equal(const uint8_t* got, const Octets& expected, const std::string& what) {
    const auto [ours, theirs] = std::mismatch(expected.begin(), expected.end(), got);
    if (ours != expected.end())
        throw RowFailed(what + ": differs at byte " + std::to_string(ours - expected.begin()));
}

void require_wiped(const uint8_t* memory, size_t bytes, const std::string& what) {
    require(std::all_of(memory, memory + bytes, [](uint8_t byte) { return byte == 0; }),
            what + ": the output is not wiped");
}

std::string digest_hex(const char* algorithm, const uint8_t* data, size_t bytes) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    size_t digest_bytes = 0;
    if (EVP_Q_digest(nullptr, algorithm, nullptr, data, bytes, digest, &digest_bytes) != 1)
        throw std::runtime_error(std::string("OpenSSL has no ") + algorithm);
    return hexadecimal(digest, digest_bytes);
}

Octets inflate_all(const uint8_t* data, size_t bytes) {
    constexpr int any_header = 15 + 32;  // windowBits of inflateInit2 that detects gzip or zlib
    z_stream stream{};
    if (inflateInit2(&stream, any_header) != Z_OK) throw std::runtime_error("zlib does not start");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
    Octets out, buffer(1 << 18);
    stream.next_in = const_cast<uint8_t*>(data);
    stream.avail_in = static_cast<uInt>(bytes);
    if (stream.avail_in != bytes) throw std::runtime_error("compressed data of 4 GiB or more");
    for (;;) {
        stream.next_out = buffer.data();
        stream.avail_out = static_cast<uInt>(buffer.size());
        const int code = inflate(&stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END)
            throw std::runtime_error("the compressed data is damaged");
        out.insert(out.end(), buffer.begin(), buffer.end() - stream.avail_out);
        if (out.size() > vectors_bytes_most)
            throw Failure(ExitCode::limit_exceeded, "more than the " +
                                                        human_bytes(vectors_bytes_most) +
                                                        " that are read when unpacked.");
        if (code == Z_STREAM_END) {
            if (stream.avail_in == 0) return out;
            // A gzip file may have several members.
            if (inflateReset(&stream) != Z_OK) throw std::runtime_error("zlib does not restart");
        } else if (stream.avail_in == 0 && stream.avail_out != 0) {
            throw std::runtime_error("the compressed data ends too early");
        }
    }
}

}  // namespace warpseal::cli
