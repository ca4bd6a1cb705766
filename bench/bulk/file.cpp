// Measures file to file: seals and opens a Cobblestone message in unnamed files. OpenSSL opens each
// chunk again as a check.
#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "bench/bulk/reference_output.h"
#include "bench/bulk/yardsticks/openssl.h"
#include "bench/report/slices.h"
#include "cli/support/descriptor.h"

namespace warpseal::bench {
namespace {

// Constants of c2sp.org/chunked-encryption.
constexpr size_t salt_bytes = 24, commitment_bytes = 32, chunk_bytes = 16384;
constexpr size_t sealed_chunk_bytes = chunk_bytes + bench_tag_stride;

[[noreturn]] void fail(const std::string& what) {
    throw cli::Failure(cli::ExitCode::input_output, what + ": " + std::strerror(errno) + ".");
}

// Creates a file without a name, which vanishes however the program ends. Where the file system has
// no O_TMPFILE, the file has a name until it is unlinked.
cli::Descriptor unnamed_file(const std::string& directory) {
    cli::Descriptor unnamed(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (unnamed) return unnamed;
    std::string path = directory + "/warpseal-bench-XXXXXX";
    cli::Descriptor file(mkostemp(path.data(), O_CLOEXEC));
    if (!file || ::unlink(path.c_str()) != 0) fail("cannot make a file in " + directory);
    return file;
}

void rewind(const cli::Descriptor& file) {
    if (lseek(file.get(), 0, SEEK_SET) != 0) fail("cannot rewind a file");
}

// Maps a whole file for reading.
class Mapping {
public:
    explicit Mapping(const cli::Descriptor& file) {
        struct stat status {};
        if (fstat(file.get(), &status) != 0) fail("cannot look at a file");
        bytes_ = static_cast<size_t>(status.st_size);
        memory_ = bytes_ ? mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0) : nullptr;
        if (memory_ == MAP_FAILED) fail("cannot map a file");
    }
    ~Mapping() {
        if (memory_) munmap(memory_, bytes_);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    const uint8_t* data() const { return static_cast<const uint8_t*>(memory_); }
    size_t size() const { return bytes_; }

private:
    void* memory_ = nullptr;
    size_t bytes_ = 0;
};

void write_random(const cli::Descriptor& file, uint64_t bytes) {
    std::vector<uint8_t> buffer(std::min<uint64_t>(bytes, uint64_t{64} << 20));
    for (uint64_t done = 0; done < bytes;) {
        const size_t length = std::min<uint64_t>(buffer.size(), bytes - done);
        fill_random(buffer.data(), length);
        // Makes each buffer distinct.
        std::memcpy(buffer.data(), &done, std::min(sizeof done, length));
        const ssize_t wrote = ::write(file.get(), buffer.data(), length);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) fail("cannot write a file");
        done += static_cast<uint64_t>(wrote);
    }
}

class FileSide {
public:
    FileSide(const BenchCase& what, warpseal_engine* engine, const std::string& parent,
             uint64_t bytes)
        : what_(what),
          engine_(engine),
          key_(bench_key(what)),
          suite_(what.name()),
          directory_(parent) {
        write_random(plain_, bytes);
        BenchCase sealing = what;
        sealing.encrypt = true;
        if (!what.encrypt) run(sealing);
    }

    double seconds() { return run(what_); }
    const char* target() const { return result_.target; }

    void check() const {
        const Mapping plain(plain_), sealed(sealed_);
        check_sealed(plain, sealed);
        if (what_.encrypt) return;
        const Mapping opened(opened_);
        if (opened.size() != plain.size() ||
            std::memcmp(opened.data(), plain.data(), plain.size()) != 0)
            throw BenchWrong("the opened file is not the one that was sealed");
    }

private:
    double run(const BenchCase& what) {
        const warpseal_secret secret{WARPSEAL_SECRET_KEY, key_.data(), key_.size()};
        warpseal_file_options options{};
        options.struct_bytes = sizeof options;
        options.format = WARPSEAL_FORMAT_COBBLESTONE;
        options.suite = what.encrypt ? suite_.c_str() : nullptr;
        options.secrets = &secret;
        options.secret_count = 1;
        options.any_order = 1;
        result_ = {};
        result_.struct_bytes = sizeof result_;
        const cli::Descriptor& in = what.encrypt ? plain_ : sealed_;
        cli::Descriptor& out = what.encrypt ? sealed_ : opened_;
        rewind(in);
        out = cli::Descriptor();  // A new output file makes the timed call include its creation.
        const auto begin = std::chrono::steady_clock::now();
        out = unnamed_file(directory_);
        const warpseal_status status = (what.encrypt ? warpseal_file_seal : warpseal_file_open)(
            engine_, in.get(), out.get(), &options, &result_);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (status != WARPSEAL_OK)
            throw BenchWrong(std::string(warpseal_status_text(status)) + ": " + result_.message);
        return took.count();
    }

