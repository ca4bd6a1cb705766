// P4's NTRU set on one core: our default and the plain implementation, with the same keys.
#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "bench/ladder/kem.h"
#include "bench/papers/plain_ntru.h"
#include "bench/papers/published.h"
#include "bench/papers/study.h"
#include "cli/support/format.h"
#include "warpseal/kem.h"

namespace warpseal::papers {

class NtruOnOneCore {
public:
    explicit NtruOnOneCore(Study& study) : study_(study), engine_(study.engine(1)) {
        for (size_t i = 0; warpseal_kem_at(i, &info_) == WARPSEAL_OK &&
                           std::string(info_.name) != published::p4::set;)
            ++i;
        public_keys_.resize(items * info_.public_key_bytes);
        secret_keys_.resize(items * info_.secret_key_bytes);
        ciphertexts_.resize(items * info_.ciphertext_bytes);
        secrets_.resize(items * info_.shared_secret_bytes);
        call(warpseal_kem_keypair, nullptr);
    }

    // Time of the paper's number of operations.
    Timed ours(KemOperation operation) {
        return scaled(items, [&] {
            call(operation == KemOperation::encapsulate ? warpseal_kem_encapsulate
                                                        : warpseal_kem_decapsulate,
                 nullptr);
        });
    }
    // The plain implementation: the whole operation, then each of its parts, measured in turn.
    std::vector<Timed> plain(bool encapsulates) {
        constexpr int at_once = 32;
        uint64_t item = 0;
        std::vector<std::function<void()>> calls{[&] {
            const size_t i = item++ % items;
            if (encapsulates)
                plain_.encapsulate(item, public_key(i), ciphertext(i), secret(i));
            else
                plain_.decapsulate(ciphertext(i), secret_key(i), secret(i));
        }};
        std::vector<double> factors{1};
        for (size_t part = 0; part < std::size(published::p4::parts); ++part) {
            if (published::p4::parts[part].encapsulates != encapsulates) continue;
            const PlainNtru::Part& run = PlainNtru::parts()[part];
            calls.push_back([&] {
                for (int i = 0; i < at_once; ++i) run.run(plain_);
            });
            factors.push_back(static_cast<double>(run.calls) / at_once);
        }
        std::vector<Timed> times = study_.seconds_in_turn(calls);
        for (size_t i = 0; i < times.size(); ++i)
            times[i].seconds *= factors[i] * static_cast<double>(published::p4::count);
        return times;
    }

    // Checks that both give the same output for each key pair with the same coins, for valid and
    // invalid ciphertexts.
    void compare() {
        std::vector<uint8_t> coins(items * info_.encapsulation_coins_bytes);
        for (size_t i = 0; i < items; ++i)
            PlainNtru::draw_coins(i, std::span(coins).subspan(i * info_.encapsulation_coins_bytes,
                                                              info_.encapsulation_coins_bytes));
        call(warpseal_kem_encapsulate, coins.data());
        const auto ciphertexts = ciphertexts_, secrets = secrets_;
        for (size_t i = 0; i < items; ++i)
            plain_.encapsulate(i, public_key(i), ciphertext(i), secret(i));
        bool same = ciphertexts == ciphertexts_ && secrets == secrets_;
        for (size_t i = 0; i < items; i += 3) *ciphertext(i) ^= 1;
        call(warpseal_kem_decapsulate, nullptr);
        const auto expected = secrets_;
        for (size_t i = 0; i < items; ++i)
            plain_.decapsulate(ciphertext(i), secret_key(i), secret(i));
        same &= expected == secrets_;
        if (!same) study_.wrong("P4: the plain NTRU on a core and ours differ");
    }

private:
    static constexpr size_t items = 32;

    uint8_t* public_key(size_t i) { return public_keys_.data() + i * info_.public_key_bytes; }
    uint8_t* secret_key(size_t i) { return secret_keys_.data() + i * info_.secret_key_bytes; }
    uint8_t* ciphertext(size_t i) { return ciphertexts_.data() + i * info_.ciphertext_bytes; }
    uint8_t* secret(size_t i) { return secrets_.data() + i * info_.shared_secret_bytes; }

    template <class Call>
    void call(const Call& operation, const uint8_t* coins) {
        const warpseal_kem_batch batch{
            .struct_bytes = sizeof batch,
            .reserved = 0,
            .count = items,
            .public_keys = public_keys_.data(),
            .public_key_stride = info_.public_key_bytes,
            .secret_keys = secret_keys_.data(),
            .secret_key_stride = info_.secret_key_bytes,
            .ciphertexts = ciphertexts_.data(),
            .ciphertext_stride = info_.ciphertext_bytes,
            .shared_secrets = secrets_.data(),
            .shared_secret_stride = info_.shared_secret_bytes,
            .coins = coins,
            .coins_stride = coins == nullptr ? 0 : info_.encapsulation_coins_bytes,
            .statuses = nullptr};
        const warpseal_status status = operation(engine_, published::p4::set, &batch);
        if (status != WARPSEAL_OK)
            study_.wrong(cli::format("P4 on a core: {}", warpseal_status_text(status)));
    }

    // Returns the median over as many windows as start within the time of the study.
    Timed scaled(uint64_t at_once, const std::function<void()>& call) const {
        Timed time = study_.seconds_of(call);
        time.seconds *= static_cast<double>(published::p4::count) / static_cast<double>(at_once);
        return time;
    }

    Study& study_;
    warpseal_engine* const engine_;
    warpseal_kem_info info_{};
    std::vector<uint8_t> public_keys_, secret_keys_, ciphertexts_, secrets_;
    PlainNtru plain_;
};

}  // namespace warpseal::papers
