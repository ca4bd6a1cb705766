// After sealing, opening or refusing a file, no writable page of the process holds its keys,
// passphrase or text.
#include <cinttypes>
#include <cstdio>

#include "container/header/header.h"
#include "readers.h"
#include "recipients.h"
#include "stanzas.h"
#include "warpseal/cobblestone.h"

namespace tests {
namespace {

namespace container = warpseal::container;

constexpr uint8_t mask = 0xa7;

Data masked(Data bytes) {
    for (uint8_t& byte : bytes) byte ^= mask;
    return bytes;
}

// The patterns are kept masked, so that the search finds only the library's copies.
class SecretSearch {
public:
    void add(const char* name, Data masked_bytes) {
        secrets_.push_back({name, std::move(masked_bytes)});
    }
    // Returns the names of the secrets found, and the number of addresses.
    std::string found() {
        for (Secret& secret : secrets_) secret.occurrences = 0;
        const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        std::FILE* maps = std::fopen("/proc/self/maps", "re");
        uint64_t begin = 0, end = 0;
        char flags[8], line[512];
        while (std::fgets(line, sizeof line, maps) != nullptr) {
            if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, flags) != 3 ||
                flags[0] != 'r' || flags[1] != 'w')
                continue;
            for (uint64_t at = begin; at < end; at += window - 64) {
                const ssize_t got = pread(memory, buffer_, std::min<uint64_t>(window, end - at),
                                          static_cast<off_t>(at));
                if (got <= 0) break;
                search(at, static_cast<size_t>(got));
            }
        }
        std::fclose(maps);
        close(memory);
        std::string out;
        for (const Secret& secret : secrets_) {
            if (secret.occurrences > 0)
                out += std::string(secret.name) + " in " + std::to_string(secret.occurrences) +
                       " addresses; ";
        }
        return out;
    }

private:
    static constexpr size_t window = 1 << 20;

    struct Secret {
        const char* name;
        Data masked_bytes;
        size_t occurrences = 0;
    };

    void search(uint64_t at, size_t got) {
        for (size_t i = 0; i < got; ++i) buffer_[i] ^= mask;
        const auto mine = reinterpret_cast<uint64_t>(buffer_);
        for (Secret& secret : secrets_) {
            const size_t length = secret.masked_bytes.size();
            const uint8_t* from = buffer_;
            const uint8_t* const to = buffer_ + got;
            while (
                (from = static_cast<const uint8_t*>(memmem(from, static_cast<size_t>(to - from),
                                                           secret.masked_bytes.data(), length)))) {
                const uint64_t position = at + static_cast<uint64_t>(from - buffer_);
                if (position + length < mine || position >= mine + window) ++secret.occurrences;
                ++from;
            }
        }
        warpseal::wipe(buffer_, got);
    }

    std::vector<Secret> secrets_;
    inline static uint8_t buffer_[window];
};

// A sealed file and its secrets, of which this process keeps only masked copies. The text repeats
// the same 32 bytes.
struct SealedFile {
    Data key = masked(Random(400).text(32)), words = masked(Random(401).text(32)),
         line = masked(Random(402).text(32));
    MemoryFile text, file;
    SecretSearch search;

