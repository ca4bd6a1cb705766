// NTRU for warpseal-counters: coins, keys, and ciphertexts that are valid or of each kind that is
// rejected.
#include <algorithm>
#include <memory>

#include "backends/gpu_backend.h"
#include "backends/kem_catalogue.h"
#include "reference/ntru.h"
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
          params_(*kem.set->ntru),
          publics_(items * params_.public_key_bytes()),
          secrets_(items * params_.secret_key_bytes()),
          ciphertexts_(items * params_.ciphertext_bytes()),
          shared_(items * 32),
          coins_(items * params_.keypair_coins()),
          work_(std::max({kem.work_bytes(KemOperation::keypair, items),
                          kem.work_bytes(KemOperation::encapsulate, items),
                          kem.work_bytes(KemOperation::decapsulate, items)})) {}

    void count(KemOperation operation) {
        std::vector<Input> inputs = operation == KemOperation::keypair       ? of_coins(false)
                                    : operation == KemOperation::encapsulate ? of_coins(true)
                                                                             : ciphertexts();
        const Input repeated{"equal", [=, this] { draw(4, operation); }};
        counting::count(name(operation), inputs, repeated, [=, this] { run(operation); });
    }
    std::string name(KemOperation operation) const {
        static constexpr const char* names[] = {"key generation", "encapsulation", "decapsulation"};
        return std::string(params_.name) + " " + names[static_cast<int>(operation)];
    }

