// SSH keys when libcrypto gets no memory: an error, or the right result.
#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

#include "cli/age/slots/identities.h"
#include "cli/age/slots/parameters.h"
#include "cli/age/ssh/keys.h"
#include "cli/age/ssh/stanzas.h"
#include "cli/support/command.h"

namespace {

using namespace warpseal::cli;
using namespace warpseal::cli::age;

// The allocation that fails, counted from the last call of `fail_at`; none if it is not positive.
thread_local long until_failure = 0;
bool fails_now() { return until_failure > 0 && --until_failure == 0; }

void* allocate(size_t bytes, const char*, int) {
    return fails_now() ? nullptr : std::malloc(bytes);
}
void* reallocate(void* memory, size_t bytes, const char*, int) {
    return fails_now() ? nullptr : std::realloc(memory, bytes);
}
void release(void* memory, const char*, int) { std::free(memory); }
// Before libcrypto's first allocation, which ends the time for it.
const int hooked = CRYPTO_set_mem_functions(allocate, reallocate, release);

std::string stored(const std::string& name) {
    std::ifstream file(std::string(WARPSEAL_TEST_VECTORS "/age/ssh/") + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Runs the work with its first allocation failing, then its second and so on, until none fails.
// The work checks what it made. Returns how many failures named memory.
long fail_each(const std::function<void()>& work) {
    work();  // Makes what libcrypto keeps.
    long out_of_memory = 0;
    for (long number = 1;; ++number) {
        until_failure = number;
        try {
            work();
        } catch (const std::bad_alloc&) {
            ++out_of_memory;
        } catch (const Failure& failure) {
            // Some functions of libcrypto fail without giving memory as the reason.
            EXPECT_NE(failure.code, ExitCode::ok);
        }
        const bool none_failed = until_failure > 0;
        until_failure = 0;
        if (none_failed) return out_of_memory;
    }
}

TEST(SshMemory, EveryAllocationOfLibcryptoFails) {
    ASSERT_EQ(hooked, 1);
    for (const char* name : {"rsa", "rsa-pkcs1"}) {
        const std::string text = stored(name);
        const Octets wire = parse_ssh_identity(text, "a test").wire;
        const long named =
            fail_each([&] { EXPECT_EQ(parse_ssh_identity(text, "a test").wire, wire); });
        // libcrypto's reader of PEM gives no reason.
        EXPECT_EQ(named > 0, std::string(name) == "rsa") << name;
    }
    const Octets file_key(16, 7);
    const Recipient recipient = *parse_ssh_recipient(stored("rsa.pub"), "a test");
    const Identity identity = parse_ssh_identity(stored("rsa"), "a test");
    const long named = fail_each([&] {
        const Stanza stanza = wrap_ssh(recipient, file_key);
        const long left = std::exchange(until_failure, 0);
        const std::optional<Secret> opened = unwrap_ssh(identity, stanza);
        until_failure = left;
        ASSERT_TRUE(opened && std::equal(opened->begin(), opened->end(), file_key.begin()));
    });
    EXPECT_GT(named, 0);
    const Stanza stanza = wrap_ssh(recipient, file_key);
    fail_each([&] {
        const std::optional<Secret> opened = unwrap_ssh(identity, stanza);
        EXPECT_TRUE(!opened || std::equal(opened->begin(), opened->end(), file_key.begin()));
    });
}

// A failure of libcrypto has the exit code of another error, and is none of reading and writing.
TEST(SshMemory, TheCallbackTellsFailuresOfLibcrypto) {
    ASSERT_EQ(hooked, 1);
    const Octets file_key(16, 7);
    const Recipient recipient = *parse_ssh_recipient(stored("ed25519.pub"), "a test");
    const Octets parameters = ssh_parameters(wrap_ssh(recipient, file_key));
    std::vector<Identity> identities;
    identities.push_back(parse_ssh_identity(stored("ed25519"), "a test"));
    const Session session;
    const std::vector<MadeSecret> secrets =
        SlotIdentities::secrets(std::make_shared<SlotIdentities>(
            std::move(identities), std::vector<LockedFile>(), std::vector<SecretBytes>(),
            std::make_shared<UnlockedKeys>(), session));
    warpseal_internal_unwrapper unwrapper;
    memcpy(&unwrapper, secrets.at(0).bytes.data(), sizeof unwrapper);
    const warpseal_internal_parameters given = {parameters.data(), parameters.size()};
    const warpseal_internal_stanza_slot slot = {WARPSEAL_SLOT_SSH_ED25519, given, &given, 1};
    long other_errors = 0;
    fail_each([&] {
        uint8_t found[16];
        char message[240] = {};
        const warpseal_status status = unwrapper.unwrap(unwrapper.user, &slot, found, message);
        EXPECT_NE(status, WARPSEAL_IO) << message;
        if (status == WARPSEAL_OK) {
            EXPECT_TRUE(std::equal(file_key.begin(), file_key.end(), found));
        }
        other_errors += exit_code_of(status) == ExitCode::error ? 1 : 0;
    });
    EXPECT_GT(other_errors, 0);
}

}  // namespace