    explicit SealedFile(const char* suite) {
        search.add("key file", key);
        search.add("passphrase", words);
        search.add("text", line);
        Data plain;
        plain.reserve(30000 * line.size());
        for (int i = 0; i < 30000; ++i) {
            for (const uint8_t byte : line) plain.push_back(byte ^ mask);
        }
        text.put(plain);
        warpseal::wipe(plain.data(), plain.size());
        EXPECT_EQ(with_secrets(Operation::seal, text, file, suite), WARPSEAL_OK);
        find_derived();
    }
    // Makes the call with the real secrets and zeroizes them before it returns.
    warpseal_status with_secrets(Operation operation, const MemoryFile& in, const MemoryFile& out,
                                 const char* suite, bool right = true,
                                 int (*progress)(void*, uint64_t, uint64_t) = nullptr) {
        Options options;
        options.add(WARPSEAL_SECRET_KEY, Data(32)).add(WARPSEAL_SECRET_PASSPHRASE, Data(32));
        for (size_t i = 0; i < 32; ++i) {
            options.held[0][i] = key[i] ^ mask ^ (right ? 0 : i == 7);
            options.held[1][i] = words[i] ^ mask ^ (right ? 0 : i == 9);
        }
        options.suite = suite;
        options.progress = progress;
        in.rewind();
        out.cut(0);
        out.rewind();
        warpseal_file_result result;
        const warpseal_status status = call(operation, in.get(), out.get(), options, result, 4);
        for (Data& held : options.held) warpseal::wipe(held.data(), held.size());
        return status;
    }
    void find_derived() {
        Data head(chunks_at);
        EXPECT_EQ(pread(file.get(), head.data(), head.size(), 0),
                  static_cast<ssize_t>(head.size()));
        container::Header header;
        container::Fault fault;
        header.bytes.assign(head.begin(), head.begin() + payload_at);
        EXPECT_EQ(container::parse_first_block(head.data(), 4096, header.fixed, fault),
                  WARPSEAL_OK);
        container::parse_copies(header);
        warpseal::Secret<32> data_key, payload_key, right;
        for (size_t i = 0; i < 32; ++i) right.bytes[i] = key[i] ^ mask;
        const warpseal_secret secret = {WARPSEAL_SECRET_KEY, right.data(), 32};
        int in_force = 0;
        EXPECT_EQ(container::unlock(engine(), header, &secret, 1, data_key, in_force, fault),
                  WARPSEAL_OK);
        container::payload_input_key(*header.fixed.suite, data_key, payload_key);
        for (warpseal::Secret<32>* found : {&data_key, &payload_key}) {
            for (uint8_t& byte : found->bytes) byte ^= mask;
        }
        search.add("data key", Data(data_key.data(), data_key.data() + 32));
        search.add("payload key",
                   Data(payload_key.data(), payload_key.data() + header.fixed.suite->key_bytes));
        for (uint8_t& byte : payload_key.bytes) byte ^= mask;
        find_chunk_key(header, payload_key, head);
    }
    // Searches for the engine's key, which has a locked cell of its own. Freeing a cell overwrites
    // its first bytes in any case.
    void find_chunk_key(const container::Header& header, const warpseal::Secret<32>& payload_key,
                        const Data& head) {
        const container::Suite& suite = *header.fixed.suite;
        const std::string front =
            std::string("c2sp.org/chunked-encryption@v1+") + suite.aead + '\0';
        const warpseal::Bytes info[] = {
            {reinterpret_cast<const uint8_t*>(front.data()), front.size()},
            {head.data() + payload_at, container::salt_bytes},
            {header.fixed.bytes, container::fixed_part_bytes}};
        warpseal::Secret<32> key;
        container::expand({payload_key.data(), suite.key_bytes}, {info, 3}, key.data(),
                          suite.key_bytes);
        search.add("chunk key", masked(Data(key.data() + 8, key.data() + suite.key_bytes)));
    }
};

// A sanitizer maps terabytes of its own, and keeps freed memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool searchable = false;
#else
constexpr bool searchable = true;
#endif

TEST(ContainerResidue, NoSecretRemains) {
    if (!searchable) GTEST_SKIP() << "NOT RUN: a sanitizer's memory cannot be searched";
    for (const char* suite : {"aes-256-gcm", "aes-128-gcm", "aria-256-gcm", "camellia-256-gcm"}) {
        SealedFile scene(suite);
        const MemoryFile out;
        EXPECT_EQ(scene.search.found(), "") << "sealed";
        EXPECT_EQ(scene.with_secrets(Operation::open, scene.file, out, nullptr), WARPSEAL_OK);
        EXPECT_EQ(scene.search.found(), "") << "opened";
        EXPECT_EQ(scene.with_secrets(Operation::open, scene.file, out, nullptr, false),
                  WARPSEAL_WRONG_KEY);
        EXPECT_EQ(scene.search.found(), "") << "wrong key";
        EXPECT_EQ(scene.with_secrets(Operation::open, scene.file, out, nullptr, true,
                                     [](void*, uint64_t, uint64_t) { return 1; }),
                  WARPSEAL_CANCELLED);
        EXPECT_EQ(scene.search.found(), "") << "cancelled";
        constexpr size_t changed = chunks_at + 20 * sealed_chunk + 5;
        scene.file.put(static_cast<uint8_t>(~scene.file.data()[changed]), changed);
        EXPECT_EQ(scene.with_secrets(Operation::open, scene.file, out, nullptr),
                  WARPSEAL_NOT_AUTHENTIC);
        EXPECT_EQ(scene.search.found(), "") << "changed";
    }
}

