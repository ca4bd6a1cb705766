// Reads files of `openssl enc`, which are not authenticated.
#include "cli/foreign/openssl.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/foreign/floe.h"
#include "cli/foreign/foreign.h"
#include "cli/raw/raw.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

constexpr char magic[] = "Salted__";
constexpr size_t magic_bytes = 8, header_bytes = magic_bytes + openssl_salt_bytes;
constexpr size_t most_block_bytes = 16;
constexpr char bad_padding[] =
    "no padding came out: the passphrase, --cipher, --digest, --pbkdf2 or --iter is another, the "
    "file was changed, or it was written with -nopad, which `openssl enc -d` reads";

// The file from its start, decoded if it is base64 (RFC 4648) in lines of any length.
class OpensslInput {
public:
    explicit OpensslInput(ForeignJob& job) : job_(job), base64_(job.options().base64) {
        const std::string_view coded = "U2FsdGVkX1";  // "Salted_"
        start_.resize(header_bytes);
        size_t held = 0;
        while (held < header_bytes) {
            const size_t got = job.read(start_.data() + held, header_bytes - held);
            if (got == 0) break;
            held += got;
        }
        start_.resize(held);
        base64_ |=
            held >= coded.size() && std::memcmp(start_.data(), coded.data(), coded.size()) == 0;
        if (!base64_) return;
        context_.reset(EVP_ENCODE_CTX_new());
        if (!context_) throw Failure(ExitCode::error, "out of memory.");
        EVP_DecodeInit(context_.get());
        text_.resize(text_bytes);
        decoded_.resize(text_bytes);
    }
    bool is_base64() const { return base64_; }
    // Returns true if reading has thrown because the base64 is wrong.
    bool failed() const { return failed_; }

    size_t read(uint8_t* to, size_t most) {
        if (!base64_) return read_file(to, most);
        while (at_ == decoded_bytes_ && !ended_) decode();
        const size_t copied = std::min(most, decoded_bytes_ - at_);
        std::memcpy(to, decoded_.data() + at_, copied);
        at_ += copied;
        return copied;
    }

private:
    static constexpr size_t text_bytes = size_t{1} << 16;
    struct Delete {
        void operator()(EVP_ENCODE_CTX* context) const { EVP_ENCODE_CTX_free(context); }
    };

    size_t read_file(uint8_t* to, size_t most) {
        if (start_at_ == start_.size()) return job_.read(to, most);
        const size_t copied = std::min(most, start_.size() - start_at_);
        std::memcpy(to, start_.data() + start_at_, copied);
        start_at_ += copied;
        return copied;
    }

    void decode() {
        const size_t got = read_file(text_.data(), text_.size());
        int bytes = 0;
        at_ = decoded_bytes_ = 0;
        ended_ = got == 0;
        const int result = ended_ ? EVP_DecodeFinal(context_.get(), decoded_.data(), &bytes)
                                  : EVP_DecodeUpdate(context_.get(), decoded_.data(), &bytes,
                                                     text_.data(), static_cast<int>(got));
        failed_ = result < 0 || (!ended_ && !is_text(got));
        if (failed_)
            job_.fail(ended_ ? WARPSEAL_TRUNCATED : WARPSEAL_UNSUPPORTED,
                      ended_ ? "its base64 is cut off" : "it is not base64");
        decoded_bytes_ = static_cast<size_t>(bytes);
    }

    // Returns false for a character outside the alphabet, and for one after the padding.
    // EVP_DecodeUpdate(3) drops what follows a '-', and forgets the padding between calls.
    bool is_text(size_t bytes) {
        return std::all_of(text_.data(), text_.data() + bytes, [this](uint8_t byte) {
            if (byte == '\n' || byte == '\r' || byte == ' ' || byte == '\t') return true;
            padded_ |= byte == '=';
            const bool digit = byte >= '0' && byte <= '9', upper = byte >= 'A' && byte <= 'Z',
                       lower = byte >= 'a' && byte <= 'z';
            return padded_ ? byte == '=' : digit || upper || lower || byte == '+' || byte == '/';
        });
    }

    ForeignJob& job_;
    bool base64_, ended_ = false, failed_ = false, padded_ = false;
    std::vector<uint8_t> start_, text_, decoded_;
    size_t start_at_ = 0, at_ = 0, decoded_bytes_ = 0;
    std::unique_ptr<EVP_ENCODE_CTX, Delete> context_;
};

// Reads the header. Returns the salt, or nothing with --no-salt.
std::vector<uint8_t> read_salt(ForeignJob& job, OpensslInput& input) {
    if (job.options().no_salt) return {};
    std::vector<uint8_t> header(header_bytes);
    size_t held = 0;
    while (held < header_bytes) {
        const size_t got = input.read(header.data() + held, header_bytes - held);
        if (got == 0) break;
        held += got;
    }
    if (std::memcmp(header.data(), magic, std::min(held, magic_bytes)) != 0)
        job.fail(WARPSEAL_UNSUPPORTED,
                 "it does not begin with 'Salted__' as files of openssl enc do: one without a salt "
                 "needs --no-salt");
    if (held < header_bytes)
        job.fail(WARPSEAL_TRUNCATED,
                 cli::format("it has {} bytes, and the header has {}", held, header_bytes));
    return {header.begin() + magic_bytes, header.end()};
}

