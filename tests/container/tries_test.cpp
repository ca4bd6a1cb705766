// Cost limits of a header: Argon2id work is counted before it is done.
#include <utility>

#include "container/bytes.h"
#include "container/header/tries.h"
#include "files.h"

namespace tests {
namespace {

namespace container = warpseal::container;

constexpr uint32_t gib = 1 << 20;  // KiB
constexpr uint64_t budget = container::argon2_budget;

// A header, in two copies, of passphrase slots with these costs. No passphrase opens them.
class Costs {
public:
    using Slots = std::vector<std::pair<uint32_t, uint32_t>>;  // passes, KiB

    // same_slots: both copies have the same. repeated: slots of one cost are the same slot.
    Costs(const Slots& first, const Slots& second, bool same_slots = false, bool repeated = false)
        : repeated_(repeated) {
        header_.fixed.copy_bytes = 28672;
        header_.bytes.assign(container::header_bytes(28672), 0);
        write(0, first, 1);
        write(1, second, same_slots ? 1 : 2);
        container::parse_copies(header_);
        EXPECT_TRUE(header_.copies[0].well_formed && header_.copies[1].well_formed);
    }
    const container::Header& header() const { return header_; }

    struct Count {
        size_t tries = 0, slot_cost = 0, copy_work = 0, budget = 0;
        uint64_t work = 0;
    };
    Count count(const Options& secrets, uint64_t most = budget) const {
        Count count;
        container::visit_tries(
            header_, secrets.list.data(), secrets.list.size(), most,
            [&](const container::Try& next) {
                switch (next.refusal) {
                    case container::Refusal::none:
                        count.work += container::work(container::passphrase_cost(*next.slot));
                        ++count.tries;
                        break;
                    case container::Refusal::slot_cost: ++count.slot_cost; break;
                    case container::Refusal::copy_work: ++count.copy_work; break;
                    case container::Refusal::budget: ++count.budget; break;
                }
                return false;
            });
        return count;
    }

private:
    void write(size_t index, const Slots& slots, uint8_t salt) {
        uint8_t* p = header_.bytes.data() + 4096 + index * 28672;
        container::put64(p, 1);
        container::put16(p + 8, slots.size());
        p += 16;
        for (size_t i = 0; i < slots.size(); ++i, p += container::passphrase_slot_bytes) {
            container::put16(p, WARPSEAL_SECRET_PASSPHRASE);
            container::put16(p + 2, container::passphrase_parameter_bytes);
            container::put32(p + 4, slots[i].first);
            container::put32(p + 8, slots[i].second);
            p[12] = salt;
            p[13] = static_cast<uint8_t>(repeated_ ? 0 : i);
            container::put16(p + 28, container::sealed_key_bytes);
        }
    }
    const bool repeated_;
    container::Header header_;
};

Options& passphrases(Options& options, size_t count) {
    for (size_t i = 0; i < count; ++i) options.passphrase("passphrase " + std::to_string(i));
    return options;
}

TEST(Tries, AllSlotsAndPassphrasesUseOneBudget) {
    const Costs::Slots dear(32, {1, gib});
    const Costs costs(dear, dear);  // 64 different slots, each copy exactly at its own bound
    for (const size_t given : {1, 2, 5, 100}) {
        Options options;
        const Costs::Count count = costs.count(passphrases(options, given));
        EXPECT_EQ(count.work, budget) << given;
        EXPECT_EQ(count.tries, 64u)
            << given << ": one passphrase reaches the last slot of the second copy";
        EXPECT_EQ(count.budget, 64 * given - 64) << given;
    }
}

TEST(Tries, TheMostExpensiveSlots) {
    const Costs costs({{16, gib}}, {{16, gib}});
    for (const size_t given : {2, 3, 4}) {
        Options options;
        const Costs::Count count = costs.count(passphrases(options, given));
        EXPECT_EQ(count.tries, 4u) << given;
        EXPECT_EQ(count.work, budget) << given;
        EXPECT_EQ(count.budget, 2 * given - 4) << given;
    }
}

TEST(Tries, ASlotOrACopyBeyondItsBoundIsSkipped) {
    Options options;
    options.passphrase("p");
    for (const auto& cost : Costs::Slots{
             {0, 64}, {17, 64}, {UINT32_MAX, 64}, {1, 0}, {1, 7}, {1, gib + 1}, {1, UINT32_MAX}}) {
        const Costs::Count count = Costs({cost}, {{1, 64}}).count(options);
        EXPECT_EQ(count.slot_cost, 1u) << cost.first << " " << cost.second;
        EXPECT_EQ(count.tries, 1u);
    }
    const Costs::Count count = Costs(Costs::Slots(3, {16, gib}), {{1, 64}}).count(options);
    EXPECT_EQ(count.copy_work, 1u);
    EXPECT_EQ(count.work, 64u);
}

TEST(Tries, EqualSlotsAreTriedOnce) {
    Options options;
    const Costs::Slots slots(
        8, {container::argon2_default.passes, container::argon2_default.memory_kib});
    const Costs::Count count = Costs(slots, slots, true).count(passphrases(options, 5));
    EXPECT_EQ(count.tries,
              40u);  // five passphrases and eight slots at the default cost: legitimate use is not
                     // refused
    EXPECT_EQ(count.budget, 0u);
}

TEST(Tries, ASlotThatACopyRepeatsIsTriedOnce) {
    Options options;
    passphrases(options, 2);
    const Costs::Slots slots = {{1, 64}, {1, 64}, {2, 64}, {1, 64}};
    const Costs::Count count = Costs(slots, {{1, 8}, {1, 8}}, false, true).count(options);
    EXPECT_EQ(count.tries, 2u * 3);
    EXPECT_EQ(count.work, 2 * (64u + 128 + 8));
}

TEST(Tries, AnExpensiveSlotLeavesTheBudgetToCheaperOnes) {
    Options options;
    const Costs::Count count =
        Costs({{2, 64}, {1, 64}, {1, 8}}, {{1, 64}, {1, 8}}).count(passphrases(options, 1), 100);
    EXPECT_EQ(count.budget, 2u);
    EXPECT_EQ(count.tries, 3u);
    EXPECT_EQ(count.work, 64u + 8 + 8);
}

TEST(Tries, AKeySecretSkipsPassphraseSlots) {
    Options options;
    options.key();
    const Costs::Count count = Costs(Costs::Slots(3, {16, gib}), {{17, 64}}).count(options);
    EXPECT_EQ(count.tries + count.slot_cost + count.copy_work + count.budget, 0u);
}

// Its parameters would be read from whatever follows it.
TEST(Tries, ASlotOfAnotherTypeIsNotOpened) {
    uint8_t fixed[container::fixed_part_bytes] = {}, bytes[512] = {};
    warpseal::Secret<container::data_key_bytes> data_key;
    Options key, passphrase;
    key.key();
    passphrase.passphrase("p");
    const warpseal_secret secrets[] = {key.list[0], passphrase.list[0]};
    for (const warpseal_secret& sealer : secrets) {
        size_t size = 0;
        container::Fault fault;
        ASSERT_EQ(
            container::seal_slot(engine(), fixed, sealer, {1, 8}, data_key, bytes, size, fault),
            WARPSEAL_OK);
        container::Slot slot;
        warpseal::Bytes rest = {bytes, size};
        ASSERT_TRUE(container::parse_slot(rest, slot));
        for (const warpseal_secret& opener : secrets) {
            container::Fault here;
            const bool same = opener.type == sealer.type;
            EXPECT_EQ(container::open_slot(engine(), fixed, slot, opener, data_key, here),
                      same ? WARPSEAL_OK : WARPSEAL_WRONG_KEY);
            EXPECT_EQ(std::strcmp(here.message, same ? "" : "a slot of another type"), 0)
                << here.message;
        }
    }
}

TEST(Tries, UnlockEnforcesTheBudgetAndReportsIt) {
    const Costs costs({{1, 64}, {1, 64}}, {{1, 64}});
    const auto unlock = [&](uint64_t most, std::string& message) {
        Options options;
        warpseal::Secret<container::data_key_bytes> data_key;
        container::Fault fault;
        int in_force = 0;
        const warpseal_status status =
            container::unlock(engine(), costs.header(), passphrases(options, 2).list.data(), 2,
                              data_key, in_force, fault, most);
        message = fault.message;
        return status;
    };
    std::string message;
    EXPECT_EQ(unlock(6 * 64, message), WARPSEAL_WRONG_KEY);
    EXPECT_EQ(unlock(6 * 64 - 1, message), WARPSEAL_LIMIT_EXCEEDED);
    EXPECT_NE(message.find("fewer passphrases"), std::string::npos) << message;
}

}  // namespace
}  // namespace tests
