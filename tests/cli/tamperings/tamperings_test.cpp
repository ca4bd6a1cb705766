// Many random changes of age, FLOE, Warpseal and openssl files, through the commands: none is
// accepted, what comes out is a prefix of the text, and memory stays bounded.
// WARPSEAL_TAMPERINGS is their number.
#include <sys/resource.h>

#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>

#include "c_api/internal_slot_keys.h"
#include "changes.h"
#include "cli/age/age.h"
#include "cli/foreign/floe.h"
#include "cli/support/run/file_run.h"
#include "keys.h"

namespace tests {
namespace {

using namespace warpseal::cli;

constexpr size_t age_chunk = 65536 + 16;

struct Sample {
    std::string format{};
    FileChoice file{};
    AgeChoice age{};
    bool is_authenticated = true, is_armored = false;
    Layout layout{};
    Data text{}, sealed{};
    Data other_text{}, other{};  // another text of that length, for the same keys
};

// Any white space around the lines of an armor is allowed.
Data without_white_space(const Data& data) {
    Data out;
    std::copy_if(data.begin(), data.end(), std::back_inserter(out),
                 [](uint8_t byte) { return std::strchr(" \t\r\n", byte) == nullptr || byte == 0; });
    return out;
}

// Returns true if `changed` has all of `file`, in the same order.
bool is_the_same(const Sample& sample, const Data& changed, const Data& file) {
    return (sample.is_armored && without_white_space(changed) == without_white_space(file)) ||
           (sample.layout.first_chunk == chunks_at && differ_in_one_copy(changed, file));
}

class Tampering : public testing::Test {
protected:
    struct Result {
        ExitCode code = ExitCode::ok;
        std::string text;
        Data out;
    };

    void SetUp() override {
        session_.quiet = true;
        session_.file = &state_;
        add_age();
        add_own();
        add_floe();
        add_openssl();
    }

    static FileChoice choice() {
        FileChoice made;
        made.input = "a sample";
        made.progress = Progress::Style::none;
        made.engine = {"cpu", 1};
        return made;
    }
    const std::string& secret(std::string_view text) {
        secrets_.push_back(std::make_unique<SecretFile>(text));
        paths_.push_back(std::make_unique<std::string>(secrets_.back()->path()));
        return *paths_.back();
    }

