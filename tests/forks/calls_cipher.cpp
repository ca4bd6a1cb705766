// Engines, keys and messages.
#include <cstring>
#include <string>

#include "calls.h"

namespace forks {
namespace {

const uint8_t iv[16] = {1, 2, 3};
const uint8_t aad[20] = {4, 5, 6};

Bytes text_of(size_t bytes) {
    Bytes text(bytes);
    for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<uint8_t>(7 * i + 1);
    return text;
}

bool has(const warpseal_cipher_info& cipher, warpseal_mode mode) {
    return (cipher.modes >> mode & 1) != 0;
}

bool plain(const warpseal_key* key, const warpseal_cipher_info& cipher, warpseal_mode mode) {
    const Bytes text = text_of(1024);
    const size_t iv_bytes = mode == WARPSEAL_ECB ? 0 : cipher.block_bytes;
    Bytes out(text.size());
    RIGHT(warpseal_encrypt(key, mode, iv, iv_bytes, text.data(), out.data(), text.size()) ==
              WARPSEAL_OK &&
          out != text);
    RIGHT(warpseal_decrypt(key, mode, iv, iv_bytes, out.data(), out.data(), text.size()) ==
              WARPSEAL_OK &&
          out == text);
    return true;
}

bool padded(const warpseal_key* key, const warpseal_cipher_info& cipher) {
    const Bytes text = text_of(45);
    Bytes out(text.size() + 16), back(text.size() + 16);
    size_t bytes = 0, back_bytes = 0;
    RIGHT(warpseal_encrypt_padded(key, iv, cipher.block_bytes, text.data(), text.size(), out.data(),
                                  out.size(), &bytes) == WARPSEAL_OK);
    RIGHT(warpseal_decrypt_padded(key, iv, cipher.block_bytes, out.data(), bytes, back.data(),
                                  back.size(), &back_bytes) == WARPSEAL_OK);
    RIGHT(back_bytes == text.size() && std::memcmp(back.data(), text.data(), text.size()) == 0);
    return true;
}

bool sealed(const warpseal_key* key, warpseal_mode mode) {
    const Bytes text = text_of(300);
    Bytes out(text.size()), tag(16), drawn(12);
    RIGHT(warpseal_seal_unsafe_iv(key, mode, iv, 12, aad, sizeof aad, text.data(), out.data(),
                                  text.size(), tag.data(), tag.size()) == WARPSEAL_OK);
    RIGHT(warpseal_open(key, mode, iv, 12, aad, sizeof aad, out.data(), out.data(), out.size(),
                        tag.data(), tag.size()) == WARPSEAL_OK);
    RIGHT(out == text);
    RIGHT(warpseal_seal(key, mode, drawn.data(), aad, sizeof aad, text.data(), out.data(),
                        out.size(), tag.data(), tag.size()) == WARPSEAL_OK);
    tag[0] ^= 1;
    RIGHT(warpseal_open(key, mode, drawn.data(), 12, aad, sizeof aad, out.data(), out.data(),
                        out.size(), tag.data(), tag.size()) == WARPSEAL_NOT_AUTHENTIC);
    return true;
}

bool authenticated(const warpseal_key* key, const warpseal_cipher_info& cipher) {
    const Bytes text = text_of(77);
    Bytes tag(cipher.block_bytes);
    RIGHT(warpseal_mac(key, WARPSEAL_CMAC, text.data(), text.size(), tag.data(), tag.size()) ==
          WARPSEAL_OK);
    RIGHT(warpseal_mac_verify(key, WARPSEAL_CMAC, text.data(), text.size(), tag.data(),
                              tag.size()) == WARPSEAL_OK);
    return true;
}

bool in_units(warpseal_engine* engine) {
    Bytes bytes(64), text = text_of(1500), out(text.size());
    warpseal_key* made = nullptr;
    RIGHT(warpseal_random(bytes.data(), bytes.size()) == WARPSEAL_OK);
    RIGHT(warpseal_key_create_xts(engine, "aes-256", bytes.data(), bytes.size(), &made) ==
          WARPSEAL_OK);
    const Owned<warpseal_key> key(made);
    RIGHT(warpseal_xts_encrypt(made, iv, 512, text.data(), out.data(), text.size()) ==
              WARPSEAL_OK &&
          out != text);
    RIGHT(warpseal_xts_decrypt(made, iv, 512, out.data(), out.data(), text.size()) == WARPSEAL_OK &&
          out == text);
    return true;
}

}  // namespace

bool works(const warpseal_key* key, const warpseal_cipher_info& cipher) {
    for (const warpseal_mode mode :
         {WARPSEAL_CTR, WARPSEAL_CBC, WARPSEAL_ECB, WARPSEAL_CFB, WARPSEAL_OFB})
        RIGHT(!has(cipher, mode) || plain(key, cipher, mode));
    RIGHT(!has(cipher, WARPSEAL_CBC) || padded(key, cipher));
    for (const warpseal_mode mode : {WARPSEAL_GCM, WARPSEAL_CCM})
        RIGHT(!has(cipher, mode) || sealed(key, mode));
    RIGHT(!has(cipher, WARPSEAL_CMAC) || authenticated(key, cipher));
    return true;
}

bool catalogue(const Scene&) {
    RIGHT(std::strlen(warpseal_status_text(WARPSEAL_NOT_AUTHENTIC)) > 0 &&
          std::strlen(warpseal_version()) > 0);
    RIGHT(std::string(warpseal_mode_name(WARPSEAL_CCM)) == "ccm");
    warpseal_cipher_info cipher{};
    RIGHT(cipher_called("aes-128", cipher) && cipher.key_bytes == 16);
    size_t targets = 0;
    for (warpseal_target_info target{}; warpseal_target_at(targets, &target) == WARPSEAL_OK;
         ++targets) {
    }
    RIGHT(targets > 1);
    warpseal_device_info device{};
    const warpseal_status found = warpseal_device_at(0, &device);  // a GPU serves one process only
    RIGHT(found == WARPSEAL_OK || found == WARPSEAL_NO_DEVICE ||
          found == WARPSEAL_INVALID_ARGUMENT);
    warpseal_kem_info set{};
    RIGHT(warpseal_kem_at(0, &set) == WARPSEAL_OK &&
          warpseal_kem_at(99, &set) == WARPSEAL_INVALID_ARGUMENT);
    Bytes bytes(48), zeros(48);
    RIGHT(warpseal_random(bytes.data(), bytes.size()) == WARPSEAL_OK && bytes != zeros);
    warpseal_wipe(bytes.data(), bytes.size());
    RIGHT(bytes == zeros);
    return true;
}

// A child's own engine has two threads, as it may have workers.
bool engines_and_keys(const Scene& scene) {
    const Owned<warpseal_engine> own = engine_with(2);
    RIGHT(own != nullptr &&
          std::strlen(warpseal_engine_pick(own.get(), "aes-128", WARPSEAL_CTR, 1 << 20)) > 0);
    warpseal_cipher_info cipher{};
    RIGHT(cipher_called("aes-128", cipher));
    for (warpseal_engine* const engine : {own.get(), scene.engine}) {
        const Owned<warpseal_key> key = key_of(engine, cipher);
        RIGHT(key != nullptr);
        const Bytes text(size_t{1} << 19, 3);
        Bytes out(text.size());
        RIGHT(warpseal_encrypt(key.get(), WARPSEAL_CTR, iv, 16, text.data(), out.data(),
                               out.size()) == WARPSEAL_OK);
        RIGHT(warpseal_decrypt(key.get(), WARPSEAL_CTR, iv, 16, out.data(), out.data(),
                               out.size()) == WARPSEAL_OK &&
              out == text);
    }
    return in_units(scene.engine);
}

bool messages(const Scene& scene) {
    warpseal_cipher_info cipher{};
    RIGHT(cipher_called("aes-192", cipher));
    const Owned<warpseal_key> own = key_of(scene.engine, cipher);
    RIGHT(own != nullptr && works(own.get(), cipher));
    if (scene.parent == nullptr) return true;
    RIGHT(works(scene.parent->key.key.get(), scene.parent->key.cipher));
    if (!scene.in_child) return true;
    for (const auto& one : scene.parent->fresh)
        if (const Keyed* const fresh = one.load(std::memory_order_acquire))
            RIGHT(works(fresh->key.get(), fresh->cipher));
    return true;
}

bool batches(const Scene& scene) {
    constexpr size_t count = 6, each = 96, tag_bytes = 16;
    warpseal_cipher_info cipher{};
    RIGHT(cipher_called("aes-128", cipher));
    const Owned<warpseal_key> own = key_of(scene.engine, cipher);
    const warpseal_key* const key = own.get();
    RIGHT(key != nullptr);
    const Bytes text = text_of(count * each);
    Bytes out(text.size()), ivs = text_of(count * 16), tags(count * tag_bytes);
    int32_t statuses[count];
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.message_count = count;
    batch.message_bytes = batch.in_stride = batch.out_stride = each;
    batch.ivs = ivs.data();
    batch.iv_bytes = 16;
    batch.iv_stride = 16;
    batch.in = text.data();
    batch.out = out.data();
    batch.statuses = statuses;
    warpseal_batch back = batch;
    back.in = out.data();
    RIGHT(warpseal_encrypt_batch(key, WARPSEAL_CTR, &batch) == WARPSEAL_OK && out != text);
    RIGHT(warpseal_decrypt_batch(key, WARPSEAL_CTR, &back) == WARPSEAL_OK && out == text);
    for (warpseal_batch* const one : {&batch, &back}) {
        one->iv_bytes = 12;
        one->tags = tags.data();
        one->tag_bytes = one->tag_stride = tag_bytes;
    }
    RIGHT(warpseal_seal_batch_unsafe_iv(key, WARPSEAL_GCM, &batch) == WARPSEAL_OK && out != text);
    RIGHT(warpseal_open_batch(key, WARPSEAL_GCM, &back) == WARPSEAL_OK && out == text);
    batch.ivs = nullptr;
    RIGHT(warpseal_seal_batch(key, WARPSEAL_GCM, &batch, ivs.data()) == WARPSEAL_OK && out != text);
    warpseal_scattered_batch anywhere{};
    anywhere.batch = back;
    anywhere.batch.struct_bytes = sizeof anywhere;
    const uint64_t places[count] = {0, 16, 32, 48, 64, 80};
    anywhere.iv_offsets = anywhere.tag_offsets = places;
    RIGHT(warpseal_open_batch(key, WARPSEAL_GCM, &anywhere.batch) == WARPSEAL_OK && out == text);
    batch.iv_bytes = 0;
    batch.iv_stride = batch.out_stride = 0;
    batch.out = nullptr;
    RIGHT(warpseal_mac_batch(key, WARPSEAL_CMAC, &batch) == WARPSEAL_OK);
    RIGHT(warpseal_mac_verify_batch(key, WARPSEAL_CMAC, &batch) == WARPSEAL_OK);
    return true;
}

}  // namespace forks
