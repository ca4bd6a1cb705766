// Vector files of NTRU. Each entry of an answer file, each chosen ciphertext and each line of
// digests is a row.
#include "cli/vectors/kem.h"

#include <algorithm>
#include <charconv>

#include "cli/vectors/kem_calls.h"
#include "cli/vectors/kem_coins.h"

namespace warpseal::cli {
namespace {

// One entry of an answer file.
class Answer {
public:
    void add(std::string_view line) {
        const size_t at = line.find(" = ");
        if (at == std::string_view::npos)
            broken_ = true;
        else
            broken_ |= !fields_.emplace(line.substr(0, at), line.substr(at + 3)).second;
    }
    bool empty() const { return fields_.empty() && !broken_; }
    void clear() { *this = Answer(); }
    bool has(const char* name) const { return fields_.count(name) != 0; }
    std::string text(const char* name) const {
        const auto field = fields_.find(name);
        if (field == fields_.end() || broken_)
            throw RowSkipped(std::string("malformed row: no ") + name);
        return field->second;
    }
    Octets hex(const char* name) const { return from_hex(text(name), name); }
    uint64_t count() const {
        const std::string digits = text("count");
        uint64_t value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc() || end != digits.data() + digits.size() || value >= 100)
            throw RowSkipped("malformed row: no count");
        return value;
    }
    std::string name() const {
        std::string text;
        for (const char* part : {"count", "kind"})
            if (has(part))
                text += (text.empty() ? "" : " ") + std::string(part) + " " + fields_.at(part);
        return text.empty() ? "a block without a count" : text;
    }

private:
    std::map<std::string, std::string> fields_;
    bool broken_ = false;
};

class KemRows : KemCalls {
public:
    using KemCalls::KemCalls;

    // Checks an entry of the classic file, from its seed to the decapsulated secret.
    void check_answer(const Answer& answer) const {
        const Octets seed = answer.hex("seed");
        require(seed == kem_answer_seed(answer.count()), "the seed is not that of this count");
        const KemCoins coins = kem_answer_coins(set_, seed);
        KemItems items(set_, 1);
        keypairs(items, coins.keypair);
        same(items.publics, answer.hex("pk"), "public key");
        same(items.secrets, answer.hex("sk"), "secret key");
        encapsulate(items, coins.encapsulation);
        same(items.ciphertexts, answer.hex("ct"), "ciphertext");
        same(items.shared, answer.hex("ss"), "shared secret");
        decapsulate(items);
        same(items.shared, answer.hex("ss"), "decapsulated secret");
    }

    // Checks the coins that the row claims. The classic file's row of the same count covers the
    // results.
    void check_coins(const Answer& answer) const {
        KemCoins given{answer.hex("keypair_coins"), answer.hex("enc_coins")};
        const Octets rejection_key = answer.hex("prf_key");
        given.keypair.insert(given.keypair.end(), rejection_key.begin(), rejection_key.end());
        const KemCoins drawn = kem_answer_coins(set_, kem_answer_seed(answer.count()));
        same(drawn.keypair, given.keypair, "coins of key generation");
        same(drawn.encapsulation, given.encapsulation, "coins of encapsulation");
        KemItems items(set_, 1);
        keypairs(items, given.keypair);
        require(std::equal(rejection_key.rbegin(), rejection_key.rend(), items.secrets.rbegin()),
                "the rejection key does not end the secret key");
        encapsulate(items, given.encapsulation);
        const Octets sent = items.shared;
        decapsulate(items);
        same(items.shared, sent, "decapsulated secret");
    }

    // Checks a ciphertext for the key of an entry: its acceptance and its secret.
    void check_chosen(const Answer& answer) const {
        KemItems items(set_, 1);
        keypairs(items, kem_answer_coins(set_, kem_answer_seed(answer.count())).keypair);
        const Octets ciphertext = answer.hex("ct"), shared = answer.hex("ss");
        if (ciphertext.size() != set_.ciphertext_bytes)
            throw RowSkipped("malformed row: a ciphertext of the wrong length");
        items.ciphertexts = ciphertext;
        decapsulate(items);
        same(items.shared, shared, "shared secret");
        const std::string result = answer.text("result");
        if (result != "accept" && result != "reject")
            throw RowSkipped("malformed row: neither accept nor reject");
        require((shared == kem_rejected_secret(items.secrets, ciphertext)) == (result == "reject"),
                "it is not a case to " + result);
    }

