// Streaming contexts: any sequence of messages, AAD, updates, tags, clones and new keys. Each
// message has the bytes of the call for the whole message, and a refused call changes nothing.
#include <array>
#include <memory>

#include "c_api/internal.h"
#include "c_api/internal_stream.h"
#include "container/readers.h"
#include "fuzz/target.h"

namespace {

using fuzz::claim;
using fuzz::Data;

constexpr size_t most_text = 150'000;  // of a message: past the updates with a route of their own

struct Cipher {
    warpseal_cipher_info info{};
    std::array<warpseal_key*, 2> keys{};
};

const std::vector<Cipher>& ciphers() {
    static const std::vector<Cipher>& all = *[] {
        auto* const out = new std::vector<Cipher>;
        tests::Random random(71);
        for (Cipher one; warpseal_cipher_at(out->size(), &one.info) == WARPSEAL_OK;
             out->push_back(one))
            for (warpseal_key*& key : one.keys) {
                const Data secret = random.text(one.info.key_bytes);
                claim(warpseal_key_create(tests::c_engine(), one.info.name, secret.data(),
                                          secret.size(), &key) == WARPSEAL_OK,
                      "a key is made");
            }
        return out;
    }();
    return all;
}

struct Destroy {
    void operator()(warpseal_internal_stream* stream) const {
        warpseal_internal_stream_destroy(stream);
    }
};

// A context, and what its message must be.
struct Stream {
    std::unique_ptr<warpseal_internal_stream, Destroy> handle;
    size_t key = 0;
    bool begun = false;
    Data iv, aad, in, out;

    void end() {
        begun = false;
        aad.clear(), in.clear(), out.clear();
    }
};

class Sequence {
public:
    Sequence(const Cipher& cipher, warpseal_mode mode, bool decrypts)
        : cipher_(cipher), mode_(mode), decrypts_(decrypts) {
        for (Stream& stream : streams_) {
            warpseal_internal_stream* made = nullptr;
            claim(warpseal_internal_stream_create(cipher.keys[0], mode, decrypts ? 1 : 0, &made) ==
                      WARPSEAL_OK,
                  "a context is made for a mode that the cipher has");
            stream.handle.reset(made);
        }
    }

