// Frames of the exchange and its key schedule: HKDF (RFC 5869) with SHA-256, where one output block
// always suffices.
#include "examples/tls_exchange/exchange.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::tls {
namespace {

constexpr uint8_t magic[] = {'W', 'S', 'X', 1};
constexpr char label[] = "warpseal exchange 1";
constexpr const char* set_names[] = {"ntruhps2048509",  "ntruhps2048677", "ntruhps4096821",
                                     "ntruhps40961229", "ntruhrss701",    "ntruhrss1373"};

void hmac(Bytes key, Bytes data, uint8_t* out) {
    unsigned int bytes = 0;
    if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data.data(), data.size(), out,
              &bytes) ||
        bytes != mac_bytes)
        throw std::runtime_error("HMAC-SHA-256 cannot be computed.");
}

// HKDF-Expand of one block; `info` is "warpseal exchange 1", a space and the purpose.
void expand(const SecretKey& pseudorandom, const std::string& purpose, uint8_t* out) {
    std::string info = std::string(label) + " " + purpose;
    info.push_back(1);
    hmac(pseudorandom, {reinterpret_cast<const uint8_t*>(info.data()), info.size()}, out);
}

// Includes the set's name, so that the hash covers it too.
Mac hash(const Transcript& transcript, const char* set) {
    std::vector<uint8_t> text(label, label + sizeof label);
    text.insert(text.end(), set, set + std::strlen(set) + 1);
    text.insert(text.end(), transcript.bytes.begin(), transcript.bytes.end());
    Mac digest;
    unsigned int bytes = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &bytes, EVP_sha256(), nullptr) != 1 ||
        bytes != digest.size())
        throw std::runtime_error("SHA-256 cannot be computed.");
    return digest;
}

bool is_type(uint8_t byte) {
    return byte >= static_cast<uint8_t>(FrameType::hello) &&
           byte <= static_cast<uint8_t>(FrameType::refusal);
}

}  // namespace

Header frame_header(FrameType type, uint8_t set, size_t body_bytes) {
    return {magic[0],
            magic[1],
            magic[2],
            magic[3],
            static_cast<uint8_t>(type),
            set,
            static_cast<uint8_t>(body_bytes >> 8),
            static_cast<uint8_t>(body_bytes)};
}

void append_frame(std::vector<uint8_t>& out, FrameType type, uint8_t set, Bytes body) {
    const Header header = frame_header(type, set, body.size());
    out.insert(out.end(), header.begin(), header.end());
    out.insert(out.end(), body.begin(), body.end());
}

void FrameReader::append(Bytes received) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    buffer_.insert(buffer_.end(), received.begin(), received.end());
}

bool FrameReader::next(Frame& frame) {
    const Bytes rest(buffer_.data() + at_, buffer_.size() - at_);
    for (size_t i = 0; i < std::min(rest.size(), std::size(magic)); ++i)
        if (rest[i] != magic[i]) throw ExchangeError("what came is no frame of this version");
    if (rest.size() > 4 && !is_type(rest[4])) throw ExchangeError("a frame of an unknown type");
    if (rest.size() < header_bytes) return false;
    const size_t body_bytes = static_cast<size_t>(rest[6]) << 8 | rest[7];
    if (body_bytes > longest_body) throw ExchangeError("a frame is too long");
    if (rest.size() < header_bytes + body_bytes) return false;
    frame.type = static_cast<FrameType>(rest[4]);
    frame.set = rest[5];
    std::copy_n(rest.begin(), header_bytes, frame.header.begin());
    const Bytes body = rest.subspan(header_bytes, body_bytes);
    frame.body.assign(body.begin(), body.end());
    at_ += header_bytes + body_bytes;
    return true;
}

const warpseal_kem_info* exchange_set(uint8_t number) {
    static const std::vector<warpseal_kem_info> sets = [] {
        std::vector<warpseal_kem_info> found;
        for (const char* name : set_names) {
            warpseal_kem_info info{};
            for (size_t i = 0;
                 warpseal_kem_at(i, &info) == WARPSEAL_OK && std::strcmp(info.name, name) != 0;
                 ++i) {
            }
            found.push_back(info);
        }
        return found;
    }();
    return number >= 1 && number <= sets.size() ? &sets[number - 1U] : nullptr;
}

uint8_t exchange_set_number(const std::string& name) {
    for (size_t i = 0; i < std::size(set_names); ++i)
        if (name == set_names[i]) return static_cast<uint8_t>(i + 1);
    throw cli::Failure(
        cli::ExitCode::unsupported,
        cli::format("there is no set '{}': there are {}.", name, fmt::join(set_names, ", ")));
}

std::vector<uint8_t> exchange_set_numbers(const std::vector<std::string>& names) {
    std::vector<uint8_t> numbers;
    numbers.reserve(names.size());
    for (const std::string& name : names) numbers.push_back(exchange_set_number(name));
    if (numbers.empty()) numbers.push_back(exchange_set_number("ntruhps4096821"));
    return numbers;
}

ExchangeKeys derive_keys(const SecretKey& exporter, const SecretKey& shared_secret,
                         const Transcript& transcript, const char* set) {
    const Mac said = hash(transcript, set);
    std::array<uint8_t, 2 * SecretKey::size()> secrets;
    std::copy_n(exporter.data(), SecretKey::size(), secrets.begin());
    std::copy_n(shared_secret.data(), SecretKey::size(), secrets.begin() + SecretKey::size());
    SecretKey pseudorandom, client, server;
    hmac(said, secrets, pseudorandom.data());  // HKDF-Extract
    warpseal_wipe(secrets.data(), secrets.size());
    ExchangeKeys keys;
    expand(pseudorandom, "client data", keys.client_data.data());
    expand(pseudorandom, "server data", keys.server_data.data());
    expand(pseudorandom, "client confirmation", client.data());
    expand(pseudorandom, "server confirmation", server.data());
    hmac(client, said, keys.client_confirmation.data());
    hmac(server, said, keys.server_confirmation.data());
    return keys;
}

bool equal(Bytes a, Bytes b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace warpseal::tls