    // One command, whose output is a stream.
    Result run(FileTask task, const Sample& sample, int input) {
        output_.cut(0);
        output_.rewind();
        Result result;
        OutputChoice output;
        output.path = "an output";
        output.pipe = output_.get();
        OutputChoice* const chosen = task == FileTask::verify ? nullptr : &output;
        try {
            if (task == FileTask::encrypt && sample.file.age) {
                run_age_encrypt(sample.file, sample.age, input, output, session_);
            } else if (task != FileTask::encrypt && is_age(sample.file, sample.age, input)) {
                FileChoice file = sample.file;
                file.secrets.identities = nullptr;
                run_age_decrypt(task, file, sample.age, input, chosen, nullptr, session_);
            } else {
                run_file_task(task, sample.file, input, {}, chosen, session_);
            }
        } catch (const Failure& failure) {
            result.code = failure.code;
            result.text = failure.what();
        }
        result.out = output_.data();
        return result;
    }
    // From a file, or from a pipe that holds all of it.
    Result open(FileTask task, const Sample& sample, const Data& data, bool from_pipe) {
        int ends[2];
        if (from_pipe && pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
            const Descriptor reading(ends[0]);
            Descriptor writing(ends[1]);
            (void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
            const bool fits =
                write(ends[1], data.data(), data.size()) == static_cast<ssize_t>(data.size());
            (void)fcntl(ends[0], F_SETFL, 0);
            if (fits && writing.close()) return run(task, sample, reading.get());
        }
        input_.cut(0);
        input_.put(data);
        input_.rewind();
        return run(task, sample, input_.get());
    }

    void add(Sample sample, size_t text_bytes, Random& random) {
        for (Data* const sealed : {&sample.other, &sample.sealed}) {
            sample.text = random.text(text_bytes);
            input_.cut(0);
            input_.put(sample.text);
            input_.rewind();
            const Result made = run(FileTask::encrypt, sample, input_.get());
            ASSERT_EQ(made.code, ExitCode::ok) << sample.format << ": " << made.text;
            *sealed = made.out;
            if (sealed == &sample.other) sample.other_text = sample.text;
        }
        samples_.push_back(std::make_unique<Sample>(std::move(sample)));
        Sample& added = *samples_.back();
        if (added.layout.first_chunk == 0)
            added.layout.first_chunk =
                added.is_armored ? added.sealed.size() / 2 : end_of_header(added);
        if (added.layout.starts.empty())
            added.layout.starts = {0, added.layout.first_chunk - 40, added.layout.first_chunk};
        const Result opened = open(FileTask::decrypt, added, added.sealed, false);
        ASSERT_EQ(opened.code, ExitCode::ok) << added.format << ": " << opened.text;
        ASSERT_TRUE(opened.out == added.text) << added.format;
    }
    // Returns the offset after an age file's MAC line and the payload's nonce.
    static size_t end_of_header(const Sample& sample) {
        const std::string text(sample.sealed.begin(), sample.sealed.end());
        return text.find('\n', text.find("\n--- ") + 1) + 1 + 16;
    }

    void add_age() {
        Random random(710);
        const Pair hybrid = new_pair(IdentityKind::post_quantum, "age1pq", session_);
        const struct {
            const char* name;
            std::string identity;
            std::vector<std::string> recipients;
            bool armor = false;
        } kinds[] = {
            {"age, X25519", x25519_identity, {x25519_recipient}},
            {"age, armored", x25519_identity, {x25519_recipient}, true},
            {"age, ML-KEM-768 with X25519", hybrid.identity, {hybrid.recipient}},
            {"age, ssh-ed25519", stored("ed25519"), {stored_recipient("ed25519.pub")}},
            {"age, four recipients",
             x25519_identity,
             {stored_recipient("ed25519.pub"), stored_recipient("rsa.pub"), x25519_recipient,
              x25519_recipient}},
            {"age, ssh-rsa", stored("rsa"), {stored_recipient("rsa.pub")}},
        };
        for (const auto& kind : kinds)
            for (const size_t bytes : {size_t{0}, size_t{300}, size_t{65536}, size_t{150'000}}) {
                if (bytes > 300 && (kind.armor || kind.recipients.size() > 1)) continue;
                Sample sample{kind.name, choice(), {}};
                sample.file.age = true;
                sample.age.recipients = kind.recipients;
                sample.age.identities = {secret(kind.identity)};
                sample.age.armor = sample.is_armored = kind.armor;
                sample.layout = {{}, 0, age_chunk, true};
                add(std::move(sample), bytes, random);
                Sample& added = *samples_.back();
                added.file.age = false;  // it is recognised
                add_identities(added.age, added.file.secrets, session_, false);
            }
    }
    // Header copies with slots of recipients. tests/container changes files of keys and
    // passphrases.
    void add_own() {
        Random random(711);
        const Pair hybrid = new_pair(IdentityKind::post_quantum, "age1pq", session_),
                   ntru = new_pair(IdentityKind::ntru, "warpntru1", session_);
        const Plugin plugin;
        const struct {
            const char* name;
            std::string identity;
            std::vector<std::string> recipients;
        } kinds[] = {
            {"Warpseal, X25519", x25519_identity, {x25519_recipient}},
            {"Warpseal, ML-KEM-768 with X25519", hybrid.identity, {hybrid.recipient}},
            {"Warpseal, NTRU with X25519", ntru.identity, {ntru.recipient}},
            {"Warpseal, ssh-ed25519", stored("ed25519"), {stored_recipient("ed25519.pub")}},
            {"Warpseal, ssh-rsa", stored("rsa"), {stored_recipient("rsa.pub")}},
            {"Warpseal, four slots",
             x25519_identity,
             {Plugin::recipient, stored_recipient("rsa.pub"), stored_recipient("ed25519.pub"),
              x25519_recipient}},
        };
        for (const auto& kind : kinds)
            for (const size_t bytes : {size_t{0}, size_t{40'000}}) {
                Sample sample{kind.name, choice(), {}};
                sample.age.recipients = kind.recipients;
                sample.age.identities = {secret(kind.identity)};
                add_recipients(sample.age, sample.file.secrets, session_);
                sample.layout = {{0, 4096, 4096 + 28672, payload_at}, chunks_at, sealed_chunk};
                AgeChoice age = sample.age;
                add_sealed_by_recipients(std::move(sample), age, bytes, random);
            }
    }
    void add_sealed_by_recipients(Sample sample, AgeChoice age, size_t bytes, Random& random) {
        for (Data* const sealed : {&sample.other, &sample.sealed}) {
            sample.text = random.text(bytes);
            input_.cut(0);
            input_.put(sample.text);
            input_.rewind();
            const Result made = run(FileTask::encrypt, sample, input_.get());
            ASSERT_EQ(made.code, ExitCode::ok) << made.text;
            *sealed = made.out;
            if (sealed == &sample.other) sample.other_text = sample.text;
        }
        sample.file.secrets = {};
        add_identities(age, sample.file.secrets, session_);
        samples_.push_back(std::make_unique<Sample>(std::move(sample)));
        const Result opened =
            open(FileTask::decrypt, *samples_.back(), samples_.back()->sealed, false);
        ASSERT_EQ(opened.code, ExitCode::ok) << opened.text;
        ASSERT_TRUE(opened.out == samples_.back()->text);
    }
    void add_floe() {
        Random random(712);
        for (const auto& [segment, bytes] :
             std::vector<std::pair<uint64_t, size_t>>{{64, 500}, {4096, 0}, {4096, 20'000}}) {
            Sample sample{"FLOE", choice(), {}};
            sample.file.foreign.format = ForeignFormat::floe;
            sample.file.foreign.format_given = true;
            sample.file.foreign.segment_bytes = segment;
            sample.file.foreign.aad = "00ff";
            sample.file.secrets.key_files = {secret("0123456789abcdef0123456789abcdef")};
            const size_t header = FloeHeader::header_bytes;
            sample.layout = {{0, header - 32, header}, header, static_cast<size_t>(segment)};
            add(std::move(sample), bytes, random);
            // It is recognised.
            samples_.back()->file.foreign.format = ForeignFormat::none;
            samples_.back()->file.foreign.format_given = false;
            samples_.back()->file.foreign.segment_bytes = 0;
        }
    }
    // Files of random bytes. Their content is not authenticated, so any key opens some of them.
    void add_openssl() {
        Random random(713);
        for (const char* const cipher : {"aes-256-cbc", "aes-128-ctr"}) {
            auto sample = std::make_unique<Sample>();
            sample->format = "openssl enc";
            sample->file = choice();
            sample->file.foreign.cipher = cipher;
            sample->file.secrets.passphrase_files = {secret("a passphrase\n")};
            sample->is_authenticated = false;
            sample->layout = {{0, 8, 16}, 16, 16};
            for (Data* const sealed : {&sample->sealed, &sample->other}) {
                *sealed = random.text(16 + 480);
                std::copy_n("Salted__", 8, sealed->begin());
            }
            samples_.push_back(std::move(sample));
        }
    }

    void check(const Sample& sample, const Data& data, const Result& result, FileTask task) {
        ++codes_[{sample.format, static_cast<int>(result.code)}];
        if (result.code != ExitCode::ok) {
            ASSERT_NE(result.text, "");
            ASSERT_TRUE(is_refusal(result.code)) << result.text;
            if (sample.is_authenticated) {
                // A file that begins as the other one opens as that one, up to what was changed.
                ASSERT_TRUE(is_prefix(result.out, sample.text) ||
                            is_prefix(result.out, sample.other_text))
                    << "unauthenticated bytes are out: " << result.out.size() << " bytes, code "
                    << static_cast<int>(result.code) << ": " << result.text;
            }
            return;
        }
        if (!sample.is_authenticated) {
            // Each call of the program says so, and verify refuses.
            ASSERT_EQ(task, FileTask::decrypt) << "verified";
            return;
        }
        const bool is_sealed = is_the_same(sample, data, sample.sealed),
                   is_other = is_the_same(sample, data, sample.other);
        ASSERT_TRUE(is_sealed || is_other) << "accepted";
        if (task == FileTask::decrypt) {
            ASSERT_TRUE(result.out == (is_sealed ? sample.text : sample.other_text))
                << "another text";
        }
        ++same_;
    }
    static bool is_refusal(ExitCode code) {
        switch (code) {
            case ExitCode::wrong_key:
            case ExitCode::not_authentic:
            case ExitCode::truncated:
            case ExitCode::unsupported:
            case ExitCode::limit_exceeded:
            case ExitCode::bad_padding:
            case ExitCode::damage_found: return true;
            case ExitCode::usage: return true;  // the options are those of another format
            default: return false;
        }
    }
    static uint64_t wanted() {
        const char* const given = std::getenv("WARPSEAL_TAMPERINGS");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : 6'000;
    }

    const std::string name_ = "a sample";
    FileRun run_{std::shared_ptr<warpseal_internal_slot_keys>(warpseal_internal_slot_keys_create(),
                                                              warpseal_internal_slot_keys_destroy)};
    RunFile state_{run_, name_, false};
    Session session_;
    std::vector<std::unique_ptr<SecretFile>> secrets_;
    std::vector<std::unique_ptr<std::string>> paths_;
    std::vector<std::unique_ptr<Sample>> samples_;
    const MemoryFile input_, output_;
    std::map<std::pair<std::string, int>, uint64_t> codes_;
    uint64_t same_ = 0;
};

TEST_F(Tampering, NoFormatAcceptsAny) {
    ASSERT_EQ(samples_.size(), 4 * 4 + 2 + 2 + 6 * 2 + 3 + 2u);
    const uint64_t count = wanted();
    Random random(714);
    for (uint64_t i = 0; i < count; ++i) {
        const Sample& sample = *samples_[random.below(samples_.size())];
        const Changed file = changed(sample.sealed, sample.other, sample.layout, random);
        const bool from_pipe = random.one_in(2);
        const FileTask task = random.one_in(4) ? FileTask::verify : FileTask::decrypt;
        SCOPED_TRACE(std::to_string(i) + ": " + file.how + ", " + sample.format + ", text of " +
                     std::to_string(sample.text.size()) + " bytes" + (from_pipe ? ", a pipe" : ""));
        check(sample, file.data, open(task, sample, file.data, from_pipe), task);
        if (HasFatalFailure()) return;
    }
    rusage usage;
    ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    const double mebibytes = static_cast<double>(usage.ru_maxrss) / 1024;
    std::printf("%llu tamperings of all formats: 0 accepted, %llu the same file, %.0f MiB\n",
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(same_),
                mebibytes);
    std::map<std::string, uint64_t> refused;
    for (const auto& [kind, number] : codes_) {
        std::printf("    %s: %llu with code %d\n", kind.first.c_str(),
                    static_cast<unsigned long long>(number), kind.second);
        if (kind.second != 0) refused[kind.first] += number;
    }
    // Each format has a part, and few changes end before its own checks.
    EXPECT_EQ(refused.size(), 14u);
    for (const auto& [format, number] : refused) EXPECT_GT(number, count / 100) << format;
    const uint64_t unknown = [&] {
        uint64_t sum = 0;
        for (const auto& [kind, number] : codes_)
            sum += kind.second == static_cast<int>(ExitCode::usage) ||
                           kind.second == static_cast<int>(ExitCode::unsupported)
                       ? number
                       : 0;
        return sum;
    }();
    EXPECT_LT(unknown, count / 3);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(mebibytes, 600);
#endif
}

}  // namespace
}  // namespace tests