    void step(fuzz::Input& input) {
        const size_t what = input.below(16);
        Stream& stream = streams_[input.below(streams_.size())];
        if (what < 3)
            begin(stream, input);
        else if (what == 3)
            add_aad(stream, input.below(700));
        else if (what == 4)
            finish(stream, input.below(18));
        else if (what == 5)
            clone(stream);
        else if (what == 6)
            rekey(stream, input.below(2));
        else
            update(stream,
                   what < 10                          ? input.below(40)
                   : what < 15 || input.below(4) != 0 ? input.below(1500)
                                                      : input.below(80'000),
                   input.below(2) == 0);
    }
    void check_all() {
        for (Stream& stream : streams_) check_message(stream);
    }

private:
    bool gcm() const { return mode_ == WARPSEAL_GCM; }

    // Compares what has come out so far with the call for the whole message.
    void check_message(const Stream& stream) const {
        if (!stream.begun) return;
        const warpseal_key* const key = cipher_.keys[stream.key];
        Data whole(stream.in.size());
        if (gcm()) {  // the keystream of either direction is that of sealing
            uint8_t tag[16];
            claim(warpseal_internal_seal(key, mode_, stream.iv.data(), stream.iv.size(), nullptr, 0,
                                         stream.in.data(), whole.data(), whole.size(), tag,
                                         16) == WARPSEAL_OK,
                  "the whole message is accepted");
        } else {
            claim((decrypts_ ? warpseal_decrypt : warpseal_encrypt)(
                      key, mode_, stream.iv.data(), stream.iv.size(), stream.in.data(),
                      whole.data(), whole.size()) == WARPSEAL_OK,
                  "the whole message is accepted");
        }
        claim(whole == stream.out, "updates write what the call for the whole message writes");
    }

    void begin(Stream& stream, fuzz::Input& input) {
        const size_t block = cipher_.info.block_bytes,
                     usual = mode_ == WARPSEAL_ECB ? 0
                             : gcm()               ? 12
                                                   : block,
                     bytes = input.below(4) == 0 ? input.below(40) : usual;
        Data iv = input.take(bytes);
        for (size_t i = 0; i + 1 < bytes && bytes > 12 && input.below(4) == 0; ++i)
            iv[i + 1] = 0xff;
        check_message(stream);
        stream.end();
        const bool right = gcm() ? bytes != 0 : bytes == usual;
        claim((warpseal_internal_stream_init(stream.handle.get(), iv.data(), bytes) ==
               WARPSEAL_OK) == right,
              "an IV of the mode's length begins a message, and no other");
        stream.begun = right;
        stream.iv = iv;
    }

    void add_aad(Stream& stream, size_t bytes) {
        const Data more = tests::Random(stream.aad.size()).text(bytes);
        const bool right = gcm() && stream.begun && stream.in.empty();
        claim((warpseal_internal_stream_aad(stream.handle.get(), more.data(), bytes) ==
               WARPSEAL_OK) == right,
              "AAD is for GCM, before the text");
        if (right) stream.aad.insert(stream.aad.end(), more.begin(), more.end());
    }

    void update(Stream& stream, size_t bytes, bool in_place) {
        if (stream.in.size() + bytes > most_text) return;
        const size_t block = cipher_.info.block_bytes;
        const Data in = tests::Random(stream.in.size() + 1).text(bytes);
        Data out = in_place ? in : Data(bytes, 0xa5);
        out.resize(bytes + 16, 0x5a);
        const bool blocks = mode_ == WARPSEAL_ECB || mode_ == WARPSEAL_CBC,
                   right = stream.begun && (!blocks || bytes % block == 0);
        const Data before = out;
        const warpseal_status status = warpseal_internal_stream_update(
            stream.handle.get(), in_place ? out.data() : in.data(), out.data(), bytes);
        claim((status == WARPSEAL_OK) == right, "an update of the mode's lengths is accepted");
        claim(std::equal(out.end() - 16, out.end(), before.end() - 16),
              "nothing is written past the text");
        if (!right) {
            claim(out == before, "a refused update writes nothing");
            return;
        }
        stream.in.insert(stream.in.end(), in.begin(), in.end());
        stream.out.insert(stream.out.end(), out.begin(), out.end() - 16);
        uint32_t used = 99;
        uint8_t position[16];
        warpseal_internal_stream_position(stream.handle.get(), position, &used);
        claim(used == stream.in.size() % block, "the position is that of the text");
    }

    // Of GCM: the tag of the whole message, and verification.
    void finish(Stream& stream, size_t tag_bytes) {
        uint8_t tag[18] = {}, whole[16] = {};
        const bool right = gcm() && stream.begun && tag_bytes >= 1 && tag_bytes <= 16;
        check_message(stream);
        Data sealed(stream.out.size());
        if (right)
            claim(warpseal_internal_seal(cipher_.keys[stream.key], mode_, stream.iv.data(),
                                         stream.iv.size(), stream.aad.data(), stream.aad.size(),
                                         (decrypts_ ? stream.out : stream.in).data(), sealed.data(),
                                         sealed.size(), whole, 16) == WARPSEAL_OK,
                  "the whole message is sealed");
        if (decrypts_ && right && tag_bytes % 2 == 0) {
            const bool changed = tag_bytes % 4 == 0;
            whole[tag_bytes - 1] ^= changed ? 1 : 0;
            claim(warpseal_internal_stream_verify(stream.handle.get(), whole, tag_bytes) ==
                      (changed ? WARPSEAL_NOT_AUTHENTIC : WARPSEAL_OK),
                  "the message's tag verifies, and no other");
        } else {
            claim((warpseal_internal_stream_tag(stream.handle.get(), tag, tag_bytes) ==
                   WARPSEAL_OK) == right,
                  "a message of GCM has a tag of 1 to 16 bytes");
            claim(!right || std::memcmp(tag, whole, tag_bytes) == 0,
                  "the tag is that of the whole message");
        }
        if (right) stream.end();
    }

    void clone(const Stream& stream) {
        Stream& other = streams_[&stream == &streams_[0] ? 1 : 0];
        check_message(other);
        warpseal_internal_stream* made = nullptr;
        claim(warpseal_internal_stream_copy(stream.handle.get(), &made) == WARPSEAL_OK,
              "a context is cloned at any time");
        other.handle.reset(made);
        other.key = stream.key;
        other.begun = stream.begun;
        other.iv = stream.iv;
        other.aad = stream.aad;
        other.in = stream.in;
        other.out = stream.out;
    }

    void rekey(Stream& stream, size_t key) {
        check_message(stream);
        stream.end();
        stream.key = key;
        claim(warpseal_internal_stream_rekey(stream.handle.get(), cipher_.keys[key]) == WARPSEAL_OK,
              "a key of the same cipher is taken");
    }

    const Cipher& cipher_;
    const warpseal_mode mode_;
    const bool decrypts_;
    std::array<Stream, 3> streams_;
};

// The first three bytes choose cipher, mode and direction.
void run(const uint8_t* data, size_t bytes) {
    static constexpr warpseal_mode modes[] = {WARPSEAL_ECB, WARPSEAL_CBC, WARPSEAL_CFB,
                                              WARPSEAL_OFB, WARPSEAL_CTR, WARPSEAL_GCM};
    fuzz::Input input(data, bytes);
    const Cipher& cipher = ciphers()[input.below(ciphers().size())];
    const warpseal_mode mode = modes[input.below(std::size(modes))];
    const bool decrypts = input.below(2) != 0;
    if ((cipher.info.modes >> mode & 1) == 0) return;
    Sequence sequence(cipher, mode, decrypts);
    for (int steps = 0; steps < 60 && input.left() != 0; ++steps) sequence.step(input);
    sequence.check_all();
}

FUZZ_TARGET("streaming", run);

}  // namespace
