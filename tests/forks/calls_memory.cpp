// Device memory, host memory and files. A child has no GPU through its parent's engine, so these
// engines use the cores alone.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "calls.h"

namespace forks {
namespace {

constexpr warpseal_status none = WARPSEAL_NO_DEVICE;

class File {
public:
    File() : number_(memfd_create("forks", MFD_CLOEXEC)) {}
    ~File() { close(number_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int number() const { return number_; }
    int from_start() const {
        (void)lseek(number_, 0, SEEK_SET);
        return number_;
    }

private:
    const int number_;
};

bool there_and_back(warpseal_engine* engine, const warpseal_secret& secret, const Bytes& text) {
    const File plain, sealed, opened;
    warpseal_file_options options{};
    options.struct_bytes = sizeof options;
    options.secrets = &secret;
    options.secret_count = 1;
    options.argon2_passes = 1;
    options.argon2_memory_kib = 8;
    warpseal_file_result result{};
    result.struct_bytes = sizeof result;
    warpseal_file_info info{};
    info.struct_bytes = sizeof info;
    RIGHT(write(plain.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    RIGHT(warpseal_file_seal(engine, plain.from_start(), sealed.number(), &options, &result) ==
          WARPSEAL_OK);
    RIGHT(warpseal_file_info_read(sealed.from_start(), &info, &result) == WARPSEAL_OK &&
          info.slot_count == 1);
    RIGHT(warpseal_file_open(engine, sealed.from_start(), opened.number(), &options, &result) ==
          WARPSEAL_OK);
    const File rescued;
    warpseal_rescue rescue{};
    rescue.struct_bytes = sizeof rescue;
    RIGHT(warpseal_file_rescue(engine, sealed.from_start(), rescued.number(), &options, &rescue,
                               &result) == WARPSEAL_OK &&
          result.plaintext_bytes == text.size());
    warpseal_slots_change change{};
    change.struct_bytes = sizeof change;
    change.add = &secret;
    change.add_count = 1;
    RIGHT(warpseal_file_slots_change(engine, sealed.from_start(), &options, &change, &result) ==
              WARPSEAL_OK &&
          change.slot_count == 2);
    Bytes back(text.size() + 1);
    RIGHT(read(opened.from_start(), back.data(), back.size()) == static_cast<ssize_t>(text.size()));
    RIGHT(std::memcmp(back.data(), text.data(), text.size()) == 0);
    return true;
}

bool batches_on_device(const warpseal_key* key) {
    uint8_t memory[1024] = {};
    int32_t statuses[2];
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.message_count = 2;
    batch.message_bytes = batch.in_stride = batch.out_stride = 16;
    batch.ivs = memory;
    batch.iv_bytes = batch.iv_stride = 16;
    batch.in = memory + 256;
    batch.out = memory + 512;
    batch.statuses = statuses;
    RIGHT(warpseal_encrypt_batch_device(key, WARPSEAL_CTR, &batch, nullptr) == none);
    RIGHT(warpseal_decrypt_batch_device(key, WARPSEAL_CTR, &batch, nullptr) == none);
    batch.iv_bytes = 12;
    batch.tags = memory + 768;
    batch.tag_bytes = batch.tag_stride = 16;
    RIGHT(warpseal_seal_batch_device_unsafe_iv(key, WARPSEAL_GCM, &batch, nullptr) == none);
    RIGHT(warpseal_open_batch_device(key, WARPSEAL_GCM, &batch, nullptr) == none);
    uint64_t workspace = 0;
    RIGHT(warpseal_batch_device_workspace(key, WARPSEAL_GCM, &batch, &workspace) == none);
    batch.ivs = nullptr;
    RIGHT(warpseal_seal_batch_device(key, WARPSEAL_GCM, &batch, memory, nullptr) == none);
    batch.iv_bytes = 0;
    batch.iv_stride = batch.out_stride = 0;
    batch.out = nullptr;
    RIGHT(warpseal_mac_batch_device(key, WARPSEAL_CMAC, &batch, nullptr) == none);
    RIGHT(warpseal_mac_verify_batch_device(key, WARPSEAL_CMAC, &batch, nullptr) == none);
    return true;
}

bool encapsulation_on_device(warpseal_engine* engine) {
    Bytes memory(16384);
    int32_t status = 0;
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    batch.public_keys = memory.data();
    batch.secret_keys = memory.data() + 4096;
    batch.ciphertexts = memory.data() + 8192;
    batch.shared_secrets = memory.data() + 12288;
    batch.public_key_stride = batch.secret_key_stride = batch.ciphertext_stride =
        batch.shared_secret_stride = 4096;
    batch.statuses = &status;
    RIGHT(warpseal_kem_keypair_device(engine, "ntruhps2048509", &batch, nullptr) == none);
    RIGHT(warpseal_kem_encapsulate_device(engine, "ntruhps2048509", &batch, nullptr) == none);
    RIGHT(warpseal_kem_decapsulate_device(engine, "ntruhps2048509", &batch, nullptr) == none);
    return true;
}

}  // namespace

bool device_memory(const Scene& scene) {
    warpseal_engine* const engine = scene.engine;
    warpseal_cipher_info cipher{};
    RIGHT(cipher_called("aes-256", cipher));
    const Owned<warpseal_key> key = key_of(engine, cipher);
    Bytes bytes(64);
    warpseal_key* made = nullptr;
    RIGHT(key != nullptr && warpseal_random(bytes.data(), bytes.size()) == WARPSEAL_OK);
    RIGHT(warpseal_key_create_xts(engine, "aes-256", bytes.data(), bytes.size(), &made) ==
          WARPSEAL_OK);
    const Owned<warpseal_key> units(made);
    const uint8_t iv[16] = {};
    uint8_t text[64] = {};
    RIGHT(warpseal_encrypt_device(key.get(), WARPSEAL_CTR, iv, 16, text, text, sizeof text,
                                  nullptr) == none);
    RIGHT(warpseal_decrypt_device(key.get(), WARPSEAL_CTR, iv, 16, text, text, sizeof text,
                                  nullptr) == none);
    RIGHT(warpseal_xts_encrypt_device(made, iv, 64, text, text, sizeof text, nullptr) == none);
    RIGHT(warpseal_xts_decrypt_device(made, iv, 64, text, text, sizeof text, nullptr) == none);
    RIGHT(batches_on_device(key.get()) && encapsulation_on_device(engine));
    void* memory = nullptr;
    RIGHT(warpseal_device_alloc(engine, 64, &memory) == none && memory == nullptr);
    RIGHT(warpseal_device_upload(engine, text, bytes.data(), 64) == none);
    RIGHT(warpseal_device_download(engine, bytes.data(), text, 64) == none);
    RIGHT(warpseal_device_synchronize(engine, nullptr) == none);
    warpseal_device_free(engine, text);
    return true;
}

bool host_memory(const Scene& scene) {
    for (size_t bytes = 64; bytes < 100000; bytes *= 5) {
        void* memory = nullptr;
        RIGHT(warpseal_host_alloc(scene.engine, bytes, &memory) == WARPSEAL_OK &&
              memory != nullptr);
        std::memset(memory, 1, bytes);
        warpseal_host_free(scene.engine, memory);
    }
    if (!scene.in_child || scene.parent == nullptr || scene.parent->host == nullptr) return true;
    warpseal_host_free(scene.parent->engine.get(), scene.parent->host);
    scene.parent->host = nullptr;
    return true;
}

bool generators(const Scene& scene) {
    warpseal_drbg* made = nullptr;
    RIGHT(warpseal_drbg_create(scene.engine, nullptr, &made) == WARPSEAL_OK);
    const Owned<warpseal_drbg> own(made);
    Bytes seen;
    for (warpseal_drbg* drbg : {made, scene.parent == nullptr ? made : scene.parent->drbg.get()})
        for (const size_t bytes : {size_t{64}, size_t{200000}}) {
            Bytes out(bytes);
            RIGHT(warpseal_drbg_fill(drbg, out.data(), bytes) == WARPSEAL_OK);
            out.resize(64);
            RIGHT(out != Bytes(64) && out != seen);
            seen = out;
            RIGHT(warpseal_drbg_reseed(drbg, "fork", 4) == WARPSEAL_OK);
            RIGHT(warpseal_drbg_fill_device(drbg, out.data(), 64, nullptr) == none);
        }
    return true;
}

bool files(const Scene& scene) {
    const Bytes text(50000, 9);
    const uint8_t key[32] = {1};
    RIGHT(there_and_back(scene.engine, {WARPSEAL_SECRET_KEY, key, sizeof key}, text));
    RIGHT(there_and_back(scene.engine, {WARPSEAL_SECRET_PASSPHRASE, "of few words", 12}, text));
    return true;
}

}  // namespace forks
