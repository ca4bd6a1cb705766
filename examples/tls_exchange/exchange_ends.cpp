// Client and server of the exchange.
#include "examples/tls_exchange/exchange_ends.h"

#include <algorithm>

namespace warpseal::tls {
namespace {

void require_ok(warpseal_status status) {
    if (status != WARPSEAL_OK) throw std::runtime_error(warpseal_status_text(status));
}

const char* refusal_text(uint8_t why) {
    switch (static_cast<Refusal>(why)) {
        case Refusal::failed: return "the other side says that the exchange failed";
        case Refusal::busy: return "the server is busy: try again later";
        case Refusal::no_common_set: return "the server has none of the sets asked for";
    }
    return "the other side refuses, for an unknown reason";
}

}  // namespace

Records::Records(warpseal_engine* engine, const SecretKey& key) {
    warpseal_key* made = nullptr;
    require_ok(warpseal_key_create(engine, "aes-256", key.data(), SecretKey::size(), &made));
    key_.reset(made);
}

// A key seals at most 2^32 records.
std::array<uint8_t, 12> Records::next_nonce() {
    if (count_ > UINT32_MAX) throw ExchangeError("a key has sealed all the records that it may");
    std::array<uint8_t, 12> nonce{};
    for (size_t i = 0; i < sizeof count_; ++i)
        nonce[nonce.size() - 1 - i] = static_cast<uint8_t>(count_ >> 8 * i);
    ++count_;
    return nonce;
}

void Records::seal(std::vector<uint8_t>& out, FrameType type, Bytes text) {
    const std::array<uint8_t, 12> nonce = next_nonce();
    const Header header = frame_header(type, 0, text.size() + tag_bytes);
    out.insert(out.end(), header.begin(), header.end());
    const size_t at = out.size();
    out.resize(at + text.size() + tag_bytes);
    require_ok(warpseal_seal_unsafe_iv(key_.get(), WARPSEAL_GCM, nonce.data(), nonce.size(),
                                       header.data(), header.size(), text.data(), out.data() + at,
                                       text.size(), out.data() + at + text.size(), tag_bytes));
}

void Records::open(const Frame& frame, std::vector<uint8_t>& text) {
    if (frame.body.size() < tag_bytes || frame.set != 0)
        throw ExchangeError("a record without a tag");
    const std::array<uint8_t, 12> nonce = next_nonce();
    const size_t at = text.size(), bytes = frame.body.size() - tag_bytes;
    text.resize(at + bytes);
    const warpseal_status status =
        warpseal_open(key_.get(), WARPSEAL_GCM, nonce.data(), nonce.size(), frame.header.data(),
                      frame.header.size(), frame.body.data(), text.data() + at, bytes,
                      frame.body.data() + bytes, tag_bytes);
    if (status == WARPSEAL_OK) return;
    text.resize(at);
    if (status != WARPSEAL_NOT_AUTHENTIC) require_ok(status);
    throw ExchangeError("a record is not authentic");
}

void ExchangeEnd::take(Bytes piece) {
    reader_.take(piece);
    go_on();
}

void ExchangeEnd::go_on() {
    Frame frame;
    while (!waiting() && reader_.next(frame)) {
        if (finished_) throw ExchangeError("data after the last record");
        if (frame.type == FrameType::refusal && frame.body.size() == 1)
            throw Refused(refusal_text(frame.body[0]));
        const bool record = frame.type == FrameType::record || frame.type == FrameType::last_record;
        if (record != open()) throw ExchangeError("a frame at the wrong time");
        if (!record) {
            take_frame(frame);
            continue;
        }
        receiving_->open(frame, text);
        finished_ = frame.type == FrameType::last_record;
    }
}

void ExchangeEnd::require(const Frame& frame, FrameType type, size_t body_bytes) {
    if (frame.type != type) throw ExchangeError("a frame at the wrong time");
    if (frame.body.size() != body_bytes) throw ExchangeError("a frame of the wrong length");
}

void ExchangeEnd::begin_records(const SecretKey& sending, const SecretKey& receiving) {
    receiving_ = std::make_unique<Records>(engine_, receiving);
    sending_ = std::make_unique<Records>(engine_, sending);
    keys_ = {};
    exporter_ = {};
}

void ExchangeEnd::send(Bytes data) {
    for (size_t at = 0; at < data.size(); at += record_text_bytes)
        sending_->seal(output, FrameType::record,
                       data.subspan(at, std::min(record_text_bytes, data.size() - at)));
}

void ExchangeEnd::send_last() { sending_->seal(output, FrameType::last_record, {}); }

ServerExchange::ServerExchange(warpseal_engine* engine, SecretKey exporter, uint8_t set)
    : ExchangeEnd(engine, std::move(exporter)) {
    set_ = set;
}

void ServerExchange::take_frame(const Frame& frame) {
    if (state_ == State::hello) return take_hello(frame);
    if (state_ == State::ciphertext) return take_ciphertext(frame);
    throw ExchangeError("a frame at the wrong time");
}

void ServerExchange::take_hello(const Frame& frame) {
    constexpr size_t most_sets = 255;
    if (frame.type != FrameType::hello || frame.set != 0 || frame.body.empty() ||
        frame.body.size() > most_sets)
        throw ExchangeError("no hello");
    if (std::find(frame.body.begin(), frame.body.end(), set_) == frame.body.end())
        throw NoCommonSet();
    transcript_.add(frame);
    state_ = State::wants_key;
}

void ServerExchange::give_key(Bytes public_key) {
    const Header header = frame_header(FrameType::key, set_, public_key.size());
    transcript_.add(header, public_key);
    append_frame(output, FrameType::key, set_, public_key);
    state_ = State::ciphertext;
    go_on();
}

void ServerExchange::take_ciphertext(const Frame& frame) {
    const size_t ciphertext_bytes = exchange_set(set_)->ciphertext_bytes;
    require(frame, FrameType::ciphertext, ciphertext_bytes + mac_bytes);
    if (frame.set != set_) throw ExchangeError("a ciphertext of another set");
    ciphertext_.assign(frame.body.begin(),
                       frame.body.begin() + static_cast<std::ptrdiff_t>(ciphertext_bytes));
    std::copy_n(frame.body.begin() + static_cast<std::ptrdiff_t>(ciphertext_bytes), mac_bytes,
                confirmation_.begin());
    transcript_.add(frame.header, ciphertext_);
    state_ = State::wants_secret;
}

void ServerExchange::give_secret(const SecretKey& shared_secret) {
    keys_ = derive_keys(exporter_, shared_secret, transcript_, exchange_set(set_)->name);
    if (!equal(keys_.client_confirmation, confirmation_))
        throw ExchangeError("the client has another secret");
    append_frame(output, FrameType::confirmation, 0, keys_.server_confirmation);
    state_ = State::open;
    begin_records(keys_.server_data, keys_.client_data);
    go_on();
}

ClientExchange::ClientExchange(warpseal_engine* engine, SecretKey exporter,
                               std::vector<uint8_t> sets)
    : ExchangeEnd(engine, std::move(exporter)), sets_(std::move(sets)) {
    append_frame(output, FrameType::hello, 0, sets_);
    transcript_.add(frame_header(FrameType::hello, 0, sets_.size()), sets_);
}

void ClientExchange::take_frame(const Frame& frame) {
    if (!answered_) return take_key(frame);
    require(frame, FrameType::confirmation, mac_bytes);
    if (frame.set != 0 || !equal(keys_.server_confirmation, frame.body))
        throw ExchangeError("the server has another secret");
    begin_records(keys_.client_data, keys_.server_data);
}

void ClientExchange::take_key(const Frame& frame) {
    const warpseal_kem_info* const set = exchange_set(frame.set);
    if (!set || std::find(sets_.begin(), sets_.end(), frame.set) == sets_.end())
        throw ExchangeError("a set that was not asked for");
    require(frame, FrameType::key, set->public_key_bytes);
    set_ = frame.set;
    transcript_.add(frame);
    std::vector<uint8_t> public_key = frame.body, answer(set->ciphertext_bytes);
    SecretKey shared_secret;
    warpseal_kem_batch one{};
    one.struct_bytes = sizeof one;
    one.count = 1;
    one.public_keys = public_key.data();
    one.public_key_stride = set->public_key_bytes;
    one.ciphertexts = answer.data();
    one.ciphertext_stride = set->ciphertext_bytes;
    one.shared_secrets = shared_secret.data();
    one.shared_secret_stride = set->shared_secret_bytes;
    const warpseal_status status = warpseal_kem_encapsulate(engine_, set->name, &one);
    if (status == WARPSEAL_INVALID_ARGUMENT) throw ExchangeError("what came is no public key");
    require_ok(status);
    const Header header = frame_header(FrameType::ciphertext, set_, answer.size() + mac_bytes);
    transcript_.add(header, answer);
    keys_ = derive_keys(exporter_, shared_secret, transcript_, set->name);
    answer.insert(answer.end(), keys_.client_confirmation.begin(), keys_.client_confirmation.end());
    append_frame(output, FrameType::ciphertext, set_, answer);
    answered_ = true;
}

}  // namespace warpseal::tls
