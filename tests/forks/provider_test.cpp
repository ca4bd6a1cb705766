// The provider in children forked while threads of their parent use it. The parent's load does not
// fetch, make EVP keys or draw from libcrypto's random generators. Those take libcrypto locks,
// which a fork can leave held (docs/provider.md).
#include <gtest/gtest.h>
#include <openssl/async.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

#include "calls.h"
#include "children.h"
#include "provider/library.h"

namespace {

using forks::wrong;
using tests::Library;

struct FreeCipher {
    void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER, FreeCipher>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

std::vector<Cipher> every_cipher(OSSL_LIB_CTX* library) {
    std::vector<Cipher> all;
    EVP_CIPHER_do_all_provided(
        library,
        [](EVP_CIPHER* cipher, void* out) {
            if (std::strcmp(OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(cipher)),
                            "warpseal") != 0 ||
                EVP_CIPHER_up_ref(cipher) != 1)
                return;
            static_cast<std::vector<Cipher>*>(out)->emplace_back(cipher);
        },
        &all);
    return all;
}

// Encrypts in two segments, or decrypts. A null `key` uses the context's key.
bool pass(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, bool encrypt, const uint8_t* key,
          const uint8_t* iv, const tests::Bytes& in, tests::Bytes& out, uint8_t tag[16]) {
    const int mode = EVP_CIPHER_get_mode(cipher);
    const bool authenticated = mode == EVP_CIPH_GCM_MODE || mode == EVP_CIPH_CCM_MODE;
    const int whole = static_cast<int>(in.size());
    int part = 0, end = 0;
    out.assign(in.size() + 32, 0);
    RIGHT(EVP_CipherInit_ex2(context, cipher, nullptr, nullptr, encrypt ? 1 : 0, nullptr) == 1);
    if (mode == EVP_CIPH_CCM_MODE || (authenticated && !encrypt))
        RIGHT(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, encrypt ? nullptr : tag) ==
              1);
    RIGHT(EVP_CipherInit_ex2(context, nullptr, key, iv, encrypt ? 1 : 0, nullptr) == 1);
    if (!authenticated) RIGHT(EVP_CIPHER_CTX_set_padding(context, 0) == 1);
    if (mode == EVP_CIPH_CCM_MODE)
        RIGHT(EVP_CipherUpdate(context, nullptr, &part, nullptr, whole) == 1);
    RIGHT(EVP_CipherUpdate(context, out.data(), &part, in.data(), whole) == 1);
    if (mode != EVP_CIPH_CCM_MODE || encrypt)
        RIGHT(EVP_CipherFinal_ex(context, out.data() + part, &end) == 1);
    if (authenticated && encrypt)
        RIGHT(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1);
    RIGHT(part + end == whole);
    out.resize(in.size());
    return true;
}

// Encrypts with `kept`, if not null, and decrypts with a new context.
bool cipher_works(const EVP_CIPHER* cipher, EVP_CIPHER_CTX* kept) {
    uint8_t key[64], iv[16], tag[16];
    RIGHT(getrandom(key, sizeof key, 0) == sizeof key && getrandom(iv, sizeof iv, 0) == sizeof iv);
    const tests::Bytes text(320, 7);
    tests::Bytes sealed, opened;
    const CipherContext first(EVP_CIPHER_CTX_new()), second(EVP_CIPHER_CTX_new());
    RIGHT(first != nullptr && second != nullptr);
    RIGHT(pass(kept == nullptr ? first.get() : kept, cipher, true, key, iv, text, sealed, tag) &&
          sealed != text);
    RIGHT(pass(second.get(), cipher, false, key, iv, sealed, opened, tag) && opened == text);
    return true;
}

// A key of a group and one of X25519, and contexts prepared for them.
struct Prepared {
    tests::Key key, agreeing;
    tests::KeyContext there, back, agreement;
    tests::Bytes ciphertext, secret, received, expected, agreed;

    Prepared(const Library& library, const std::string& group)
        : key(library.generate(group)), agreeing(library.generate("X25519")) {
        if (key == nullptr || agreeing == nullptr) throw std::runtime_error("no key of " + group);
        expected = tests::agreed(library, agreeing.get(), agreeing.get());
        agreement = library.on(agreeing.get());
        agreed.resize(expected.size());
        if (expected.empty() || EVP_PKEY_derive_init(agreement.get()) != 1 ||
            EVP_PKEY_derive_set_peer(agreement.get(), agreeing.get()) != 1)
            throw std::runtime_error("no agreement");
        there = library.on(key.get());
        back = library.on(key.get());
        size_t bytes = 0, secret_bytes = 0;
        if (EVP_PKEY_encapsulate_init(there.get(), nullptr) != 1 ||
            EVP_PKEY_decapsulate_init(back.get(), nullptr) != 1 ||
            EVP_PKEY_encapsulate(there.get(), nullptr, &bytes, nullptr, &secret_bytes) != 1)
            throw std::runtime_error("no context of " + group);
        ciphertext.resize(bytes);
        secret.resize(secret_bytes);
        received.resize(secret_bytes);
    }
    bool works() {
        size_t bytes = ciphertext.size(), sent = secret.size(), got = received.size();
        RIGHT(EVP_PKEY_encapsulate(there.get(), ciphertext.data(), &bytes, secret.data(), &sent) ==
              1);
        RIGHT(EVP_PKEY_decapsulate(back.get(), received.data(), &got, ciphertext.data(), bytes) ==
                  1 &&
              secret == received);
        size_t agreed_bytes = agreed.size();
        RIGHT(EVP_PKEY_derive(agreement.get(), agreed.data(), &agreed_bytes) == 1 &&
              agreed == expected);
        return true;
    }
};

