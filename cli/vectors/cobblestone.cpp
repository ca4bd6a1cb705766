// C2SP chunked-encryption vectors (c2sp.org/chunked-encryption), through files, pipes and, for
// single chunks, the batch calls.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "cli/vectors/vectors.h"

namespace warpseal::cli {
namespace {

constexpr size_t salt_bytes = 24, commitment_bytes = 32,
                 header_bytes = salt_bytes + commitment_bytes;
constexpr size_t cobblestone_chunk_bytes = 16384, tag_bytes = 16, nonce_bytes = 12;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {
        require(fd >= 0, std::string("opening a descriptor: ") + std::strerror(errno));
    }
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

private:
    int fd_;
};

void write_all(int fd, const Octets& bytes) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return;  // The reader closed the pipe.
        done += static_cast<size_t>(wrote);
    }
}

Octets read_all(int fd) {
    Octets all, buffer(1 << 16);
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return all;
        all.insert(all.end(), buffer.begin(), buffer.begin() + got);
    }
}

struct Opened {
    warpseal_status status;
    uint64_t plaintext_bytes;
    Octets released;
};

struct Sealed {
    Octets key, context;

    warpseal_file_options options(warpseal_secret& secret) const {
        secret = {WARPSEAL_SECRET_KEY, key.data(), key.size()};
        warpseal_file_options options{};
        options.struct_bytes = sizeof options;
        options.format = WARPSEAL_FORMAT_COBBLESTONE;
        options.secrets = &secret;
        options.secret_count = 1;
        options.context = context.data();
        options.context_bytes = context.size();
        return options;
    }
};

using FileCall = decltype(&warpseal_file_open);

Opened call_on_files(Tested& tested, FileCall call, const Sealed& sealed, const Octets& in,
                     const char* suite = nullptr) {
    Descriptor from(memfd_create("in", MFD_CLOEXEC)), to(memfd_create("out", MFD_CLOEXEC));
    write_all(from.get(), in);
    require(lseek(from.get(), 0, SEEK_SET) == 0, "seeking");
    warpseal_secret secret;
    warpseal_file_options options = sealed.options(secret);
    options.suite = suite;
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    const warpseal_status status = call(tested.engine(), from.get(), to.get(), &options, &result);
    require(lseek(to.get(), 0, SEEK_SET) == 0, "seeking");
    return {status, result.plaintext_bytes, read_all(to.get())};
}

Opened open_through_pipes(Tested& tested, const Sealed& sealed, const Octets& in) {
    int in_pipe[2], out_pipe[2];
    require(pipe2(in_pipe, O_CLOEXEC) == 0, "making a pipe");
    Descriptor from(in_pipe[0]), feed(in_pipe[1]);
    require(pipe2(out_pipe, O_CLOEXEC) == 0, "making a pipe");
    Descriptor drain(out_pipe[0]), to(out_pipe[1]);
    Opened opened{};
    std::thread feeder([&] {
        write_all(feed.get(), in);
        feed.close();
    });
    std::thread drainer([&] { opened.released = read_all(drain.get()); });
    warpseal_secret secret;
    const warpseal_file_options options = sealed.options(secret);
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    opened.status = warpseal_file_open(tested.engine(), from.get(), to.get(), &options, &result);
    opened.plaintext_bytes = result.plaintext_bytes;
    from.close();
    to.close();
    feeder.join();
    drainer.join();
    return opened;
}

warpseal_status verify_only(Tested& tested, const Sealed& sealed, const Octets& in) {
    Descriptor from(memfd_create("in", MFD_CLOEXEC));
    write_all(from.get(), in);
    require(lseek(from.get(), 0, SEEK_SET) == 0, "seeking");
    warpseal_secret secret;
    const warpseal_file_options options = sealed.options(secret);
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    return warpseal_file_open(tested.engine(), from.get(), -1, &options, &result);
}

bool refuses_data(warpseal_status status) {
    return status == WARPSEAL_WRONG_KEY || status == WARPSEAL_NOT_AUTHENTIC ||
           status == WARPSEAL_TRUNCATED || status == WARPSEAL_INVALID_ARGUMENT ||
           status == WARPSEAL_UNSUPPORTED;
}

void require_message(const Opened& opened, const nlohmann::json& row, const std::string& what) {
    require_status(opened.status, WARPSEAL_OK, what);
    require(opened.released.size() == number_field(row, "msgLength"),
            what + ": the message's length");
    require(opened.plaintext_bytes == opened.released.size(),
            what + ": the length that was reported");
    require(digest_hex("SHA512", opened.released.data(), opened.released.size()) ==
                text_field(row, "msgSha512"),
            what + ": the SHA-512");
}

// Checks the output for a broken message on a pipe. It must be a prefix of the longest valid
// prefix, in whole chunks.
void require_prefix(const Octets& released, const nlohmann::json& row) {
    const uint64_t valid_bytes = row.contains("msgLength") ? number_field(row, "msgLength") : 0;
    require(released.size() <= valid_bytes, "more was released than is authentic");
    if (released.size() == valid_bytes && valid_bytes != 0)
        require(
            digest_hex("SHA512", released.data(), released.size()) == text_field(row, "msgSha512"),
            "what was released is not the message");
}

