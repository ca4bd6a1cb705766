// The provider keeps secrets in memory that is excluded from cores and zeroized on release. A child
// process holds keys of each kind, and its memory and its core are searched.
#include <openssl/crypto.h>

#include "child_memory.h"
#include "cipher.h"
#include "reference/cipher.h"

namespace {

using namespace tests;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

class SecretsSearch : public testing::Test {
protected:
    void SetUp() override {
        if (sanitized) GTEST_SKIP() << "NOT RUN: a sanitizer keeps freed memory";
        if (!may_read_children())
            GTEST_SKIP() << "NOT RUN: ptrace_scope forbids reading a child's memory";
    }
};

// ---- keys of ciphers

// Returns the catalogue name of a cipher, as the references use it: AES-128-CTR is aes-128.
std::string cipher_of(const std::string& evp_name) {
    std::string name = evp_name.substr(0, evp_name.rfind('-'));
    for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
    return name == "sm4" || name == "seed" ? name + "-128" : name == "des-ede" ? "des-ede2" : name;
}

void add_key(Patterns& patterns, const std::string& cipher, const Bytes& key) {
    patterns.push_back(key);
    const auto reference_cipher = reference::cipher(cipher, key);
    if (reference_cipher == nullptr) return;
    for (const auto& round : reference_cipher->secrets())
        if (round.size() >= 8) patterns.emplace_back(round.begin(), round.end());
}

// Returns the keys and their round keys; XTS has two.
Patterns key_patterns(const Child& child) {
    Patterns all;
    for (const auto& [name, key] : child.secrets()) {
        const bool two = name.ends_with("XTS");
        const auto half = key.begin() + static_cast<ptrdiff_t>(two ? key.size() / 2 : key.size());
        add_key(all, cipher_of(name), Bytes(key.begin(), half));
        if (two) add_key(all, cipher_of(name), Bytes(half, key.end()));
    }
    return all;
}

// One message; CCM gets its length first.
bool use(Evp& one, bool ccm, bool encrypts) {
    Bytes text(96, 7), out(128), tag(12);
    size_t made = 0;
    if (ccm && !encrypts && !one.control(EVP_CTRL_AEAD_SET_TAG, tag.size(), tag.data()))
        return false;
    const bool done = one.update(text.data(), text.size(), out.data(), &made);
    return done || (ccm && !encrypts);  // CCM opens nothing without a valid tag
}

// Returns contexts of both directions of every cipher.
std::vector<Evp> contexts_of_all_ciphers(ChildSide& side, UndumpedMemory& undumped) {
    std::vector<Evp> contexts;
    for (const std::string& name : our_ciphers()) {
        const Cipher cipher = our_cipher(name);
        const size_t bytes = key_bytes(cipher);
        uint8_t* const key = undumped.random(bytes);
        side.report(name, key, bytes);
        const Bytes iv(16, 1);
        for (const bool encrypts : {true, false}) {
            Evp one(cipher.get());
            if (!one.init(encrypts, key, iv.data()) ||
                !use(one, mode(cipher) == EVP_CIPH_CCM_MODE, encrypts))
                throw std::runtime_error("cannot use " + name);
            contexts.push_back(std::move(one));
        }
    }
    undumped.wipe();
    return contexts;
}

void hold_ciphers(ChildSide& side) {
    UndumpedMemory undumped;
    {
        const std::vector<Evp> contexts = contexts_of_all_ciphers(side, undumped);
        side.pause();
    }
    side.pause();
}

TEST_F(SecretsSearch, KeysOfCiphersAreInNoCoreAndZeroizedWithTheirContexts) {
    Child child(hold_ciphers);
    const Patterns patterns = key_patterns(child);
    ASSERT_GT(patterns.size(), 1000u);
    EXPECT_GT(child.find(patterns, Child::Which::all), child.secrets().size())
        << "the search itself is blind";
    EXPECT_EQ(child.find(patterns, Child::Which::dumped), 0u);
    child.go_on();
    EXPECT_EQ(child.find(patterns, Child::Which::all), 0u) << "after the contexts are freed";
}

// Gives one context another key.
void change_keys(ChildSide& side) {
    UndumpedMemory undumped;
    std::vector<std::unique_ptr<Evp>> contexts;
    for (const char* name : {"AES-128-GCM", "AES-256-CBC", "AES-128-CCM", "AES-256-XTS"}) {
        const Cipher cipher = our_cipher(name);
        const Bytes iv(16, 1);
        contexts.push_back(std::make_unique<Evp>(cipher.get()));
        const uint8_t* const key = undumped.random(2 * key_bytes(cipher));
        side.report(name, key, key_bytes(cipher));
        Evp& one = *contexts.back();
        const bool ccm = mode(cipher) == EVP_CIPH_CCM_MODE;
        if (!one.init(true, key, iv.data()) || !use(one, ccm, true) ||
            !one.more(key + key_bytes(cipher), iv.data()) || !use(one, ccm, true))
            throw std::runtime_error("no message");
    }
    undumped.wipe();
    side.pause();
}

TEST_F(SecretsSearch, AKeyIsZeroizedWhenReplaced) {
    const Child child(change_keys);
    EXPECT_EQ(child.find(key_patterns(child), Child::Which::all), 0u);
}

TEST_F(SecretsSearch, KeysOfCiphersAreNotInTheKernelsCore) {
    if (const char* const why = no_core_files()) GTEST_SKIP() << why;
    Child child(hold_ciphers);
    const Patterns patterns = key_patterns(child);
    const Bytes core = child.core();
    if (core.empty()) GTEST_SKIP() << "NOT RUN: the kernel made no core";
    EXPECT_GT(core.size(), size_t{1} << 20);
    EXPECT_EQ(occurrences(patterns, core), 0u);
}

// ---- secret keys of groups

// Returns the bytes of ML-KEM's vector s at the start of its secret key, or 0 for a set of NTRU.
// The public key follows it.
size_t mlkem_vector_bytes(const std::string& group) {
    const size_t at = group.find("MLKEM");
    return at == std::string::npos ? 0 : std::stoul(group.substr(at + 5)) / 256 * 384;
}

// The half of 32 bytes to search for: the set's, or the classical one.
enum class Half { ntru, classical };
Patterns group_patterns(const Child& child, Half half, const std::string& prefix = "") {
    Patterns all;
    for (const auto& [name, secret] : child.secrets()) {
        if (!name.starts_with(prefix)) continue;
        const size_t scalar = name.starts_with("x25519") || name.starts_with("p256") ? 32
                              : name.starts_with("p384")                             ? 48
                              : name.starts_with("p521")                             ? 66
                              : name.starts_with("SecP256r1")                        ? 32
                              : name.starts_with("SecP384r1")                        ? 48
                                                                                     : 0;
        const size_t vector = mlkem_vector_bytes(name);
        const size_t begin = half == Half::ntru ? scalar : 0, end = half != Half::ntru ? scalar
                                                                    : vector != 0 ? scalar + vector
                                                                                  : secret.size();
        for (size_t at = begin; at + 32 <= end; at += 32)
            all.emplace_back(secret.begin() + static_cast<ptrdiff_t>(at),
                             secret.begin() + static_cast<ptrdiff_t>(at + 32));
    }
    return all;
}

// Returns a used key of each group and of X25519, and a copy of it.
std::vector<Key> keys_of_all_groups(ChildSide& side, UndumpedMemory& undumped) {
    std::vector<Key> keys;
    std::vector<std::string> names = ours().groups();
    // Not the last: memcpy copies its 32 bytes in one vector register, which a core has.
    names.insert(names.begin(), "X25519");
    for (const std::string& group : names) {
        Key key = ours().generate(group);
        size_t bytes = 0;
        const bool used =
            key != nullptr && (group == "X25519" ? !agreed(ours(), key.get(), key.get()).empty()
                                                 : works(ours(), key.get()));
        if (!used ||
            EVP_PKEY_get_octet_string_param(key.get(), OSSL_PKEY_PARAM_PRIV_KEY, undumped.data(),
                                            UndumpedMemory::bytes, &bytes) != 1)
            throw std::runtime_error("cannot use " + group);
        side.report(group, undumped.data(), bytes);
        undumped.wipe();
        keys.emplace_back(EVP_PKEY_dup(key.get()));
        keys.push_back(std::move(key));
    }
    return keys;
}

void hold_groups(ChildSide& side) {
    UndumpedMemory undumped;
    {
        const std::vector<Key> keys = keys_of_all_groups(side, undumped);
        side.pause();
    }
    side.pause();
}

// libcrypto also has a copy of the classical half: on its secure heap, which a program can exclude
// from cores.
void hold_groups_on_the_secure_heap(ChildSide& side) {
    if (CRYPTO_secure_malloc_init(size_t{1} << 20, 32) != 1)
        throw std::runtime_error("no secure heap");
    hold_groups(side);
}

TEST_F(SecretsSearch, KeysOfGroupsAreInNoCoreAndZeroizedWhenFreed) {
    Child child(hold_groups_on_the_secure_heap);
    const Patterns ntru = group_patterns(child, Half::ntru),
                   x25519 = group_patterns(child, Half::classical, "x25519");
    ASSERT_GT(ntru.size(), 500u);
    ASSERT_EQ(x25519.size(), 6u);
    EXPECT_GE(child.find(ntru, Child::Which::all), 2 * ntru.size()) << "the search itself is blind";
    EXPECT_GE(child.find(x25519, Child::Which::all), 2 * x25519.size());
    EXPECT_EQ(child.find(ntru, Child::Which::dumped), 0u);
    EXPECT_EQ(child.find(x25519, Child::Which::dumped), 0u);
    child.go_on();
    EXPECT_EQ(child.find(ntru, Child::Which::all), 0u) << "after the keys are freed";
    EXPECT_EQ(child.find(x25519, Child::Which::all), 0u) << "after the keys are freed";
}

TEST_F(SecretsSearch, KeysOfGroupsAreNotInTheKernelsCore) {
    if (const char* const why = no_core_files()) GTEST_SKIP() << why;
    for (const bool secure_heap : {true, false}) {
        Child child(secure_heap ? hold_groups_on_the_secure_heap
                                : hold_groups);  // without it libcrypto's own copy may be there
        const Patterns ntru = group_patterns(child, Half::ntru),
                       x25519 = group_patterns(child, Half::classical, "x25519");
        const Bytes core = child.core();
        if (core.empty()) GTEST_SKIP() << "NOT RUN: the kernel made no core";
        EXPECT_EQ(occurrences(ntru, core), 0u);
        if (secure_heap) {
            EXPECT_EQ(occurrences(x25519, core), 0u);
        }
    }
}

// In a program of its own: memory locks are not inherited across a fork.
TEST_F(SecretsSearch, KeysAreLocked) {
    constexpr char fresh[] = "WARPSEAL_TEST_FRESH";
    if (!may_lock(size_t{4} << 20))
        GTEST_SKIP() << "NOT RUN: the limit on locked memory is below 4 MiB";
    if (std::getenv(fresh) == nullptr) {
        const pid_t child = fork();
        if (child == 0) {
            setenv(fresh, "1", 1);
            execl("/proc/self/exe", "test", "--gtest_filter=SecretsSearch.KeysAreLocked",
                  "--gtest_brief=1", nullptr);
            _exit(127);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        return;
    }
    const Child ciphers(hold_ciphers), groups(hold_groups);
    EXPECT_EQ(ciphers.find(key_patterns(ciphers), Child::Which::unlocked), 0u);
    EXPECT_EQ(groups.find(group_patterns(groups, Half::ntru), Child::Which::unlocked), 0u);
}

// ---- what a context holds besides its key

// E(K, J0) of a GCM message, which reveals the hash key together with a tag, and the current
// keystream block of OFB.
void hold_messages(ChildSide& side) {
    UndumpedMemory undumped;
    uint8_t* const bytes = undumped.random(64);
    uint8_t *const iv = bytes + 16, *const blocks = bytes + 32;
    const Cipher ecb = stock_cipher("AES-128-ECB"), gcm = our_cipher("AES-128-GCM"),
                 ofb = our_cipher("AES-128-OFB");
    std::fill_n(iv + 12, 4, uint8_t{0});
    iv[15] = 1;  // GCM's first counter block, for an IV of 12 bytes
    {
        Evp block(ecb.get()), one(gcm.get()), other(ofb.get());
        uint8_t out[32];
        const uint8_t text[5] = {1, 2, 3, 4, 5};
        size_t made = 0;
        if (!block.init(true, bytes, nullptr) || !block.update(iv, 16, blocks, &made) ||
            !one.init(true, bytes, iv) || !one.update(text, sizeof text, out, &made) ||
            !other.init(true, bytes, iv) || !other.update(text, sizeof text, out, &made))
            throw std::runtime_error("no message");
        side.report("a block of keystream", blocks, 16);
        undumped.wipe();
        side.pause();
    }
    side.pause();
}

TEST_F(SecretsSearch, KeystreamIsInNoCoreAndZeroizedWithItsContext) {
    Child child(hold_messages);
    const Patterns patterns = {child.secrets()[0].second};
    EXPECT_GE(child.find(patterns, Child::Which::all), 2u) << "the search itself is blind";
    EXPECT_EQ(child.find(patterns, Child::Which::dumped), 0u);
    child.go_on();
    EXPECT_EQ(child.find(patterns, Child::Which::all), 0u) << "after the contexts are freed";
}

// The buffered text of a partial block, and a message's IV.
void hold_text(ChildSide& side) {
    UndumpedMemory undumped;
    const uint8_t* const bytes = undumped.random(256);
    side.report("held text", bytes + 64, 15);
    side.report("IV", bytes + 96, 16);
    side.report("IV of GCM", bytes + 128, 64);
    {
        const Cipher cbc = our_cipher("AES-128-CBC"), gcm = our_cipher("AES-128-GCM");
        Evp one(cbc.get()), other(gcm.get());
        uint8_t out[32];
        size_t made = 0, iv_length = 64;
        const OSSL_PARAM params[] = {
            OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &iv_length),
            OSSL_PARAM_construct_end()};
        if (!one.init(true, bytes, bytes + 96) || !one.update(bytes + 64, 15, out, &made) ||
            !other.init(true, nullptr, nullptr, params) || !other.more(bytes, bytes + 128))
            throw std::runtime_error("no message");
        undumped.wipe();
        side.pause();
    }
    side.pause();
}

// A context that starts over keeps no text, nor does one that has ended its message.
void start_over(ChildSide& side) {
    UndumpedMemory undumped;
    uint8_t* const bytes = undumped.random(128);
    uint8_t *const begun = bytes + 32, *const ended = bytes + 64, *const out = bytes + 96;
    side.report("begun", begun, 15);
    side.report("ended", ended, 15);
    const Cipher cbc = our_cipher("AES-128-CBC");
    Evp one(cbc.get()), other(cbc.get());
    size_t made = 0, more = 0;
    {
        Evp sealing(cbc.get());
        if (!sealing.init(true, bytes, bytes + 16) || !sealing.update(ended, 15, out, &made) ||
            !sealing.final(out, &made))
            throw std::runtime_error("cannot seal");
    }
    if (!one.init(true, bytes, bytes + 16) || !one.update(begun, 15, out + 16, &more) ||
        !other.init(false, bytes, bytes + 16) || !other.update(out, 16, out + 16, &more) ||
        !other.final(out + 16, &more) || more != 15 || !one.more(nullptr, bytes + 16))
        throw std::runtime_error("no message");
    side.pause();
    undumped.wipe();
    side.pause();
}

TEST_F(SecretsSearch, ABlockOfTextIsZeroizedWithItsMessage) {
    Child child(start_over);
    for (const auto& [name, secret] : child.secrets())
        EXPECT_GT(child.find({secret}, Child::Which::all), 0u) << name;
    child.go_on();
    for (const auto& [name, secret] : child.secrets())
        EXPECT_EQ(child.find({secret}, Child::Which::all), 0u) << name;
}

TEST_F(SecretsSearch, StateOfAContextIsZeroizedWithIt) {
    Child child(hold_text);
    for (const auto& [name, secret] : child.secrets())
        EXPECT_GT(child.find({secret}, Child::Which::all), 0u) << name;
    child.go_on();
    for (const auto& [name, secret] : child.secrets())
        EXPECT_EQ(child.find({secret}, Child::Which::all), 0u) << name;
}

}  // namespace