    // HKDF-Expand (RFC 5869 2.3) of the key with the specification's `info`.
    std::vector<uint8_t> derive(const uint8_t* salt, size_t bytes) const {
        std::string info = "c2sp.org/chunked-encryption@v1+";
        info += key_.size() == 32 ? "AEAD_AES_256_GCM" : "AEAD_AES_128_GCM";
        info += '\0';
        info.append(reinterpret_cast<const char*>(salt), salt_bytes);
        const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> kdf(
            EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
        const std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> context(
            EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
        int expand_only = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
        char digest[] = "SHA512";
        const OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &expand_only),
            OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<uint8_t*>(key_.data()),
                                              key_.size()),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
            OSSL_PARAM_construct_end()};
        std::vector<uint8_t> out(bytes);
        if (EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) != 1)
            throw BenchWrong("OpenSSL's HKDF failed");
        return out;
    }

    void check_sealed(const Mapping& plain, const Mapping& sealed) const {
        const uint64_t chunks = plain.size() / chunk_bytes + 1;
        if (sealed.size() !=
            salt_bytes + commitment_bytes + plain.size() + chunks * bench_tag_stride)
            throw BenchWrong("the sealed file has the wrong length");
        const std::vector<uint8_t> derived =
            derive(sealed.data(), key_.size() + bench_nonce_bytes + commitment_bytes);
        const uint8_t* base_nonce = derived.data() + key_.size();
        if (std::memcmp(base_nonce + bench_nonce_bytes, sealed.data() + salt_bytes,
                        commitment_bytes) != 0)
            throw BenchWrong("the commitment is not OpenSSL's");
        const std::vector<uint8_t> chunk_key(derived.begin(),
                                             derived.begin() + static_cast<ptrdiff_t>(key_.size()));
        BenchCase opening = what_;
        opening.encrypt = false;
        std::atomic<bool> good{true};
        in_slices(chunks, [&](uint64_t begin, uint64_t end) {
            const auto openssl = OpenSsl::find(opening, chunk_key);
            std::vector<uint8_t> opened(chunk_bytes), tag(bench_tag_stride);
            for (uint64_t i = begin; i < end; ++i) {
                uint8_t nonce[bench_nonce_bytes];
                std::memcpy(nonce, base_nonce, sizeof nonce);
                for (size_t byte = 0; byte < 8; ++byte)
                    nonce[sizeof nonce - 1 - byte] ^= static_cast<uint8_t>(i >> (8 * byte));
                const uint8_t* chunk =
                    sealed.data() + salt_bytes + commitment_bytes + i * sealed_chunk_bytes;
                const size_t length =
                    std::min<uint64_t>(chunk_bytes, plain.size() - i * chunk_bytes);
                std::copy_n(chunk + length, bench_tag_stride, tag.begin());
                if (!openssl || !openssl->run(nonce, chunk, opened.data(), length, tag.data()) ||
                    !std::equal(opened.begin(), opened.begin() + static_cast<ptrdiff_t>(length),
                                plain.data() + i * chunk_bytes))
                    good = false;
            }
        });
        if (!good) throw BenchWrong("OpenSSL does not open a chunk of the sealed file");
    }

    const BenchCase what_;
    warpseal_engine* engine_;
    const std::vector<uint8_t> key_;
    const std::string suite_;
    const std::string directory_;
    const cli::Descriptor plain_ = unnamed_file(directory_);
    cli::Descriptor sealed_, opened_;
    warpseal_file_result result_{};
};

}  // namespace

BenchRow measure_file(const BenchOptions& options, const BenchCase& what, const std::string& device,
                      uint64_t bytes, cli::Session& session) {
    const cli::EngineHandle engine = cli::create_engine({device, options.threads}, session);
    FileSide side(what, engine.get(), options.directory, bytes);
    side.seconds();  // Warm-up. The first write to a file in memory also allocates its pages.
    BenchRow row;
    row.what = what;
    row.place = "file";
    row.threads = options.threads;
    row.bytes = bytes;
    row.message_bytes = chunk_bytes;
    for (int i = 0; i < bench_repetitions; ++i)
        row.figures.ours.push_back(static_cast<double>(bytes) / side.seconds() / 1e9);
    row.device = side.target();
    row.checked_against = "openssl " + what.name();
    side.check();
    return row;
}

}  // namespace warpseal::bench
