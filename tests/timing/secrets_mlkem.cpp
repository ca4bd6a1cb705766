// Constant time of ML-KEM, X25519 and their hybrids: coins, the secret parts of keys, and
// ciphertexts are marked secret, and valgrind or MemorySanitizer then reports every branch and
// every address that depends on one. The library's sources and flags, but with the matrix's seed
// marked public (now_public.h, msan_models.h). One planted leak must be reported.
//
//   valgrind -q warpseal-secrets-mlkem portable | avx2
//   warpseal-secrets-mlkem-msan vaes512
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "backends/kem_catalogue.h"
#include "engine/targets.h"
#include "support/random.h"
#include "timing/secret_marks.h"

extern "C" {
extern const warpseal::CpuKem mlkem_secrets_portable[warpseal::kem::mlkem_set_count],
    mlkem_secrets_avx2[warpseal::kem::mlkem_set_count],
    hybrid_secrets_portable[warpseal::kem::hybrid_set_count],
    hybrid_secrets_avx2[warpseal::kem::hybrid_set_count],
    warpseal_cpu_vaes512_mlkem[warpseal::kem::mlkem_set_count],
    warpseal_cpu_vaes512_hybrid[warpseal::kem::hybrid_set_count];
}

namespace {

using warpseal::KemOperation;
using Text = std::vector<uint8_t>;

int passed = 0, failed = 0;

void result(bool right, const std::string& what, const char* how) {
    ++(right ? passed : failed);
    if (!right) std::printf("LEAK? %s: %s\n", what.c_str(), how);
}
using tests::mark_public, tests::mark_secret;

// Returns true if something in `work` is reported.
template <class Work>
bool reports(const Work& work) {
    const unsigned before = tests::reports();
    work();
    return tests::reports() != before;
}

struct Objects {
    warpseal::Target target;
    const warpseal::CpuKem *mlkem, *hybrid;
};
const Objects tested[] = {
#if defined(WARPSEAL_MSAN)
    {warpseal::Target::vaes512, warpseal_cpu_vaes512_mlkem, warpseal_cpu_vaes512_hybrid},
#else
    {warpseal::Target::portable, mlkem_secrets_portable, hybrid_secrets_portable},
    {warpseal::Target::avx2, mlkem_secrets_avx2, hybrid_secrets_avx2},
#endif
};

// `count` items. X25519 on AVX-512 computes up to three one by one, and more in eight lanes.
template <size_t count>
class Cases {
public:
    Cases(const char* target, const warpseal::KemSet& set, const warpseal::CpuKem& kem)
        : target_(target), set_(set), kem_(kem) {}

    void all() {
        batch_.struct_bytes = sizeof batch_;
        batch_.count = count;
        batch_.public_keys = publics_.data();
        batch_.public_key_stride = set_.public_key_bytes();
        batch_.secret_keys = secrets_.data();
        batch_.secret_key_stride = set_.secret_key_bytes();
        batch_.ciphertexts = ciphertexts_.data();
        batch_.ciphertext_stride = set_.ciphertext_bytes();
        batch_.shared_secrets = sent_.data();
        batch_.shared_secret_stride = set_.shared_secret_bytes();
        tests::Random random(6201);
        Text coins = random.text(count * set_.keypair_coins());
        run(KemOperation::keypair, coins);
        mark_public(publics_.data(), publics_.size());
        hide_keys();
        Text messages = random.text(count * set_.encapsulation_coins());
        run(KemOperation::encapsulate, messages);
        // A sum of X25519 carries marks to some bits of a 64-bit word.
        const size_t unit = set_.scheme == warpseal::KemScheme::hybrid ? 8 : 1;
        if (tests::marks_may_get_lost)
            result(tests::all_secret(ciphertexts_.data(), ciphertexts_.size(), unit) &&
                       tests::all_secret(sent_.data(), sent_.size(), unit),
                   name("encapsulation"), "secret coins make output that is not");
        mark_public(ciphertexts_.data(), ciphertexts_.size());
        mark_public(sent_.data(), sent_.size());
        ciphertexts_[set_.ciphertext_bytes() + 9] ^= 4;
        // The message in a chosen ciphertext is secret, and so is whether the ciphertext is valid.
        mark_secret(ciphertexts_.data(), ciphertexts_.size());
        batch_.shared_secrets = received_.data();
        Text none;
        run(KemOperation::decapsulate, none);
        mark_public(received_.data(), received_.size());
        const size_t bytes = set_.shared_secret_bytes();
        for (size_t i = 0; i < count; ++i)
            result((std::memcmp(&sent_[bytes * i], &received_[bytes * i], bytes) == 0) == (i != 1),
                   name("decapsulation"), "a wrong secret");
        prepared(warpseal::KemKeyKind::public_key, messages);
        prepared(warpseal::KemKeyKind::secret_key, none);
    }

private:
    static uint8_t* aligned(Text& memory) {
        return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    }
    // The operation under the first item's key, prepared.
    void prepared(warpseal::KemKeyKind kind, Text& coins) {
        const auto number = static_cast<int>(kind);
        const bool encapsulates = kind == warpseal::KemKeyKind::public_key;
        const std::string what = name(encapsulates ? "prepared public key" : "prepared secret key");
        Text memory(kem_.prepared_bytes(kind) + 64),
            work(kem_.work_bytes(warpseal::operation_of(kind), count) + 64);
        const uint8_t* const key = encapsulates ? publics_.data() : secrets_.data();
        bool accepted = false;
        result(
            !reports([&] { accepted = kem_.prepare[number](key, aligned(memory), aligned(work)); }),
            what, "preparation branches on a secret");
        mark_public(&accepted, sizeof accepted);
        result(accepted, what, "the key is refused");
        warpseal_kem_batch batch = batch_;
        std::vector<int32_t> statuses(count);
        batch.public_keys = batch.secret_keys = aligned(memory);
        batch.public_key_stride = batch.secret_key_stride = 0;
        batch.shared_secrets = encapsulates ? sent_.data() : received_.data();
        batch.coins = coins.data();
        batch.coins_stride = coins.size() / count;
        batch.statuses = statuses.data();
        mark_secret(coins.data(), coins.size());
        mark_secret(ciphertexts_.data(), ciphertexts_.size());
        uint64_t without_result = 0;
        result(!reports([&] {
            without_result = kem_.run_prepared[number](batch, 0, count, aligned(work));
        }),
               what, "a branch or an address depends on a secret");
        mark_public(&without_result, sizeof without_result);
        result(without_result == 0, what, "an item has no result");
        mark_public(batch.shared_secrets, count * set_.shared_secret_bytes());
        if (encapsulates) return;
        const size_t bytes = count * set_.shared_secret_bytes();
        result(std::memcmp(sent_.data(), received_.data(), bytes) == 0, what, "a wrong secret");
    }

