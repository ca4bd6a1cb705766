// Random sequences of EVP calls to our provider and to OpenSSL's own, which must answer alike:
// results, lengths, outputs, IVs and tags.
#include "differences.h"
#include "provider/cipher.h"

namespace {

using fuzz::Record;
using tests::Bytes;
using tests::Evp;
using tests::Random;

constexpr size_t longest = 5000;

struct Ciphers {
    std::string name;
    tests::Cipher mine, other;
};

// Every cipher that both have.
const std::vector<Ciphers>& ciphers() {
    static const std::vector<Ciphers>& all = *[] {
        auto* const out = new std::vector<Ciphers>;
        for (const std::string& name : tests::our_ciphers()) {
            tests::Cipher other = tests::stock_cipher(name);
            if (other) out->push_back({name, tests::our_cipher(name), std::move(other)});
        }
        if (out->empty()) throw std::runtime_error("no cipher in common");
        return out;
    }();
    return all;
}

// One context of each provider. Every call goes to both.
class Pair {
public:
    Pair(const Ciphers& ciphers, Random& random, Record& record)
        : random_(random),
          record_(record),
          mine_(std::make_unique<Evp>(ciphers.mine.get())),
          other_(std::make_unique<Evp>(ciphers.other.get())) {
        record.call(ciphers.name);
    }

    template <class Call>
    bool both(const std::string& what, const Call& call) {
        record_.call(what);
        const bool mine = call(*mine_), other = call(*other_);
        record_.compare(mine == other, what + (mine ? ": we succeed" : ": we fail"));
        return mine;
    }
    bool init(int encrypt, const Bytes* key, const Bytes* iv) {
        const auto start = [&](Evp& one) {
            return EVP_CipherInit_ex2(one.get(), fresh_ ? one.cipher() : nullptr,
                                      key == nullptr ? nullptr : key->data(),
                                      iv == nullptr ? nullptr : iv->data(), encrypt, nullptr) == 1;
        };
        const bool done = both(std::string("init") + (key ? " key" : "") + (iv ? " IV" : "") +
                                   " direction " + std::to_string(encrypt),
                               start);
        fresh_ = false;
        return done;
    }
    bool set(int what, const char* name, size_t bytes, void* data) {
        return both(name + (" " + std::to_string(bytes)),
                    [&](Evp& one) { return one.control(what, bytes, data); });
    }
    bool pad(bool on) {
        return both(on ? "pad" : "do not pad", [&](Evp& one) { return one.pad(on); });
    }
    bool aad(const Bytes& data) {
        return both("AAD " + std::to_string(data.size()),
                    [&](Evp& one) { return one.aad(data.data(), data.size()); });
    }
    // CCM: the length of the text, before the AAD.
    bool length(size_t bytes) {
        return both("length " + std::to_string(bytes), [&](Evp& one) {
            int made = 0;
            return EVP_CipherUpdate(one.get(), nullptr, &made, nullptr, static_cast<int>(bytes)) ==
                   1;
        });
    }
    bool update(const Bytes& in, bool in_place) {
        Bytes out[2];
        size_t made[2] = {}, which = 0;
        const bool done = both(
            "update " + std::to_string(in.size()) + (in_place ? " in place" : ""), [&](Evp& one) {
                Bytes& to = out[which];
                to.assign(in.size() + 2 * EVP_MAX_BLOCK_LENGTH, 0xa5);
                if (in_place) std::copy(in.begin(), in.end(), to.begin());
                return one.update(in_place ? to.data() : in.data(), in.size(), to.data(),
                                  &made[which++]);
            });
        if (done) compare(out, made, "output of an update");
        return done;
    }
    bool final() {
        Bytes out[2];
        size_t made[2] = {}, which = 0;
        const bool done = both("final", [&](Evp& one) {
            out[which].assign(EVP_MAX_BLOCK_LENGTH, 0xa5);
            const bool good = one.final(out[which].data(), &made[which]);
            ++which;
            return good;
        });
        if (done) compare(out, made, "output of final");
        return done;
    }
    Bytes tag(size_t bytes) {
        Bytes tags[2] = {Bytes(bytes), Bytes(bytes)};
        size_t which = 0;
        if (!both("tag " + std::to_string(bytes), [&](Evp& one) {
                return one.control(EVP_CTRL_AEAD_GET_TAG, bytes, tags[which++].data());
            }))
            return {};
        record_.compare(tags[0] == tags[1], "tag");
        record_.output();
        return tags[0];
    }
    void compare_state() {
        uint8_t ivs[2][EVP_MAX_IV_LENGTH] = {};
        size_t which = 0;
        if (both("updated IV", [&](Evp& one) {
                return EVP_CIPHER_CTX_get_updated_iv(one.get(), ivs[which++], EVP_MAX_IV_LENGTH) ==
                       1;
            }))
            record_.compare(std::equal(ivs[0], ivs[0] + EVP_MAX_IV_LENGTH, ivs[1]), "IV");
        record_.compare(
            EVP_CIPHER_CTX_get_num(mine_->get()) == EVP_CIPHER_CTX_get_num(other_->get()), "num");
    }
    // Continues in copies. What they were made of may get another update first.
    void copy(bool update = true) {
        record_.call("copy");
        auto mine = std::make_unique<Evp>(*mine_), other = std::make_unique<Evp>(*other_);
        mine.swap(mine_);
        other.swap(other_);
        if (!update || random_.one_in(2)) return;
        uint8_t in[40] = {}, out[2][80] = {};
        size_t made[2] = {};
        const bool done = mine->update(in, sizeof in, out[0], &made[0]);
        record_.compare(done == other->update(in, sizeof in, out[1], &made[1]),
                        "update of what was copied");
        if (done)
            record_.compare(made[0] == made[1] && std::equal(out[0], out[0] + made[0], out[1]),
                            "output of what was copied");
    }

private:
    // Bytes past the output must be unchanged where the input was elsewhere.
    void compare(const Bytes out[2], const size_t made[2], const char* what) {
        record_.compare(made[0] == made[1], std::string("length of the ") + what);
        record_.compare(std::equal(out[0].begin(), out[0].begin() + static_cast<ptrdiff_t>(made[0]),
                                   out[1].begin()),
                        what);
        record_.output();
    }

