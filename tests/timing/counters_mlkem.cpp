// ML-KEM for warpseal-counters: coins, keys with other secrets, and ciphertexts that are valid or
// rejected. The public keys are the same throughout: what comes from their seed may depend on it.
#include <algorithm>
#include <memory>

#include "backends/gpu_backend.h"
#include "backends/kem_catalogue.h"
#include "support/contiguous_batch.h"
#include "support/random.h"
#include "timing/counting.h"
#include "timing/device_array.h"

namespace {

using counting::DeviceArray;
using counting::expect;
using counting::Input;
using reference::Text;
using warpseal::KemOperation;

constexpr size_t items = 64;  // of each call

class Set {
public:
    explicit Set(const warpseal::CudaKem& kem)
        : kem_(kem),
          set_(*kem.set),
          publics_(items * set_.public_key_bytes()),
          secrets_(items * set_.secret_key_bytes()),
          ciphertexts_(items * set_.ciphertext_bytes()),
          shared_(items * set_.shared_secret_bytes()),
          coins_(items * set_.keypair_coins()),
          work_(std::max({kem.work_bytes(KemOperation::keypair, items),
                          kem.work_bytes(KemOperation::encapsulate, items),
                          kem.work_bytes(KemOperation::decapsulate, items)})) {}

    void count(KemOperation operation) {
        const std::vector<Input> inputs =
            operation == KemOperation::decapsulate ? ciphertexts() : of_coins(operation);
        const Input repeated{"equal", [=, this] { draw(4, operation); }};
        counting::count(name(operation), inputs, repeated, [=, this] { run(operation); });
    }
    std::string name(KemOperation operation) const {
        static constexpr const char* names[] = {"key generation", "encapsulation", "decapsulation"};
        return std::string(set_.name) + " " + names[static_cast<int>(operation)];
    }

private:
    void run(KemOperation operation) {
        warpseal_kem_batch b = tests::contiguous_batch(set_, items);
        b.public_keys = publics_.data();
        b.secret_keys = secrets_.data();
        b.ciphertexts = ciphertexts_.data();
        b.shared_secrets = shared_.data();
        b.coins = coins_.data();
        b.coins_stride = coins_bytes(set_, operation);
        expect(
            kem_.run[static_cast<int>(operation)](b, items, work_.data(), nullptr) == WARPSEAL_OK,
            name(operation));
    }
    Text random_coins(uint64_t number, KemOperation operation) const {
        return tests::Random(number).text(items * coins_bytes(set_, operation));
    }
    // Coins fill the beginning of their array.
    void put_coins(Text coins) {
        coins.resize(items * set_.keypair_coins());
        coins_.put(coins);
    }

    // Makes the operation's inputs: the same keys for each number, other coins and ciphertexts.
    void draw(uint64_t number, KemOperation before) {
        put_coins(random_coins(2, KemOperation::keypair));
        if (before != KemOperation::keypair) run(KemOperation::keypair);
        if (before != KemOperation::keypair)
            put_coins(random_coins(number, KemOperation::encapsulate));
        else
            put_coins(random_coins(number, KemOperation::keypair));
        if (before == KemOperation::decapsulate) run(KemOperation::encapsulate);
    }

    std::vector<Input> of_coins(KemOperation operation) {
        std::vector<Input> all;
        const auto add = [&](const char* what, auto byte_at) {
            all.push_back({what, [=, this] {
                               draw(2, operation);
                               Text coins(items * coins_bytes(set_, operation));
                               for (size_t i = 0; i < coins.size(); ++i)
                                   coins[i] = static_cast<uint8_t>(byte_at(i));
                               put_coins(coins);
                           }});
        };
        add("zeros", [](size_t) { return 0; });
        add("ones", [](size_t) { return 0xff; });
        add("0x55", [](size_t) { return 0x55; });
        add("0xaa", [](size_t) { return 0xaa; });
        add("counting bytes", [](size_t i) { return static_cast<int>(i & 0xff); });
        add("one bit", [](size_t i) { return i % 64 == 0 ? 1 : 0; });
        add("half ones", [](size_t i) { return i % 32 < 16 ? 0xff : 0; });
        for (int i = 0; i < counting::random_inputs; ++i)
            all.push_back({"random " + std::to_string(i),
                           [=, this] { draw(100 + static_cast<uint64_t>(i), operation); }});
        return all;
    }