// Opens the chunks of a valid message as a batch under the row's derived key, then seals them again
// to the same bytes.
void check_chunks(Tested& tested, const std::string& cipher_name, const nlohmann::json& row,
                  const Octets& message, const Octets& plaintext) {
    const warpseal_cipher_info cipher = tested.cipher(cipher_name);
    const KeyHandle key = tested.key_or_fail(cipher, hex_field(row, "aeadKey"));
    const Octets base_nonce = hex_field(row, "baseNonce");
    if (base_nonce.size() != nonce_bytes)
        throw RowSkipped("malformed row: baseNonce is not 12 bytes");
    const size_t count = plaintext.size() / cobblestone_chunk_bytes + 1;
    Octets nonces, tags;
    std::vector<uint64_t> lengths, sealed_offsets, plain_offsets;
    for (size_t i = 0; i < count; ++i) {
        nonces.insert(nonces.end(), base_nonce.begin(), base_nonce.end());
        for (size_t byte = 0; byte < 8; ++byte)
            nonces[i * nonce_bytes + nonce_bytes - 1 - byte] ^=
                static_cast<uint8_t>(uint64_t{i} >> (8 * byte));
        lengths.push_back(i + 1 < count ? cobblestone_chunk_bytes
                                        : plaintext.size() % cobblestone_chunk_bytes);
        sealed_offsets.push_back(header_bytes + i * (cobblestone_chunk_bytes + tag_bytes));
        plain_offsets.push_back(i * cobblestone_chunk_bytes);
        const uint8_t* tag = message.data() + sealed_offsets[i] + lengths[i];
        tags.insert(tags.end(), tag, tag + tag_bytes);
    }
    std::vector<int32_t> statuses(count, -1);
    Octets opened(plaintext.size() + 1), sealed(message), fresh_tags(tags.size());
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = nonce_bytes;
    batch.tag_bytes = tag_bytes;
    batch.message_count = count;
    batch.lengths = lengths.data();
    batch.ivs = nonces.data();
    batch.iv_stride = nonce_bytes;
    batch.tag_stride = tag_bytes;
    batch.statuses = statuses.data();

    batch.in = message.data(), batch.in_offsets = sealed_offsets.data();
    batch.out = opened.data(), batch.out_offsets = plain_offsets.data();
    batch.tags = tags.data();
    require_status(warpseal_open_batch(key.get(), WARPSEAL_GCM, &batch), WARPSEAL_OK,
                   "opening the chunks as a batch");
    require_equal(opened.data(), plaintext, "opening the chunks as a batch");

    batch.in = plaintext.data(), batch.in_offsets = plain_offsets.data();
    batch.out = sealed.data(), batch.out_offsets = sealed_offsets.data();
    batch.tags = fresh_tags.data();
    require_status(warpseal_seal_batch_unsafe_iv(key.get(), WARPSEAL_GCM, &batch), WARPSEAL_OK,
                   "sealing the chunks as a batch");
    require(sealed == message, "sealing the chunks as a batch: the ciphertext");
    require(fresh_tags == tags, "sealing the chunks as a batch: the tags");
}

void check_valid(Tested& tested, const std::string& cipher, const nlohmann::json& row,
                 const Sealed& sealed, const Octets& message) {
    const Opened from_file = call_on_files(tested, warpseal_file_open, sealed, message);
    require_message(from_file, row, "opening a file");
    require_message(open_through_pipes(tested, sealed, message), row, "opening through pipes");
    require_status(verify_only(tested, sealed, message), WARPSEAL_OK, "verifying");
    check_chunks(tested, cipher, row, message, from_file.released);

    const std::string suite = cipher + "-gcm";
    const Opened again =
        call_on_files(tested, warpseal_file_seal, sealed, from_file.released, suite.c_str());
    require_status(again.status, WARPSEAL_OK, "sealing anew");
    require(again.released.size() == message.size(), "sealing anew: the length");
    require_message(call_on_files(tested, warpseal_file_open, sealed, again.released), row,
                    "opening what was sealed anew");
}

void check_invalid(Tested& tested, const nlohmann::json& row, const Sealed& sealed,
                   const Octets& message) {
    const auto refused = [](warpseal_status status, const char* what) {
        require(refuses_data(status),
                std::string(what) + " is not refused: " + warpseal_status_text(status));
    };
    refused(call_on_files(tested, warpseal_file_open, sealed, message).status, "a broken file");
    refused(verify_only(tested, sealed, message), "a broken file that is only verified");
    const Opened piped = open_through_pipes(tested, sealed, message);
    refused(piped.status, "a broken message from a pipe");
    require_prefix(piped.released, row);
}

}  // namespace

void check_cobblestone(Tested& tested, const std::string& aead, const nlohmann::json& row) {
    const std::string cipher = aead == "AEAD_AES_128_GCM"   ? "aes-128"
                               : aead == "AEAD_AES_256_GCM" ? "aes-256"
                                                            : "";
    if (cipher.empty()) throw RowSkipped("AEAD " + aead + " is not in this program");
    const Sealed sealed{hex_field(row, "key"), hex_field(row, "ctx")};
    const Octets packed = hex_field(row, "ct");
    Octets message;
    try {
        message = inflate_all(packed.data(), packed.size());
    } catch (const std::runtime_error& why) {
        throw RowSkipped(std::string("malformed row: ct: ") + why.what());
    }
    const std::string result = text_field(row, "result");
    if (result == "valid") return check_valid(tested, cipher, row, sealed, message);
    if (result == "invalid") return check_invalid(tested, row, sealed, message);
    throw RowSkipped("malformed row: result is neither valid nor invalid");
}

}  // namespace warpseal::cli