private:
    void run(KemOperation operation) {
        warpseal_kem_batch b = tests::contiguous_batch(params_, items);
        b.public_keys = publics_.data();
        b.secret_keys = secrets_.data();
        b.ciphertexts = ciphertexts_.data();
        b.shared_secrets = shared_.data();
        b.coins = coins_.data();
        b.coins_stride = operation == KemOperation::keypair ? params_.keypair_coins()
                                                            : params_.encapsulation_coins();
        expect(kem_.run[static_cast<int>(operation)](b, UINT64_MAX, work_.data(), nullptr) ==
                   WARPSEAL_OK,
               name(operation));
    }

    size_t coins_bytes(KemOperation of) const {
        return items * (of == KemOperation::keypair ? params_.keypair_coins()
                                                    : params_.encapsulation_coins());
    }

    // Makes the operation's inputs from drawn coins: keys for an encapsulation, keys and their
    // ciphertexts for a decapsulation.
    void draw(uint64_t number, KemOperation before) {
        tests::Random random(number);
        for (const auto operation : {KemOperation::keypair, KemOperation::encapsulate}) {
            coins_.put(random.text(coins_bytes(operation)));
            if (operation == before) return;
            run(operation);
        }
    }

    std::vector<Input> of_coins(bool encapsulate) {
        const auto operation = encapsulate ? KemOperation::encapsulate : KemOperation::keypair;
        const size_t item_bytes = coins_bytes(operation) / items, iid = params_.iid_coins();
        std::vector<Input> all;
        const auto add = [&](const char* what, auto byte_at) {
            all.push_back({what, [=, this] {
                               draw(2, operation);
                               Text coins = tests::Random(3).text(coins_bytes(operation));
                               for (size_t i = 0; i < coins.size(); ++i)
                                   if (const int byte = byte_at(i % item_bytes); byte >= 0)
                                       coins[i] = static_cast<uint8_t>(byte);
                               coins_.put(coins);
                           }});
        };
        add("zeros", [](size_t) { return 0; });
        add("ones", [](size_t) { return 0xff; });
        add("0x55", [](size_t) { return 0x55; });
        add("0xaa", [](size_t) { return 0xaa; });
        add("counting bytes", [](size_t i) { return static_cast<int>(i & 0xff); });
        add("one bit", [](size_t i) { return i % 64 == 0 ? 1 : 0; });
        add("first polynomial zero", [=](size_t i) { return i < iid ? 3 : -1; });
        add("second polynomial of equal coins", [=](size_t i) { return i < iid ? -1 : 0; });
        for (int i = 0; i < counting::random_inputs; ++i)
            all.push_back({"random " + std::to_string(i),
                           [=, this] { draw(100 + static_cast<uint64_t>(i), operation); }});
        return all;
    }

    // Returns drawn keys and ciphertexts, modified by `change`.
    Input changed(const std::string& what, uint64_t number, std::function<void()> change) {
        return {what, [=, this] {
                    draw(number, KemOperation::decapsulate);
                    change();
                }};
    }

    std::vector<Input> ciphertexts() {
        const size_t ct = items * params_.ciphertext_bytes(),
                     sk = items * params_.secret_key_bytes();
        std::vector<Input> all = {
            changed("ciphertexts of zeros", 2, [=, this] { ciphertexts_.put(Text(ct, 0x00)); }),
            changed("ciphertexts of ones", 2, [=, this] { ciphertexts_.put(Text(ct, 0xff)); }),
            changed("keys of zeros", 2, [=, this] { secrets_.put(Text(sk, 0x00)); }),
            changed("keys of ones", 2, [=, this] { secrets_.put(Text(sk, 0xff)); }),
            changed("one bit of each flipped", 2, [this] { flip(1); }),
            changed("every other one flipped", 2, [this] { flip(2); }),
            changed("r not ternary", 2,
                    [this] { encrypt([](Coefficients& r, Coefficients&) { r[7] = 3; }); }),
            changed("last coefficient of r", 2,
                    [this] { encrypt([](Coefficients& r, Coefficients&) { r.back() = 1; }); }),
        };
        if (params_.family == warpseal::kem::Family::hps)
            all.push_back(changed("weight of m", 2, [this] {
                encrypt([](Coefficients&, Coefficients& m) { m[0] = (m[0] + 1) % 3; });
            }));
        if (params_.spare_bits() != 0)
            all.push_back(changed("spare bits", 2, [this] { set_spare_bits(); }));
        for (int i = 0; i < counting::random_inputs; ++i) {
            const uint64_t number = 100 + static_cast<uint64_t>(i);
            const std::string which = "random " + std::to_string(i);
            if (i % 4 == 1)
                all.push_back(changed(which + ", no ciphertexts", number, [=, this] {
                    ciphertexts_.put(tests::Random(number).text(ct));
                }));
            else if (i % 4 == 3)
                all.push_back(changed(which + ", of other keys", number,
                                      [=, this] { other_keys(number + 1000); }));
            else
                all.push_back(
                    {which + ", valid", [=, this] { draw(number, KemOperation::decapsulate); }});
        }
        return all;
    }

    void flip(size_t step) {
        Text texts = ciphertexts_.get();
        for (size_t i = 0; i < items; i += step)
            texts[i * params_.ciphertext_bytes() + 5 * i] ^= static_cast<uint8_t>(1 << i % 8);
        ciphertexts_.put(texts);
    }
    void set_spare_bits() {
        Text texts = ciphertexts_.get();
        for (size_t i = 1; i <= items; ++i) texts[i * params_.ciphertext_bytes() - 1] |= 0x80;
        ciphertexts_.put(texts);
    }
    void other_keys(uint64_t number) {
        coins_.put(tests::Random(number).text(coins_bytes(KemOperation::keypair)));
        run(KemOperation::keypair);
    }

    // Makes ciphertexts from r, modulo q, and m, modulo 3, as modified by `change`.
    using Coefficients = reference::Ntru::Coefficients;
    void encrypt(void (*change)(Coefficients& r, Coefficients& m)) {
        const reference::Ntru reference_ntru(params_.name);
        const Text publics = publics_.get();
        tests::Random random(5);
        Text texts;
        for (size_t i = 0; i < items; ++i) {
            Coefficients r, m;
            reference_ntru.sample(random.text(params_.encapsulation_coins()), r, m);
            for (uint16_t& x : r) x = x == 2 ? static_cast<uint16_t>(reference_ntru.q() - 1) : x;
            change(r, m);
            const auto key = publics.begin() + static_cast<long>(i * params_.public_key_bytes());
            const Text one = reference_ntru.encrypt(
                r, m, Text(key, key + static_cast<long>(params_.public_key_bytes())));
            texts.insert(texts.end(), one.begin(), one.end());
        }
        ciphertexts_.put(texts);
    }

    const warpseal::CudaKem& kem_;
    const warpseal::kem::Params& params_;
    const DeviceArray publics_, secrets_, ciphertexts_, shared_, coins_, work_;
};

}  // namespace

std::vector<counting::TestCase> counting::ntru_test_cases() {
    std::vector<TestCase> all;
    for (const warpseal::kem::Params* params : warpseal::kem::sets)
        for (const auto operation :
             {KemOperation::keypair, KemOperation::encapsulate, KemOperation::decapsulate}) {
            const auto set = std::make_shared<Set>(*warpseal::cuda_kem(params->name));
            all.push_back({set->name(operation), [=] { set->count(operation); }});
        }
    return all;
}