    Random& random_;
    Record& record_;
    std::unique_ptr<Evp> mine_, other_;
    bool fresh_ = true;
};

size_t some_length(Random& random) {
    return random.one_in(6) ? random.below(longest + 1)
                            : random.length(random.one_in(2) ? 300 : 40);
}

// ECB, CBC, CFB, OFB and CTR: any calls in any order. What a call does after a failure is not
// documented, so that a failure is followed by a key, an IV and a direction.
void plain_sequence(const Ciphers& one, Random& random, Record& record) {
    const size_t key_bytes = tests::key_bytes(one.mine), iv_bytes = tests::iv_bytes(one.mine),
                 block = static_cast<size_t>(EVP_CIPHER_get_block_size(one.mine.get()));
    Pair pair(one, random, record);
    Bytes key = random.text(key_bytes), iv = random.text(std::max<size_t>(iv_bytes, 1));
    const auto restart = [&] {
        key = random.text(key_bytes);
        return pair.init(static_cast<int>(random.below(2)), &key, &iv) &&
               pair.pad(random.one_in(2));
    };
    // OpenSSL overwrites input in place where it holds bytes back.
    const auto may_be_in_place = [&] { return block == 1 && random.one_in(2); };
    bool good = restart();
    for (size_t step = 0, steps = 4 + random.below(24); step < steps; ++step) {
        if (!good) good = restart();
        iv = random.text(iv.size());
        switch (random.below(12)) {
            case 0: good = pair.init(-1, nullptr, &iv); break;
            case 1: {
                const Bytes next = random.text(key_bytes);
                good = pair.init(-1, &next, &iv);
                break;
            }
            case 2: good = pair.init(static_cast<int>(random.below(2)), &key, &iv); break;
            case 3: good = pair.pad(random.one_in(2)); break;
            case 4: pair.copy(); break;
            case 5:
                good = pair.final() && pair.init(-1, nullptr, random.one_in(2) ? &iv : nullptr);
                break;
            case 6: good = restart(); break;
            default: {
                const size_t bytes = some_length(random);
                const bool whole = random.one_in(3);
                good = pair.update(random.text(whole ? bytes / 16 * 16 : bytes), may_be_in_place());
                if (good && block == 1) pair.compare_state();
            }
        }
    }
}

// Adds the text of a message in segments, or CCM's at once. CCM without text is left out: we give
// its tag, and OpenSSL refuses it.
bool add_text(Pair& pair, const Bytes& text, bool at_once, Random& random) {
    if (at_once) return pair.update(text, random.one_in(2));
    for (size_t done = 0; done < text.size();) {
        const size_t n = std::min(text.size() - done, some_length(random));
        const auto from = text.begin() + static_cast<ptrdiff_t>(done);
        if (!pair.update(Bytes(from, from + static_cast<ptrdiff_t>(n)), random.one_in(2)))
            return false;
        done += n;
        if (random.one_in(8)) pair.copy();
    }
    return true;
}

// One message with a tag of a context. Tags to open with are random in most cases, and then both
// must refuse them; or those that sealing the same message gave.
struct Tagged {
    Bytes iv, aad, text, tag;
    size_t tag_bytes = 16;
};

bool tagged_message(Pair& pair, bool ccm, bool seals, const Bytes* key, Tagged& message,
                    Random& random) {
    if (!pair.init(seals ? 1 : 0, nullptr, nullptr) ||
        !pair.set(EVP_CTRL_AEAD_SET_IVLEN, "IV length", message.iv.size(), nullptr))
        return false;
    if ((ccm || !seals) && !pair.set(EVP_CTRL_AEAD_SET_TAG, "set tag", message.tag_bytes,
                                     seals ? nullptr : message.tag.data()))
        return false;
    if (!pair.init(-1, key, &message.iv)) return false;
    if (ccm && !pair.length(message.text.size())) return false;
    if (!message.aad.empty() && !pair.aad(message.aad)) return false;
    if (!add_text(pair, message.text, ccm, random) || !pair.final()) return false;
    if (seals) message.tag = pair.tag(message.tag_bytes);
    return true;
}

constexpr size_t gcm_tags[] = {4, 8, 12, 13, 14, 15, 16};

void tagged_sequence(const Ciphers& one, Random& random, Record& record) {
    const bool ccm = tests::mode(one.mine) == EVP_CIPH_CCM_MODE;
    Pair pair(one, random, record);
    Bytes key = random.text(tests::key_bytes(one.mine));
    for (size_t i = 0, count = 1 + random.below(6); i < count; ++i) {
        Tagged message;
        // CCM: also lengths that it refuses. GCM: without the lengths that we alone refuse.
        message.iv = random.text(ccm                ? 6 + random.below(9)
                                 : random.one_in(2) ? 12
                                                    : 1 + random.below(64));
        message.tag_bytes =
            ccm ? 2 + random.below(16) : gcm_tags[random.below(std::size(gcm_tags))];
        message.tag = random.text(message.tag_bytes);
        message.aad = random.text(random.one_in(3) ? 0 : random.length(300));
        message.text = random.text((ccm ? 1 : 0) + some_length(random));
        if (random.one_in(2)) key = random.text(key.size());
        const bool seals = random.one_in(2);
        if (!tagged_message(pair, ccm, seals, &key, message, random)) return;
        if (seals && random.one_in(4)) message.tag[0] ^= 1;
        if (seals) tagged_message(pair, ccm, false, &key, message, random);
        if (random.one_in(4)) pair.copy(false);
    }
}

// Data units of any length, the refused ones too.
void xts_sequence(const Ciphers& one, Random& random, Record& record) {
    Pair pair(one, random, record);
    Bytes key = random.text(tests::key_bytes(one.mine));
    for (size_t i = 0, count = 1 + random.below(8); i < count; ++i) {
        const Bytes iv = random.text(16);
        if (random.one_in(2)) key = random.text(key.size());
        if (!pair.init(static_cast<int>(random.below(2)), &key, &iv)) return;
        for (size_t units = 1 + random.below(3); units != 0; --units) {
            if (random.one_in(6)) pair.copy();
            if (!pair.update(random.text(some_length(random)), random.one_in(2))) return;
        }
        if (random.one_in(2) && !pair.final()) return;
    }
}

void sequence(Random& random, Record& record) {
    const Ciphers& one = ciphers().at(random.below(ciphers().size()));
    const int mode = tests::mode(one.mine);
    if (mode == EVP_CIPH_XTS_MODE)
        xts_sequence(one, random, record);
    else if (tests::authenticated(one.mine))
        tagged_sequence(one, random, record);
    else
        plain_sequence(one, random, record);
    ERR_clear_error();
}

}  // namespace

int main(int argc, char** argv) { return fuzz::run(argc, argv, sequence); }
