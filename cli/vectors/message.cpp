// Known answers: fields of a row, its key, and the checks of its family of modes.
#include "cli/vectors/message.h"

namespace warpseal::cli {
namespace {

constexpr std::string_view padding_suffix = "-pkcs7";

// Removes the suffix; returns true if it was present.
bool take_padding(std::string& mode) {
    if (mode.size() <= padding_suffix.size() ||
        mode.substr(mode.size() - padding_suffix.size()) != padding_suffix)
        return false;
    mode.resize(mode.size() - padding_suffix.size());
    return true;
}

}  // namespace

std::vector<CallPath> host_call_paths() {
    return {{false, 0, false}, {true, 0, false}, {false, 3, false}, {true, 9, false}};
}

std::vector<CallPath> call_paths(const Tested& tested) {
    std::vector<CallPath> all = host_call_paths();
    if (tested.has_device_memory())
        all.insert(all.end(), {{false, 0, true}, {true, 16, true}, {false, 5, true}});
    return all;
}

std::string describe(const char* operation, const CallPath& path) {
    return std::string(operation) + (path.in_place ? " in place" : "") +
           (path.skew ? " misaligned" : "") + (path.on_device ? " on the device" : "");
}

bool has_device_call(warpseal_mode mode, bool encrypt) {
    const bool chained = mode == WARPSEAL_CBC || mode == WARPSEAL_CFB;
    return mode == WARPSEAL_ECB || mode == WARPSEAL_CTR || mode == WARPSEAL_XTS ||
           (chained && !encrypt);
}

void check_message(Tested& tested, const nlohmann::json& row) {
    Message m;
    m.cipher = tested.cipher(text_field(row, "cipher"));
    std::string mode = text_field(row, "mode");
    const bool padded = take_padding(mode);
    m.mode = tested.mode(m.cipher, mode);
    if (padded && m.mode != WARPSEAL_CBC)
        throw RowSkipped("padding of mode " + mode + " is not in this program");
    const bool mac = m.mode == WARPSEAL_CMAC;
    m.key = hex_field(row, "key");
    if (m.mode != WARPSEAL_ECB && !mac) m.iv = hex_field(row, "iv");
    m.aad = hex_field_or_empty(row, "aad");
    if (!mac) m.ciphertext = hex_field(row, "ct");
    if (m.tagged()) m.tag = hex_field(row, "tag");
    m.valid = row.at("valid").get<bool>();
    if (m.valid || mac) m.plaintext = hex_field(row, "pt");
    if (m.valid && !mac && !padded && m.plaintext.size() != m.ciphertext.size())
        throw RowSkipped("malformed row: pt and ct differ in length");

    const RowKey key(tested, m.cipher, m.mode, m.key);
    if (key.rejected()) return require(!m.valid, "a valid row with a key of the wrong length");

    if (m.aead()) return check_aead(tested, m, key);
    if (mac) return check_mac(tested, m, key);
    if (padded) return check_padded(tested, m, key);
    if (m.mode == WARPSEAL_XTS && m.valid) return check_units(tested, m, key);
    if (m.valid) return check_plain(tested, m, key);
    Octets out(m.ciphertext.size() + 1);
    require_refused(warpseal_decrypt(key.decrypting(), m.mode, m.iv.data(), m.iv.size(),
                                     m.ciphertext.data(), out.data(), m.ciphertext.size()),
                    "this row");
}

}  // namespace warpseal::cli