// A message in updates that zeroizes each secret as soon as it needs it no more, and not only when
// it is destroyed. Chunks in updates are larger than what is kept.
class Updates {
public:
    using Create = decltype(&warpseal_cobblestone_create_seal);
    Updates(Create create, const Data& masked_key) {
        Data key = masked(masked_key);
        EXPECT_EQ(create(c_engine(), key.data(), key.size(), nullptr, 0, &message_), WARPSEAL_OK);
        warpseal::wipe(key.data(), key.size());
    }
    ~Updates() { warpseal_cobblestone_destroy(message_); }
    Updates(const Updates&) = delete;
    Updates& operator=(const Updates&) = delete;

    // Takes a masked part of the input, and appends to the masked output.
    warpseal_status update(const Data& masked_input, size_t from, size_t to, Data& masked_output) {
        Data part = masked(Data(masked_input.begin() + static_cast<ptrdiff_t>(from),
                                masked_input.begin() + static_cast<ptrdiff_t>(to)));
        const warpseal_status status =
            write(warpseal_cobblestone_update_bytes(message_, part.size()), masked_output,
                  [&](uint8_t* out, size_t room, size_t* wrote) {
                      return warpseal_cobblestone_update(message_, part.data(), part.size(), out,
                                                         room, wrote);
                  });
        warpseal::wipe(part.data(), part.size());
        return status;
    }
    warpseal_status finish(Data& masked_output) {
        return write(warpseal_cobblestone_finish_bytes(message_), masked_output,
                     [&](uint8_t* out, size_t room, size_t* wrote) {
                         return warpseal_cobblestone_finish(message_, out, room, wrote);
                     });
    }

private:
    template <class Call>
    warpseal_status write(size_t room, Data& masked_output, Call call) {
        Data out(room + 1);
        size_t wrote = 0;
        const warpseal_status status = call(out.data(), room, &wrote);
        for (size_t i = 0; i < wrote; ++i) masked_output.push_back(out[i] ^ mask);
        warpseal::wipe(out.data(), out.size());
        return status;
    }
    warpseal_cobblestone* message_ = nullptr;
};