    // The public key of ML-KEM and its hash within a secret key are public.
    void hide_keys() {
        const warpseal::kem::MlKemParams* const mlkem = set_.mlkem_half();
        for (size_t i = 0; i < count; ++i) {
            uint8_t* const key = &secrets_[i * set_.secret_key_bytes()];
            mark_secret(key, set_.secret_key_bytes());
            if (mlkem != nullptr && set_.secret_key_bytes() > mlkem->public_key_bytes())
                mark_public(key + mlkem->vector_bytes(), mlkem->public_key_bytes() + 32);
        }
    }
    std::string name(const char* what) const {
        return std::string(target_) + " " + set_.name + ", " + std::to_string(count) + " items, " +
               what;
    }
    void run(KemOperation operation, Text& coins) {
        static constexpr const char* names[] = {"key generation", "encapsulation", "decapsulation"};
        const int number = static_cast<int>(operation);
        std::vector<int32_t> statuses(count);
        batch_.statuses = statuses.data();
        batch_.coins = coins.data();
        batch_.coins_stride = coins.size() / count;
        mark_secret(coins.data(), coins.size());
        Text memory(kem_.work_bytes(operation, count) + 64);
        void* const work =
            memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
        uint64_t without_result = 0;
        result(!reports([&] { without_result = kem_.run[number](batch_, 0, count, work); }),
               name(names[number]), "a branch or an address depends on a secret");
        mark_public(&without_result, sizeof without_result);
        result(without_result == 0, name(names[number]), "an item has no result");
    }

    const char* target_;
    const warpseal::KemSet& set_;
    const warpseal::CpuKem& kem_;
    warpseal_kem_batch batch_{};
    Text publics_ = Text(count * set_.public_key_bytes()),
         secrets_ = Text(count * set_.secret_key_bytes()),
         ciphertexts_ = Text(count * set_.ciphertext_bytes()),
         sent_ = Text(count * set_.shared_secret_bytes()), received_ = sent_;
};

void planted() {
    volatile uint8_t one = 1, sink = 0;
    mark_secret(const_cast<uint8_t*>(&one), 1);
    std::printf("the first report is planted\n");
    std::fflush(stdout);
    const bool found = reports([&] {
        if (one != 0) sink = 1;
    });
    mark_public(const_cast<uint8_t*>(&sink), 1);
    result(found, "planted", "a branch on a secret is not reported");
}

}  // namespace

int main(int argc, char** argv) {
    if (!tests::marks_are_watched()) {
        std::printf("NOT RUN: not under valgrind\n");
        return 77;
    }
    planted();
    const std::string wanted = argc > 1 ? argv[1] : "";
    bool ran = false;
    for (const Objects& objects : tested) {
        if (wanted != warpseal::target_name(objects.target)) continue;
        if (!warpseal::cpu_has_kem(objects.target)) {
            std::printf("NOT RUN %s: this machine, or valgrind, does not have it\n",
                        wanted.c_str());
            return 77;
        }
        ran = true;
        const warpseal::KemSet* const mlkem = warpseal::kem_sets + warpseal::kem::set_count;
        for (int i = 0; i < warpseal::kem::mlkem_set_count; ++i)
            Cases<3>(wanted.c_str(), mlkem[i], objects.mlkem[i]).all();
        const warpseal::KemSet* const hybrids = mlkem + warpseal::kem::mlkem_set_count;
        for (int i = 0; i < warpseal::kem::hybrid_set_count; ++i) {
            Cases<3>(wanted.c_str(), hybrids[i], objects.hybrid[i]).all();
            Cases<4>(wanted.c_str(), hybrids[i], objects.hybrid[i]).all();
        }
    }
    result(ran, wanted, "no such target");
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 ? 1 : 0;
}