// Key and IV in the program's types for raw data.
class OpensslCipherKey {
public:
    OpensslCipherKey(ForeignJob& job, const OpensslCipher& cipher, Secrets& secrets,
                     const std::vector<uint8_t>& salt) {
        const size_t key_bytes = cipher.cipher.key_bytes, iv_bytes = cipher.cipher.block_bytes;
        const SecretBytes derived =
            derive_openssl_key(job.options(), secrets.list().front(),
                               salt.empty() ? nullptr : salt.data(), key_bytes + iv_bytes);
        secrets.wipe();
        warpseal_key* made = nullptr;
        job.require(warpseal_key_create(job.engine(), cipher.cipher.name, derived.data(), key_bytes,
                                        &made));
        key_.reset(made);
        raw_.name = cipher.name;
        raw_.cipher = cipher.cipher;
        raw_.mode = cipher.mode;
        raw_.encrypt = false;
        raw_.padding = cipher.mode == WARPSEAL_CBC;
        raw_.iv.assign(derived.data() + key_bytes, derived.data() + derived.size);
    }
    ~OpensslCipherKey() { warpseal_wipe(raw_.iv.data(), raw_.iv.size()); }
    OpensslCipherKey(const OpensslCipherKey&) = delete;
    OpensslCipherKey& operator=(const OpensslCipherKey&) = delete;
    const warpseal_key* key() const { return key_.get(); }
    const RawJob& raw() const { return raw_; }

private:
    KeyHandle key_;
    RawJob raw_;
};

// Decrypts the last block of a regular file, so that a wrong passphrase is found before anything is
// written. `begin` is the offset of the ciphertext.
void check_padding(ForeignJob& job, const OpensslCipherKey& key, off_t begin) {
    struct stat about;
    const size_t block = key.raw().cipher.block_bytes;
    if (!key.raw().padding || fstat(job.input(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    const off_t bytes = about.st_size - begin, step = static_cast<off_t>(block);
    if (bytes < step || bytes % step != 0) return;  // found later
    uint8_t blocks[2 * most_block_bytes], text[most_block_bytes];
    const off_t from = bytes == step ? about.st_size - step : about.st_size - 2 * step;
    uint8_t* const to = bytes == step ? blocks + block : blocks;
    const size_t wanted = static_cast<size_t>(about.st_size - from);
    if (pread(job.input(), to, wanted, from) != static_cast<ssize_t>(wanted)) return;
    if (bytes == step) std::memcpy(blocks, key.raw().iv.data(), block);
    size_t text_bytes = 0;
    const warpseal_status status = warpseal_decrypt_padded(key.key(), blocks, block, blocks + block,
                                                           block, text, sizeof text, &text_bytes);
    warpseal_wipe(text, sizeof text);
    warpseal_wipe(blocks, sizeof blocks);
    if (status == WARPSEAL_BAD_PADDING) job.fail(status, bad_padding);
    job.require(status);
}

}  // namespace

void check_openssl_choice(const ForeignChoice& choice) {
    (void)openssl_cipher(choice.cipher);
    check_openssl_digest(choice.digest);
}

void open_openssl(ForeignJob& job, Secrets& secrets) {
    const OpensslCipher cipher = openssl_cipher(job.options().cipher);
    if (secrets.list().size() != 1)
        throw Failure(ExitCode::usage, "a file of openssl enc takes one passphrase.");
    const off_t position = lseek(job.input(), 0, SEEK_CUR);
    OpensslInput input(job);
    const std::vector<uint8_t> salt = read_salt(job, input);
    const OpensslCipherKey key(job, cipher, secrets, salt);
    job.remark(
        cli::format("{} is not authenticated, as no file of openssl enc is: whoever could "
                    "change it can have changed what comes out.",
                    job.input_name()));
    if (position >= 0 && !input.is_base64())
        check_padding(job, key, position + static_cast<off_t>(salt.empty() ? 0 : header_bytes));
    try {
        run_raw_chunks(
            key.raw(), job.engine(), key.key(),
            [&](uint8_t* to, size_t most) { return input.read(to, most); }, job.out());
    } catch (const Failure& failure) {
        if (failure.code == ExitCode::bad_padding) job.fail(WARPSEAL_BAD_PADDING, bad_padding);
        if (failure.code == ExitCode::truncated && !input.failed())
            job.fail(WARPSEAL_TRUNCATED,
                     cli::format("it does not end with a whole block of {}", cipher.name));
        throw;
    }
    const uint64_t bytes = job.out().written_bytes();
    job.done(warpseal_engine_pick(job.engine(), cipher.cipher.name, cipher.mode, bytes), bytes);
}

}  // namespace warpseal::cli