    // Drawn keys and ciphertexts, modified by `change`.
    Input changed(const std::string& what, uint64_t number, std::function<void()> change) {
        return {what, [=, this] {
                    draw(number, KemOperation::decapsulate);
                    change();
                }};
    }
    // Replaces bytes of each secret key, which are secret: s, or z at its end.
    void put_secret(size_t begin, size_t bytes, const std::function<uint8_t(size_t)>& byte_at) {
        Text keys = secrets_.get();
        for (size_t i = 0; i < items; ++i)
            for (size_t j = 0; j < bytes; ++j)
                keys[i * set_.secret_key_bytes() + begin + j] = byte_at(i * bytes + j);
        secrets_.put(keys);
    }
    void flip(size_t step) {
        Text texts = ciphertexts_.get();
        for (size_t i = 0; i < items; i += step)
            texts[i * set_.ciphertext_bytes() + 5 * i] ^= static_cast<uint8_t>(1 << i % 8);
        ciphertexts_.put(texts);
    }

    std::vector<Input> ciphertexts() {
        const size_t ct = items * set_.ciphertext_bytes(), s = set_.mlkem->vector_bytes(),
                     z = set_.secret_key_bytes() - 32;
        const auto constant = [](uint8_t byte) { return [byte](size_t) { return byte; }; };
        std::vector<Input> all = {
            changed("ciphertexts of zeros", 2, [=, this] { ciphertexts_.put(Text(ct, 0x00)); }),
            changed("ciphertexts of ones", 2, [=, this] { ciphertexts_.put(Text(ct, 0xff)); }),
            changed("s of zeros", 2, [=, this] { put_secret(0, s, constant(0x00)); }),
            changed("s of ones", 2, [=, this] { put_secret(0, s, constant(0xff)); }),
            changed("z of zeros", 2, [=, this] { put_secret(z, 32, constant(0x00)); }),
            changed("z of ones", 2, [=, this] { put_secret(z, 32, constant(0xff)); }),
            changed("one bit of each flipped", 2, [this] { flip(1); }),
            changed("every other one flipped", 2, [this] { flip(2); }),
        };
        for (int i = 0; i < counting::random_inputs; ++i) {
            const uint64_t number = 100 + static_cast<uint64_t>(i);
            const std::string which = "random " + std::to_string(i);
            if (i % 4 == 1)
                all.push_back(changed(which + ", no ciphertexts", number, [=, this] {
                    ciphertexts_.put(tests::Random(number).text(ct));
                }));
            else if (i % 4 == 3)
                all.push_back(changed(which + ", other s", number, [=, this] {
                    const Text bytes = tests::Random(number).text(items * s);
                    put_secret(0, s, [&](size_t at) { return bytes[at]; });
                }));
            else
                all.push_back(
                    {which + ", valid", [=, this] { draw(number, KemOperation::decapsulate); }});
        }
        return all;
    }

    const warpseal::CudaKem& kem_;
    const warpseal::KemSet& set_;
    const DeviceArray publics_, secrets_, ciphertexts_, shared_, coins_, work_;
};

}  // namespace

std::vector<counting::TestCase> counting::mlkem_test_cases() {
    std::vector<TestCase> all;
    for (const warpseal::kem::MlKemParams* params : warpseal::kem::mlkem_sets)
        for (const auto operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
            const auto set = std::make_shared<Set>(*warpseal::cuda_kem(params->name));
            all.push_back({set->name(operation), [=] { set->count(operation); }});
        }
    return all;
}