    // Checks digests of all outputs of a batch.
    void check_digests(uint64_t first, uint64_t count,
                       const std::vector<std::string>& digests) const {
        Octets keypair_coins, encapsulation_coins;
        for (uint64_t i = first; i < first + count; ++i) {
            const KemCoins coins = kem_digest_coins(set_, i);
            keypair_coins.insert(keypair_coins.end(), coins.keypair.begin(), coins.keypair.end());
            encapsulation_coins.insert(encapsulation_coins.end(), coins.encapsulation.begin(),
                                       coins.encapsulation.end());
        }
        KemItems items(set_, count);
        keypairs(items, keypair_coins);
        digest(items.publics, digests[0], "public keys");
        digest(items.secrets, digests[1], "secret keys");
        encapsulate(items, encapsulation_coins);
        digest(items.ciphertexts, digests[2], "ciphertexts");
        digest(items.shared, digests[3], "shared secrets");
        decapsulate(items);
        digest(items.shared, digests[3], "decapsulated secrets");
        for (uint64_t i = 0; i < count; ++i) items.ciphertexts[i * set_.ciphertext_bytes] ^= 1;
        decapsulate(items);
        digest(items.shared, digests[4], "secrets of changed ciphertexts");
    }

private:
    static void digest(const Octets& got, const std::string& expected, const char* what) {
        require(digest_hex("SHA256", got.data(), got.size()) == expected,
                std::string(what) + ": the SHA-256");
    }
};

constexpr size_t digests_of_a_line = 5;
constexpr uint64_t most_items_of_a_line = 1 << 16;

void check_answer_of_any_kind(const KemRows& rows, const Answer& answer) {
    if (answer.has("seed")) return rows.check_answer(answer);
    if (answer.has("keypair_coins")) return rows.check_coins(answer);
    if (answer.has("kind")) return rows.check_chosen(answer);
    throw RowSkipped("malformed row: of no known kind");
}

// Parses "FIRST COUNT" and five digests.
void check_digest_line(const KemRows& rows, std::string_view line) {
    std::vector<std::string> fields;
    while (!line.empty()) {
        const size_t end = std::min(line.find(' '), line.size());
        fields.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    uint64_t numbers[2] = {};
    bool right = fields.size() == 2 + digests_of_a_line;
    for (size_t i = 0; right && i < 2; ++i) {
        const auto [end, error] =
            std::from_chars(fields[i].data(), fields[i].data() + fields[i].size(), numbers[i]);
        right = error == std::errc() && end == fields[i].data() + fields[i].size();
    }
    if (!right || numbers[1] == 0 || numbers[1] > most_items_of_a_line)
        throw RowSkipped("malformed row: no line of digests");
    rows.check_digests(numbers[0], numbers[1], {fields.begin() + 2, fields.end()});
}

std::string_view take_trimmed_line(std::string_view& text) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_suffix(line.size() - std::min(line.find_last_not_of(" \t\r") + 1, line.size()));
    return line;
}

}  // namespace

bool is_kem_text(std::string_view text) { return text.substr(0, 2) == "# "; }

void check_kem_text(Tested& tested, std::string_view text, Tally& tally) {
    std::string_view title = take_trimmed_line(text);
    title.remove_prefix(std::min<size_t>(2, title.size()));
    const std::string name(title.substr(0, title.find(' ')));
    const auto run = [&](const std::string& row, const std::function<void(const KemRows&)>& check) {
        tally.run(row, [&] {
            const warpseal_kem_info set = kem_set_of_row(name);
            check(KemRows(tested, set, false));
            if (tested.has_device_memory()) check(KemRows(tested, set, true));
        });
        if (interrupted_by() != 0)
            throw Failure(static_cast<ExitCode>(128 + interrupted_by()), "interrupted");
    };
    Answer answer;
    const auto end_block = [&] {
        if (!answer.empty())
            run(answer.name(),
                [&](const KemRows& rows) { check_answer_of_any_kind(rows, answer); });
        answer.clear();
    };
    for (size_t number = 2; !text.empty(); ++number) {
        const std::string_view line = take_trimmed_line(text);
        if (line.empty() || line[0] == '#')
            end_block();
        else if (line.find(" = ") != std::string_view::npos || !answer.empty())
            answer.add(line);
        else
            run("line " + std::to_string(number),
                [&](const KemRows& rows) { check_digest_line(rows, line); });
    }
    end_block();
}

}  // namespace warpseal::cli
