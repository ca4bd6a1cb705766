// Client and server of the exchange as state machines over bytes, independent of the transport
// (docs/tls-exchange.md).
#pragma once

#include <memory>

#include "examples/tls_exchange/exchange.h"

namespace warpseal::tls {

// Data of one direction: AES-256-GCM with a counter as nonce.
class Records {
public:
    Records(warpseal_engine* engine, const SecretKey& key);
    // Appends a record of at most record_text_bytes bytes of text.
    void seal(std::vector<uint8_t>& out, FrameType type, Bytes text);
    // Appends the text of an authentic record. Throws ExchangeError.
    void open(const Frame& frame, std::vector<uint8_t>& text);

private:
    struct Destroy {
        void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
    };
    std::array<uint8_t, 12> next_nonce();
    std::unique_ptr<warpseal_key, Destroy> key_;
    uint64_t count_ = 0;
};

// Thrown if the other side has refused; no refusal is sent in return.
struct Refused : ExchangeError {
    using ExchangeError::ExchangeError;
};

// Common part of both ends: frames in and out, and records once both sides have confirmed.
class ExchangeEnd {
public:
    ExchangeEnd(warpseal_engine* engine, SecretKey exporter)
        : engine_(engine), exporter_(std::move(exporter)) {}
    virtual ~ExchangeEnd() = default;

    // Bytes for the other side; the caller removes sent bytes from the front.
    std::vector<uint8_t> output;
    // Authentic received data, for the caller to take.
    std::vector<uint8_t> text;

    // Processes received bytes. Throws ExchangeError for wrong input; afterwards only refuse() may
    // be called.
    void take(Bytes piece);
    // Returns true if the other side has ended its data; later data is an error.
    bool finished() const { return finished_; }
    bool open() const { return sending_ != nullptr; }
    // Sends data to the other side; requires open().
    void send(Bytes data);
    void send_last();
    void refuse(Refusal why) {
        append_frame(output, FrameType::refusal, 0, {{static_cast<uint8_t>(why)}});
    }

protected:
    // Processes a frame of the exchange itself.
    virtual void take_frame(const Frame& frame) = 0;
    // Returns true while the machine waits for its caller and processes no frames.
    virtual bool waiting() const { return false; }
    void go_on();
    static void require(const Frame& frame, FrameType type, size_t body_bytes);
    void begin_records(const SecretKey& sending, const SecretKey& receiving);

    warpseal_engine* const engine_;
    SecretKey exporter_;
    Transcript transcript_;
    uint8_t set_ = 0;
    ExchangeKeys keys_;

private:
    FrameReader reader_;
    std::unique_ptr<Records> sending_, receiving_;
    bool finished_ = false;
};

// Server side, with a fresh key pair for each client. The caller supplies the public key, and later
// the secret that the ciphertext holds.
class ServerExchange : public ExchangeEnd {
public:
    // `set`: the set that this server supports.
    ServerExchange(warpseal_engine* engine, SecretKey exporter, uint8_t set);
    bool wants_key() const { return state_ == State::wants_key; }
    void give_key(Bytes public_key);
    bool wants_secret() const { return state_ == State::wants_secret; }
    const std::vector<uint8_t>& ciphertext() const { return ciphertext_; }
    // Throws ExchangeError if the client's confirmation does not match that secret.
    void give_secret(const SecretKey& shared_secret);

private:
    enum class State { hello, wants_key, ciphertext, wants_secret, open };
    void take_frame(const Frame& frame) override;
    bool waiting() const override { return wants_key() || wants_secret(); }
    void take_hello(const Frame& frame);
    void take_ciphertext(const Frame& frame);

    State state_ = State::hello;
    std::vector<uint8_t> ciphertext_;
    Mac confirmation_{};
};

// Thrown if the server supports none of the client's sets.
struct NoCommonSet : ExchangeError {
    NoCommonSet() : ExchangeError("no set in common") {}
};

class ClientExchange : public ExchangeEnd {
public:
    // `sets`: accepted sets, best first. The constructor puts the hello into `output`.
    ClientExchange(warpseal_engine* engine, SecretKey exporter, std::vector<uint8_t> sets);

private:
    void take_frame(const Frame& frame) override;
    void take_key(const Frame& frame);

    const std::vector<uint8_t> sets_;
    bool answered_ = false;
};

}  // namespace warpseal::tls
