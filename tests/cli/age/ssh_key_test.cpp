// SSH private keys whose files were damaged: each ends in an error, or in the key that they name.
#include <gtest/gtest.h>
#include <sodium.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "cli/age/ssh/bcrypt.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/age/ssh/wire.h"
#include "cli/support/command.h"

namespace {

using namespace warpseal::cli;
using namespace warpseal::cli::age;

constexpr size_t magic_bytes = 15;
const char* const openssh_keys[] = {"ed25519", "rsa", "locked"};

std::string stored(const std::string& name) {
    std::ifstream file(std::string(WARPSEAL_TEST_VECTORS "/age/ssh/") + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

// OpenSSH's format of a stored key, without the base64.
Octets stored_bytes(const std::string& name) {
    const std::string text = stored(name);
    const size_t begin = text.find('\n'), end = text.rfind("-----END");
    Octets bytes(text.size());
    size_t size = 0;
    EXPECT_EQ(sodium_base642bin(bytes.data(), bytes.size(), text.data() + begin, end - begin, "\n",
                                &size, nullptr, sodium_base64_VARIANT_ORIGINAL),
              0);
    bytes.resize(size);
    return bytes;
}

Recipient recipient(const std::string& name) {
    return *parse_ssh_recipient(stored(name + ".pub"), "a test");
}

// The exit code of a refusal, or ok.
ExitCode code_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Failure& failure) {
        EXPECT_NE(std::string(failure.what()), "");
        return failure.code;
    }
    return ExitCode::ok;
}
ExitCode code_of(const Octets& bytes) {
    return code_of([&] { (void)parse_openssh_key(bytes, "a test"); });
}

uint32_t number_at(const Octets& bytes, size_t at) {
    uint32_t value = 0;
    (void)WireReader(View(bytes).subspan(at)).number(value);
    return value;
}
Octets with_number(Octets bytes, size_t at, uint32_t value) {
    Octets field;
    append_number(field, value);
    std::copy(field.begin(), field.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
    return bytes;
}

// Appends the offsets of the length fields of `count` strings, and returns the end of the last.
size_t strings_at(const Octets& bytes, size_t at, size_t count, std::vector<size_t>& lengths) {
    for (size_t i = 0; i < count; ++i) {
        lengths.push_back(at);
        at += 4 + number_at(bytes, at);
    }
    return at;
}

// The offsets of all length fields of a key that is not locked, and the start of its secret part.
std::vector<size_t> length_fields(const Octets& bytes, bool rsa, size_t& secret) {
    std::vector<size_t> lengths;
    const size_t keys = strings_at(bytes, magic_bytes, 3, lengths);
    const size_t wire = keys + 4;
    secret = strings_at(bytes, wire, 1, lengths) + 4;
    strings_at(bytes, wire + 4, rsa ? 3 : 2, lengths);
    lengths.push_back(secret - 4);
    strings_at(bytes, secret + 8, rsa ? 8 : 4, lengths);
    return lengths;
}

TEST(SshKey, StoredKeysAreReadWhole) {
    for (const char* name : {"ed25519", "rsa", "rsa-pkcs1", "locked"}) {
        const Identity identity = parse_ssh_identity(stored(name), "a test");
        EXPECT_EQ(identity.wire, recipient(name).key) << name;
        EXPECT_EQ(identity.is_locked(), std::string(name) == "locked") << name;
        const std::string line = ssh_recipient_text(identity.wire);
        EXPECT_EQ(stored(std::string(name) + ".pub").substr(0, line.size() + 1), line + " ");
    }
}

TEST(SshKey, EveryTruncatedTextIsRefused) {
    for (const char* name :
         {"ed25519", "rsa", "rsa-pkcs1", "rsa-pkcs8", "ed25519-pkcs8", "locked"}) {
        const std::string text = stored(name);
        const auto read = [&](size_t bytes) {
            return code_of([&] { (void)parse_ssh_identity(text.substr(0, bytes), "a test"); });
        };
        const size_t end = text.rfind("-----");
        for (size_t bytes = 0; bytes < end; ++bytes)
            ASSERT_EQ(read(bytes), ExitCode::usage) << bytes;
        EXPECT_EQ(read(end + 5), ExitCode::ok) << name;
    }
}

TEST(SshKey, EveryTruncatedKeyIsRefused) {
    for (const char* name : openssh_keys) {
        const Octets bytes = stored_bytes(name);
        EXPECT_EQ(code_of(bytes), ExitCode::ok) << name;
        for (size_t size = 0; size < bytes.size(); ++size)
            ASSERT_EQ(code_of(Octets(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size))),
                      ExitCode::usage)
                << name << ' ' << size;
    }
}

TEST(SshKey, EveryWrongLengthIsRefused) {
    for (const bool rsa : {false, true}) {
        const Octets bytes = stored_bytes(rsa ? "rsa" : "ed25519");
        size_t secret = 0;
        const std::vector<size_t> lengths = length_fields(bytes, rsa, secret);
        ASSERT_EQ(lengths.size(), rsa ? 16u : 11u);
        for (const size_t at : lengths) {
            const uint32_t right = number_at(bytes, at);
            for (const uint32_t wrong : {0xffffffffu, 0x80000000u, 0x7fffffffu})
                EXPECT_EQ(code_of(with_number(bytes, at, wrong)), ExitCode::usage) << at;
            // A longer or shorter name of a type is another type.
            for (const uint32_t wrong : {right + 1, right - 1})
                EXPECT_NE(code_of(with_number(bytes, at, wrong)), ExitCode::ok) << at;
        }
    }
}

// The key that is used must be the one that the public part names.
TEST(SshKey, AnyFourBytesEndInAnErrorOrInTheSameKey) {
    for (const char* name : openssh_keys) {
        const Octets bytes = stored_bytes(name);
        const Octets wire = recipient(name).key;
        for (size_t at = 0; at + 4 <= bytes.size(); ++at)
            for (const uint32_t value : {0u, 0xffffffffu, ~number_at(bytes, at)}) {
                Identity found{};
                const ExitCode code = code_of(
                    [&] { found = parse_openssh_key(with_number(bytes, at, value), "a test"); });
                if (code != ExitCode::ok || found.is_locked()) continue;
                ASSERT_EQ(found.wire, wire) << name << ' ' << at;
            }
    }
}

TEST(SshKey, FieldsThatDisagreeAreRefused) {
    const Octets bytes = stored_bytes("ed25519");
    size_t secret = 0;
    const std::vector<size_t> lengths = length_fields(bytes, false, secret);
    const auto flipped = [&](size_t at) {
        Octets changed = bytes;
        changed[at] ^= 1;
        return changed;
    };
    const size_t seed = lengths[9] + 4, comment = lengths[10] + 4;
    EXPECT_EQ(code_of(flipped(0)), ExitCode::usage) << "the magic";
    EXPECT_EQ(code_of(with_number(bytes, lengths[3] - 4, 2)), ExitCode::usage) << "two keys";
    EXPECT_EQ(code_of(flipped(lengths[3] + 30)), ExitCode::usage) << "the public key";
    EXPECT_EQ(code_of(flipped(secret)), ExitCode::usage) << "the check numbers";
    EXPECT_EQ(code_of(flipped(lengths[8] + 4)), ExitCode::usage) << "the public key once more";
    EXPECT_EQ(code_of(flipped(seed)), ExitCode::usage) << "the seed";
    EXPECT_EQ(code_of(flipped(seed + 32)), ExitCode::usage) << "the public key beside the seed";
    EXPECT_EQ(code_of(flipped(bytes.size() - 1)), ExitCode::usage) << "the padding";
    EXPECT_EQ(code_of(flipped(comment)), ExitCode::ok) << "the comment is free";
    Octets longer = bytes;
    longer.push_back(0);
    EXPECT_EQ(code_of(longer), ExitCode::usage) << "a byte more";
    const size_t type = secret + 8 + 4;
    Octets other = bytes;
    std::copy_n("ssh-unknown", 11, other.begin() + static_cast<ptrdiff_t>(type));
    EXPECT_EQ(code_of(other), ExitCode::unsupported) << "another type";
    EXPECT_EQ(code_of(with_number(with_number(bytes, secret, 7), secret + 4, 7)), ExitCode::ok);
}

Octets bytes_of(std::string_view hexadecimal) {
    Octets bytes(hexadecimal.size() / 2);
    EXPECT_EQ(sodium_hex2bin(bytes.data(), bytes.size(), hexadecimal.data(), hexadecimal.size(),
                             nullptr, nullptr, nullptr),
              0);
    return bytes;
}

// Vectors of OpenBSD's regress/lib/libutil/bcrypt_pbkdf.
TEST(SshKey, Bcrypt) {
    const std::string zero(1, '\0');
    const struct {
        uint32_t rounds;
        std::string passphrase, salt;
        const char* key;
    } rows[] = {
        {4, "password", "salt", "5bbf0cc293587f1c3635555c27796598d47e579071bf427e9d8fbe842aba34d9"},
        {4, "password", zero, "c12b566235eee04c212598970a579a67"},
        {4, zero, "salt", "6051be18c2f4f82cbf0efee5471b4bb9"},
        {8, "password", "salt",
         "e1367ec5151a33faac4cc1c144cd23fa15d5548493ecc99b9b5d9c0d3b27bec7"
         "6227ea66088b849b20ab7aa478010246e74bba51723fefa9f9474d6508845e8d"},
        {42, "password", "salt", "833cf0dcf56db65608e8f0dc0ce882bd"},
    };
    for (const auto& row : rows) {
        const Octets wanted = bytes_of(row.key);
        uint32_t calls = 0;
        const Secret key = bcrypt_pbkdf(view(row.passphrase), view(row.salt), row.rounds,
                                        wanted.size(), [&] { ++calls; });
        EXPECT_EQ(Octets(key.begin(), key.end()), wanted) << row.rounds;
        EXPECT_EQ(calls, row.rounds * ((wanted.size() + 31) / 32));
    }
}

TEST(SshKey, LockedKeysOpenWithTheirPassphraseAlone) {
    const Identity locked = parse_ssh_identity(stored("locked"), "a test");
    const auto nothing = [] {};
    const auto open = unlock_ssh_identity(locked, view("correct horse"), nothing);
    ASSERT_TRUE(open);
    EXPECT_FALSE(open->is_locked());
    EXPECT_EQ(open->wire, locked.wire);
    EXPECT_FALSE(unlock_ssh_identity(locked, view("correct horsf"), nothing));
    // No change of the key is used.
    for (size_t at = 0; at < locked.locked.size(); at += 7) {
        Identity changed = locked;
        changed.locked[at] ^= 1;
        std::optional<Identity> found;
        const ExitCode code =
            code_of([&] { found = unlock_ssh_identity(changed, view("correct horse"), nothing); });
        if (code == ExitCode::ok && found) {
            EXPECT_EQ(found->wire, locked.wire) << at;
        }
    }
}

TEST(SshKey, IntegersHaveOneEncoding) {
    const auto read = [](const Octets& integer) -> std::optional<Octets> {
        Octets wire;
        append_string(wire, integer);
        View value;
        if (!WireReader(wire).integer(value)) return std::nullopt;
        return Octets(value.begin(), value.end());
    };
    EXPECT_EQ(read({}), Octets());
    EXPECT_EQ(read({0x7f, 1}), (Octets{0x7f, 1}));
    EXPECT_EQ(read({0, 0x80, 1}), (Octets{0x80, 1}));
    EXPECT_EQ(read({0x80, 1}), std::nullopt) << "negative";
    EXPECT_EQ(read({0}), std::nullopt) << "a zero that nothing follows";
    EXPECT_EQ(read({0, 0x7f}), std::nullopt) << "a zero too many";
    EXPECT_EQ(read({0, 0, 0x80}), std::nullopt) << "two zeros";
    Octets written;
    append_integer(written, Octets{0x80});
    EXPECT_EQ(written, (Octets{0, 0, 0, 2, 0, 0x80}));
}

TEST(SshKey, RsaKeysThatProtectNothingAreRefused) {
    const RsaPublic whole = *rsa_of_wire(recipient("rsa").key);
    const auto read = [&](const RsaPublic& key) {
        const PrivateKey made = rsa_private_key(key, whole.modulus);
        EXPECT_TRUE(made);
        return code_of([&] { (void)rsa_identity(made, "a test"); });
    };
    EXPECT_EQ(read(whole), ExitCode::ok);
    EXPECT_EQ(read({whole.modulus, {1}}), ExitCode::usage) << "the exponent 1";
    EXPECT_EQ(read({whole.modulus, {1, 0}}), ExitCode::usage) << "an even exponent";
    RsaPublic even = whole;
    even.modulus.back() ^= 1;
    EXPECT_EQ(read(even), ExitCode::usage) << "an even modulus";
}

TEST(SshKey, StanzasOfDamagedIntegersDoNotOpen) {
    // The private exponent of an RSA key is in no checked field: a wrong one opens nothing.
    const Octets bytes = stored_bytes("rsa");
    size_t secret = 0;
    const std::vector<size_t> lengths = length_fields(bytes, true, secret);
    const size_t exponent = lengths[11] + 4;
    Octets changed = bytes;
    changed[exponent + 100] ^= 1;
    const Octets file_key(16, 7);
    const Stanza stanza = wrap_ssh(recipient("rsa"), file_key);
    const std::optional<Secret> opened = unwrap_ssh(parse_openssh_key(bytes, "a test"), stanza);
    ASSERT_TRUE(opened);
    EXPECT_EQ(Octets(opened->begin(), opened->end()), file_key);
    EXPECT_FALSE(unwrap_ssh(parse_openssh_key(changed, "a test"), stanza));
}

}  // namespace
