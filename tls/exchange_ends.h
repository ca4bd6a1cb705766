// The two ends of the exchange, as machines that take and give bytes: what carries these is the
// caller's business (docs/tls-exchange.md).
#pragma once

#include <memory>

#include "exchange.h"

namespace warpseal::tls {

// One direction's data: AES-256-GCM under its key, with a counter for the nonce.
class Records {
public:
    Records(warpseal_engine* engine, const SecretKey& key);
    // Appends a record of at most record_text_bytes of text.
    void seal(std::vector<uint8_t>& out, FrameType type, Bytes text);
    // Appends the text of one that is authentic. Throws ExchangeError.
    void open(const Frame& frame, std::vector<uint8_t>& text);

private:
    struct Destroy {
        void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
    };
    std::array<uint8_t, 12> next_nonce();
    std::unique_ptr<warpseal_key, Destroy> key_;
    uint64_t count_ = 0;
};

// The other side has refused: it is not told so in turn.
struct Refused : ExchangeError {
    using ExchangeError::ExchangeError;
};

// What both ends have in common: frames in, frames out, and records once both have confirmed.
class ExchangeEnd {
public:
    ExchangeEnd(warpseal_engine* engine, SecretKey exporter)
        : engine_(engine), exporter_(std::move(exporter)) {}
    virtual ~ExchangeEnd() = default;

    // Bytes for the other side; the caller takes from the front what it has sent.
    std::vector<uint8_t> output;
    // Data that has come, authentic; the caller takes it.
    std::vector<uint8_t> text;

    // Throws ExchangeError: what came is wrong, and the end is good for nothing but refuse().
    void take(Bytes piece);
    // The other side has ended its data; what comes after that is an error.
    bool finished() const { return finished_; }
    bool open() const { return sending_ != nullptr; }
    // Data for the other side. Only when open.
    void send(Bytes data);
    void send_last();
    void refuse(Refusal why) {
        append_frame(output, FrameType::refusal, 0, {{static_cast<uint8_t>(why)}});
    }

protected:
    // A frame of the exchange itself.
    virtual void take_frame(const Frame& frame) = 0;
    // The machine waits for its caller, and looks at no frame meanwhile.
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

// Has a fresh key pair for each client, of which its caller brings the public key and, later, the
// secret that a ciphertext holds.
class ServerExchange : public ExchangeEnd {
public:
    // set: the one that this server has.
    ServerExchange(warpseal_engine* engine, SecretKey exporter, uint8_t set);
    bool wants_key() const { return state_ == State::wants_key; }
    void give_key(Bytes public_key);
    bool wants_secret() const { return state_ == State::wants_secret; }
    const std::vector<uint8_t>& ciphertext() const { return ciphertext_; }
    // Throws ExchangeError if the client has not confirmed that secret.
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

// The server has none of the sets that the client takes.
struct NoCommonSet : ExchangeError {
    NoCommonSet() : ExchangeError("no set in common") {}
};

class ClientExchange : public ExchangeEnd {
public:
    // sets: those that it takes, the best first. Its hello is in `output`.
    ClientExchange(warpseal_engine* engine, SecretKey exporter, std::vector<uint8_t> sets);

private:
    void take_frame(const Frame& frame) override;
    void take_key(const Frame& frame);

    const std::vector<uint8_t> sets_;
    bool answered_ = false;
};

}  // namespace warpseal::tls