class ProviderWork : public forks::Work {
public:
    ProviderWork() : ciphers_(every_cipher(library_.context())), groups_(library_.groups()) {
        for (size_t i = 0; i < threads; ++i) {
            prepared_[i] =
                std::make_unique<Prepared>(library_, groups_[i]);  // the first are NTRU alone
            contexts_[i].reset(EVP_CIPHER_CTX_new());
        }
    }

    bool load(size_t thread) override {
        const size_t turn = turns_[thread]++;
        RIGHT(cipher_works(
            ciphers_[(turn + thread * ciphers_.size() / threads) % ciphers_.size()].get(),
            contexts_[thread].get()));
        return turn % 8 != 0 || prepared_[thread]->works();
    }

    // All ciphers, both inherited and fetched in the child; some groups, others in the next child;
    // and the parent's prepared contexts.
    bool child(uint64_t number) override {
        RIGHT(ciphers_.size() > 60 && groups_.size() > 12);
        for (const Cipher& cipher : ciphers_) {
            const Cipher own(EVP_CIPHER_fetch(library_.context(),
                                              EVP_CIPHER_get0_name(cipher.get()), tests::our_own));
            RIGHT(own != nullptr && cipher_works(cipher.get(), nullptr));
        }
        for (size_t i = 0; i < 3; ++i) {
            const tests::Key key = library_.generate(groups_[(3 * number + i) % groups_.size()]);
            RIGHT(key != nullptr && tests::works(library_, key.get()));
        }
        for (auto& prepared : prepared_) RIGHT(tests::works(library_, prepared->key.get()));
        const tests::Key one = library_.generate("X25519"), other = library_.generate("X25519");
        const tests::Bytes secret = tests::agreed(library_, one.get(), other.get());
        RIGHT(!secret.empty() && tests::agreed(library_, other.get(), one.get()) == secret);
        const Library another;
        const tests::Key key = another.generate(groups_[number % groups_.size()]);
        RIGHT(key != nullptr && tests::works(another, key.get()));
        return true;
    }

private:
    const Library library_;
    const std::vector<Cipher> ciphers_;
    const std::vector<std::string> groups_;
    std::unique_ptr<Prepared> prepared_[threads];
    CipherContext contexts_[threads];
    size_t turns_[threads] = {};
};

TEST(Forks, ChildrenOfABusyParentUseTheProvider) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP()
        << "NOT RUN: a sanitizer's own locks may be held in children of programs with threads";
#endif
    const forks::Outcome outcome = forks::children_of(
        []() -> std::unique_ptr<forks::Work> { return std::make_unique<ProviderWork>(); }, 120);
    std::printf("%llu children\n", static_cast<unsigned long long>(outcome.children));
    EXPECT_GT(outcome.children, 0u);
    EXPECT_EQ(outcome.hung, 0u);
    EXPECT_EQ(outcome.wrong, 0u);
}

int on_a_fibre(void* prepared) { return (*static_cast<Prepared**>(prepared))->works() ? 1 : 0; }

// Starts or resumes the fibre. Returns false if it is not done.
bool resume(ASYNC_JOB*& job, ASYNC_WAIT_CTX* wait, Prepared* prepared, int& result) {
    const int state = ASYNC_start_job(&job, wait, &result, on_a_fibre, &prepared, sizeof prepared);
    return state != ASYNC_PAUSE;
}

// A request that is queued, or just done, at the fork: the child repeats it, and the parent's
// continues.
TEST(Forks, PausedFibresContinueInBothProcesses) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP()
        << "NOT RUN: a sanitizer's own locks may be held in children of programs with threads";
#endif
    constexpr unsigned longest_seconds = 120;
    const Library library;
    Prepared prepared(library, library.groups()[0]);
    ASYNC_WAIT_CTX* const wait = ASYNC_WAIT_CTX_new();
    for (unsigned i = 0; i < 60; ++i) {
        ASYNC_JOB* job = nullptr;
        int result = 0;
        bool done = resume(job, wait, &prepared, result);
        usleep(5 * i);
        const pid_t child = fork();
        if (child == 0) alarm(longest_seconds);
        while (!done) done = resume(job, wait, &prepared, result);
        if (child == 0) _exit(result == 1 ? 0 : 1);
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << "the child of fork " << i;
        EXPECT_EQ(result, 1);
    }
    ASYNC_WAIT_CTX_free(wait);
}

}  // namespace