TEST(ContainerResidue, UpdatesZeroizeWhatTheyNeedNoMore) {
    if (!searchable) GTEST_SKIP() << "NOT RUN: a sanitizer's memory cannot be searched";
    constexpr size_t head = 56, bytes = 20'000;
    const Data key = masked(Random(410).text(32));
    Data text = masked(Random(411).text(32)), sealed, opened;
    SecretSearch search;
    search.add("text", text);
    while (text.size() < bytes) text.push_back(text[text.size() - 32]);
    Updates seal(warpseal_cobblestone_create_seal, key);
    ASSERT_EQ(seal.update(text, 0, bytes, sealed), WARPSEAL_OK);
    EXPECT_NE(search.found(), "") << "the incomplete chunk is kept";
    ASSERT_EQ(seal.finish(sealed), WARPSEAL_OK);
    EXPECT_EQ(search.found(), "") << "finished";

    search.add("key", key);
    search.add("chunk", Data(sealed.begin() + head + 64, sealed.begin() + head + 96));
    Updates open(warpseal_cobblestone_create_open, key);
    ASSERT_EQ(open.update(sealed, 0, head - 1, opened), WARPSEAL_OK);
    EXPECT_NE(search.found(), "") << "the key waits for the rest of the head";
    ASSERT_EQ(open.update(sealed, head - 1, head, opened), WARPSEAL_OK);
    EXPECT_EQ(search.found(), "") << "the head has come";
    ASSERT_EQ(open.update(sealed, head, head + 5000, opened), WARPSEAL_OK);
    EXPECT_NE(search.found(), "") << "the incomplete chunk is kept";
    sealed[head + 10'000] ^= 1;
    ASSERT_EQ(open.update(sealed, head + 5000, head + sealed_chunk, opened),
              WARPSEAL_NOT_AUTHENTIC);
    EXPECT_EQ(search.found(), "") << "a changed chunk";
    EXPECT_TRUE(opened.empty());
}

// Checks the search itself: a planted secret is found.
TEST(ContainerResidue, ThePlantedSecretIsFound) {
    if (!searchable) GTEST_SKIP() << "NOT RUN: a sanitizer's memory cannot be searched";
    SecretSearch search;
    const Data secret = masked(Random(403).text(32));
    search.add("planted", secret);
    EXPECT_EQ(search.found(), "");
    Data planted = masked(secret);
    EXPECT_NE(search.found(), "");
    warpseal::wipe(planted.data(), planted.size());
}

// A file for a recipient: its key is searched for raw, and as the middle of its text.
TEST(ContainerResidue, NoIdentityRemains) {
    if (!searchable) GTEST_SKIP() << "NOT RUN: a sanitizer's memory cannot be searched";
    for (const auto type : {x25519, hybrid, ntru}) {
        SecretSearch search;
        Options to;
        Data hidden;  // the text, masked
        {
            Person person(type, Random(403).text(32));
            search.add("secret key", masked(person.secret));
            hidden = masked(Person::data(person.identity));
            search.add("identity", Data(hidden.begin() + 25, hidden.begin() + 65));
            to.add(WARPSEAL_SECRET_RECIPIENT, Person::data(person.recipient));
            person.wipe();
        }
        const MemoryFile plain(Data(100, 5)), file, out;
        warpseal_file_result result;
        EXPECT_EQ(call(Operation::seal, plain.get(), file.get(), to, result), WARPSEAL_OK);
        for (const bool right : {true, false}) {
            Options with;
            with.add(WARPSEAL_SECRET_IDENTITY, Data(hidden.size()));
            for (size_t i = 0; i < hidden.size(); ++i) with.held[0][i] = hidden[i] ^ mask;
            if (!right) std::swap(with.held[0][30], with.held[0][31]);
            file.rewind();
            const warpseal_status status =
                call(Operation::open, file.get(), out.get(), with, result);
            EXPECT_EQ(status == WARPSEAL_OK, right) << result.message;
            warpseal::wipe(with.held[0].data(), with.held[0].size());
            EXPECT_EQ(search.found(), "") << right;
        }
    }
}

// A file key that the program wrapped and unwrapped.
TEST(ContainerResidue, NoFileKeyRemains) {
    if (!searchable) GTEST_SKIP() << "NOT RUN: a sanitizer's memory cannot be searched";
    SecretSearch search;
    Data hidden = masked(Random(404).text(16));
    search.add("file key", hidden);
    Options to, with;
    {
        Data stanza = {0, WARPSEAL_SLOT_STANZA};
        stanza.reserve(64);
        for (const uint8_t byte : hidden) stanza.push_back(byte ^ mask);
        stanza.insert(stanza.end(), 20, 1);
        to.add(stanza_type, std::move(stanza));
    }
    const MemoryFile plain(Data(100, 5)), file, out;
    warpseal_file_result result;
    EXPECT_EQ(call(Operation::seal, plain.get(), file.get(), to, result), WARPSEAL_OK);
    EXPECT_NE(search.found(), "") << "the caller's own";
    warpseal::wipe(to.held[0].data(), to.held[0].size());
    EXPECT_EQ(search.found(), "");
    const auto unwrap = [](void* user, const warpseal_internal_stanza_slot*, uint8_t* key, char*) {
        const Data& from = *static_cast<const Data*>(user);
        for (size_t i = 0; i < from.size(); ++i) key[i] = from[i] ^ mask;
        return WARPSEAL_OK;
    };
    const warpseal_internal_unwrapper unwrapper = {unwrap, &hidden};
    Data bytes(sizeof unwrapper);
    memcpy(bytes.data(), &unwrapper, sizeof unwrapper);
    with.add(late, bytes);
    file.rewind();
    EXPECT_EQ(call(Operation::open, file.get(), out.get(), with, result), WARPSEAL_OK)
        << result.message;
    EXPECT_EQ(search.found(), "");
}

}  // namespace
}  // namespace tests
