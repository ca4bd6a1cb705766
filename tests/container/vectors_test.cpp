// Published vectors: chunked encryption's from c2sp.org, and ours of the envelope, made by another
// program.
#include <openssl/evp.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "streams.h"

namespace tests {
namespace {

using Json = nlohmann::json;

Json parse(const std::string& name) {
    std::ifstream in(std::string(WARPSEAL_TEST_VECTORS) + "/" + name);
    EXPECT_TRUE(in.good()) << name;
    return Json::parse(in);
}

Data from_hex(const std::string& hex) {
    Data out(hex.size() / 2);
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    return out;
}

Data inflated(const std::string& hex) {
    const Data packed = from_hex(hex);
    Data out;
    for (size_t capacity = size_t{1} << 16; capacity <= size_t{1} << 26; capacity *= 4) {
        out.resize(capacity);
        uLongf bytes = capacity;
        const int status = uncompress(out.data(), &bytes, packed.data(), packed.size());
        if (status == Z_BUF_ERROR) continue;
        EXPECT_EQ(status, Z_OK);
        out.resize(bytes);
        return out;
    }
    ADD_FAILURE() << "a vector of more than 64 MiB";
    return out;
}

std::string sha512(const Data& data) {
    uint8_t digest[64];
    EXPECT_EQ(EVP_Digest(data.data(), data.size(), digest, nullptr, EVP_sha512(), nullptr), 1);
    std::string hex;
    for (const uint8_t byte : digest) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", byte);
        hex += two;
    }
    return hex;
}

bool has(const Json& row, const char* flag) {
    return std::any_of(row["flags"].begin(), row["flags"].end(),
                       [&](const Json& f) { return f == flag; });
}

warpseal_status expected(const Json& row) {
    if (row["result"] == "valid") return WARPSEAL_OK;
    if (has(row, "InvalidKeySize")) return WARPSEAL_INVALID_ARGUMENT;
    if (has(row, "WrongKey") || has(row, "WrongContext")) return WARPSEAL_WRONG_KEY;
    return WARPSEAL_NOT_AUTHENTIC;
}

void check_cobblestone(const Json& row, warpseal_status status, const Data& out) {
    // A truncated vector is reported as truncated or not authentic, depending on the cut; a changed
    // salt or commitment as a wrong key.
    if (has(row, "Truncation") && status == WARPSEAL_TRUNCATED) {
        EXPECT_EQ(row["result"].get<std::string>(), "invalid");
    } else if (has(row, "ModifiedCiphertext") && !row.contains("aeadKey")) {
        EXPECT_EQ(status, WARPSEAL_WRONG_KEY);
    } else if (has(row, "TrailingData") && status == WARPSEAL_TRUNCATED) {
        EXPECT_LT((inflated(row["ct"]).size() - 56) % sealed_chunk, 16u);
    } else {
        EXPECT_EQ(status, expected(row));
    }
    const size_t released = row.contains("msgLength") ? row["msgLength"].get<size_t>() : 0;
    EXPECT_EQ(out.size(), released);
    if (released > 0) {
        EXPECT_EQ(sha512(out), row["msgSha512"].get<std::string>());
    }
}

void check_file(const Json& row, unsigned threads, bool pipe_in) {
    SCOPED_TRACE(row["comment"].get<std::string>() + ", case " + row["tcId"].dump());
    Options options;
    options.format = WARPSEAL_FORMAT_COBBLESTONE;
    options.add(WARPSEAL_SECRET_KEY, from_hex(row["key"]));
    const Data context = from_hex(row["ctx"]);
    options.context = context.data();
    options.context_bytes = context.size();
    const Outcome back = run(Operation::open, inflated(row["ct"]), options, threads, pipe_in, true);
    check_cobblestone(row, back.status, back.out);
}

// Updates of less than a chunk release the same prefix as a file does.
void check_updates(const Json& row) {
    SCOPED_TRACE(row["comment"].get<std::string>() + ", case " + row["tcId"].dump());
    Message message(Operation::open, from_hex(row["key"]), from_hex(row["ctx"]));
    if (message.status == WARPSEAL_OK) message.run(inflated(row["ct"]), 10007);
    check_cobblestone(row, message.status, message.out);
}

void check_cobblestone_file(const std::string& name, size_t least) {
    size_t count = 0;
    const Json file = parse("cobblestone/" + name);
    for (const Json& group : file["testGroups"]) {
        for (const Json& row : group["tests"]) {
            check_file(row, 1, false);
            check_file(row, 4, true);
            check_updates(row);
            ++count;
        }
    }
    EXPECT_GE(count, least);
    std::printf("%zu vectors of %s\n", count, name.c_str());
}

TEST(ContainerVectors, CobblestoneOfEmptyMessages) {
    check_cobblestone_file("empty-128.json", 2);
    check_cobblestone_file("empty-256.json", 2);
}
TEST(ContainerVectors, Cobblestone128) { check_cobblestone_file("cobblestone-128.json", 20); }
TEST(ContainerVectors, Cobblestone256) { check_cobblestone_file("cobblestone-256.json", 20); }

TEST(ContainerVectors, Envelope) {
    const std::map<std::string, warpseal_status> kinds = {
        {"ok", WARPSEAL_OK},
        {"wrong_key", WARPSEAL_WRONG_KEY},
        {"not_authentic", WARPSEAL_NOT_AUTHENTIC},
        {"truncated", WARPSEAL_TRUNCATED},
        {"unsupported", WARPSEAL_UNSUPPORTED},
        {"limit_exceeded", WARPSEAL_LIMIT_EXCEEDED}};
    std::map<std::string, int> counts;
    const Json file = parse("container/envelope.json");
    for (const Json& row : file["vectors"]) {
        SCOPED_TRACE(row["name"].get<std::string>());
        Options options;
        if (row.contains("key")) options.add(WARPSEAL_SECRET_KEY, from_hex(row["key"]));
        if (row.contains("passphrase")) options.passphrase(row["passphrase"].get<std::string>());
        if (row.contains("identity")) {
            const std::string text = row["identity"];
            options.add(WARPSEAL_SECRET_IDENTITY, Data(text.begin(), text.end()));
        }
        const Outcome back = run(Operation::open, inflated(row["file"]), options, 4);
        ASSERT_EQ(kinds.count(row["result"]), 1u);
        EXPECT_EQ(back.status, kinds.at(row["result"])) << back.result.message;
        if (back.status == WARPSEAL_OK) {
            EXPECT_EQ(back.out.size(), row["textBytes"].get<size_t>());
            EXPECT_EQ(sha512(back.out), row["textSha512"].get<std::string>());
        }
        ++counts[row["result"]];
    }
    EXPECT_EQ(counts.size(), kinds.size());
    for (const auto& [kind, count] : counts) std::printf("%d vectors: %s\n", count, kind.c_str());
}

}  // namespace
}  // namespace tests
