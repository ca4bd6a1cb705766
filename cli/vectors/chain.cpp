// Monte Carlo tests of NIST's AESAVS (section 6.4) and TMOVS (section 5). The rounds of a line run
// side by side.
#include <algorithm>
#include <array>
#include <exception>
#include <thread>

#include "cli/vectors/vectors.h"

namespace warpseal::cli {
namespace {

constexpr size_t largest_block = 16;

using Block = std::array<uint8_t, largest_block>;  // A smaller block uses the front.

struct Round {
    std::string name;
    Octets key, iv, in, out;
};

// Parameters of a line, the same in each of its rounds.
struct Chain {
    warpseal_cipher_info cipher{};
    warpseal_mode mode{};
    bool tmovs = false, encrypt = false;
    uint64_t steps = 0;
    size_t iv_bytes() const { return mode == WARPSEAL_ECB ? 0 : cipher.block_bytes; }
    bool feeds_output() const {  // True if the next input is this output.
        return mode == WARPSEAL_ECB || mode == WARPSEAL_CTR ||
               (tmovs && mode == WARPSEAL_CBC && !encrypt);
    }
};

// State of a round: input and chaining value of the next step, and the earlier values that the
// rules need.
struct State {
    Block x, v, last_v;
    Block y[3];  // newest first
};

Block block_of(const Octets& bytes) {
    Block block{};
    std::copy(bytes.begin(), bytes.end(), block.begin());
    return block;
}

Block xor_bytes(const Block& a, const Block& b) {
    Block sum;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] ^ b[i];
    return sum;
}

void count_up(Block& counter, size_t bytes) {
    while (bytes-- > 0 && ++counter[bytes] == 0) {
    }
}

// Advances to the next step; y[0] is the output of the current step.
void advance(const Chain& chain, const Block& iv, State& s, bool first) {
    const Block stream = xor_bytes(s.x, s.y[0]);  // keystream of OFB, and E(V) of CFB
    s.last_v = s.v;
    if (chain.mode == WARPSEAL_CTR)
        count_up(s.v, chain.cipher.block_bytes);
    else if (chain.mode == WARPSEAL_OFB)
        s.v = stream;
    // ciphertext
    else
        s.v = chain.encrypt ? s.y[0] : s.x;
    if (chain.feeds_output())
        s.x = s.y[0];
    else if (!chain.tmovs)
        s.x = first ? iv : s.y[1];
    else
        s.x = chain.mode == WARPSEAL_CFB && !chain.encrypt ? stream : s.last_v;
}

// ---- one step of several rounds, each under its own key

class Stepper {
public:
    Stepper(Tested& tested, const Chain& chain, const Round* rounds, size_t count);
    void step(std::vector<State>& states) {
        tested_.has_device_memory() ? step_on_device(states) : step_on_host(states);
    }

private:
    const warpseal_key* key(size_t i) const { return keys_[i]->for_direction(chain_.encrypt); }
    void step_on_host(std::vector<State>& states) const;
    void step_on_device(std::vector<State>& states);
    void queue(uint8_t* memory, const std::vector<State>& states) const;

    Tested& tested_;
    const Chain& chain_;
    const size_t block_, count_;
    std::vector<std::unique_ptr<RowKey>> keys_;
    Octets key_bytes_, staging_;
    const warpseal_key* for_batch_ =
        nullptr;  // key object that permits weak keys if a round has one
};

Stepper::Stepper(Tested& tested, const Chain& chain, const Round* rounds, size_t count)
    : tested_(tested), chain_(chain), block_(chain.cipher.block_bytes), count_(count) {
    for (size_t i = 0; i < count; ++i) {
        const Round& round = rounds[i];
        keys_.push_back(std::make_unique<RowKey>(tested, chain.cipher, chain.mode, round.key));
        require(!keys_.back()->rejected(), round.name + ": a key of the wrong length");
        key_bytes_.insert(key_bytes_.end(), round.key.begin(), round.key.end());
        if (!for_batch_ || keys_.back()->weak()) for_batch_ = key(i);
        if (!chain.encrypt || !keys_.back()->weak()) continue;
        Octets out(block_);
        require_status(warpseal_encrypt(keys_.back()->open(), chain.mode, round.iv.data(),
                                        round.iv.size(), round.in.data(), out.data(), block_),
                       WARPSEAL_WEAK_KEY, round.name + ": a public encrypt under a weak key");
    }
}

void Stepper::step_on_host(std::vector<State>& states) const {
    const auto call = chain_.encrypt ? warpseal_encrypt : warpseal_decrypt;
    for (size_t i = 0; i < count_; ++i) {
        State& s = states[i];
        require_status(call(key(i), chain_.mode, s.v.data(), chain_.iv_bytes(), s.x.data(),
                            s.y[0].data(), block_),
                       WARPSEAL_OK, "a step");
    }
}

// Layout: inputs of all rounds, then chaining values, keys, outputs and statuses. One copy to the
// device, one call if the mode has batches, one copy back.
void Stepper::step_on_device(std::vector<State>& states) {
    const size_t all = count_ * block_;
    staging_.resize(2 * all);
    for (size_t i = 0; i < count_; ++i) {
        std::copy_n(states[i].x.begin(), block_, staging_.data() + i * block_);
        std::copy_n(states[i].v.begin(), block_, staging_.data() + all + i * block_);
    }
    staging_.insert(staging_.end(), key_bytes_.begin(), key_bytes_.end());
    const size_t out = (staging_.size() + 63) / 64 * 64;
    uint8_t* memory = tested_.device_memory(out + all + 64 + count_ * sizeof(int32_t));
    require_status(
        warpseal_device_upload(tested_.engine(), memory, staging_.data(), staging_.size()),
        WARPSEAL_OK, "copying to the GPU");
    queue(memory, states);
    require_status(warpseal_device_synchronize(tested_.engine(), nullptr), WARPSEAL_OK,
                   "waiting for the GPU");
    require_status(warpseal_device_download(tested_.engine(), staging_.data(), memory + out, all),
                   WARPSEAL_OK, "copying from the GPU");
    for (size_t i = 0; i < count_; ++i)
        std::copy_n(staging_.data() + i * block_, block_, states[i].y[0].begin());
}

void Stepper::queue(uint8_t* memory, const std::vector<State>& states) const {
    const size_t all = count_ * block_, out = (2 * all + key_bytes_.size() + 63) / 64 * 64;
    if (chain_.mode == WARPSEAL_ECB) {
        const auto call = chain_.encrypt ? warpseal_encrypt_device : warpseal_decrypt_device;
        for (size_t i = 0; i < states.size(); ++i)
            require_status(call(key(i), chain_.mode, nullptr, 0, memory + i * block_,
                                memory + out + i * block_, block_, nullptr),
                           WARPSEAL_OK, "a step");
        return;
    }
    warpseal_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.iv_bytes = static_cast<uint32_t>(block_);
    batch.message_count = count_;
    batch.message_bytes = block_;
    batch.in = memory;
    batch.ivs = memory + all;
    batch.keys = memory + 2 * all;
    batch.out = memory + out;
    batch.in_stride = batch.iv_stride = batch.out_stride = block_;
    batch.statuses = reinterpret_cast<int32_t*>(memory + (out + all + 63) / 64 * 64);
    const auto call =
        chain_.encrypt ? warpseal_encrypt_batch_device : warpseal_decrypt_batch_device;
    require_status(call(for_batch_, chain_.mode, &batch, nullptr), WARPSEAL_OK, "a step");
}

// ---- rules from one round to the next

Octets front(const Block& block, size_t bytes) {
    return {block.begin(), block.begin() + static_cast<ptrdiff_t>(bytes)};
}

// AESAVS 6.4.1: XORs the key with the last key_bytes bytes of the last two outputs.
Octets next_key_aesavs(const Octets& key, const State& s, size_t block_bytes) {
    Octets two = front(s.y[1], block_bytes), last = front(s.y[0], block_bytes), next = key;
    two.insert(two.end(), last.begin(), last.end());
    if (two.size() < key.size()) throw RowSkipped("malformed row: a key longer than two blocks");
    for (size_t i = 0; i < next.size(); ++i) next[i] ^= two[two.size() - next.size() + i];
    return next;
}

uint8_t odd_parity(uint8_t byte) {
    const bool even = __builtin_popcount(byte >> 1) % 2 == 0;
    return static_cast<uint8_t>((byte & 0xfe) | (even ? 1 : 0));
}

// TMOVS 5: XORs each key with its output, counted from the last. Equal keys stay equal.
Octets next_key_tmovs(const Octets& key, const State& s) {
    Octets next = key;
    for (size_t i = 0; i < next.size(); ++i)
        next[i] = odd_parity(next[i] ^ s.y[i / single_bytes][i % single_bytes]);
    const auto same = [&](size_t a, size_t b) {
        return std::equal(key.begin() + static_cast<ptrdiff_t>(a * single_bytes),
                          key.begin() + static_cast<ptrdiff_t>((a + 1) * single_bytes),
                          key.begin() + static_cast<ptrdiff_t>(b * single_bytes));
    };
    const auto repeat_first = [&](size_t to) {
        std::copy_n(next.begin(), single_bytes,
                    next.begin() + static_cast<ptrdiff_t>(to * single_bytes));
    };
    if (same(0, 1) && same(1, 2)) repeat_first(1);
    if (same(0, 2)) repeat_first(2);
    return next;
}

Round next_round(const Chain& chain, const Round& round, const State& s) {
    const size_t bytes = chain.cipher.block_bytes;
    Round next;
    const bool ecb = chain.mode == WARPSEAL_ECB;
    if (chain.tmovs) {
        next.key = next_key_tmovs(round.key, s);
        next.in = front(chain.mode == WARPSEAL_OFB ? xor_bytes(block_of(round.in), s.last_v) : s.x,
                        bytes);
        if (!ecb) next.iv = front(s.v, bytes);
        return next;
    }
    next.key = next_key_aesavs(round.key, s, bytes);
    const bool feeds = chain.feeds_output();
    next.in = front(feeds ? s.y[0] : s.y[1], bytes);
    if (!ecb) next.iv = front(feeds ? s.v : s.y[0], bytes);
    return next;
}

std::vector<State> run_rounds(Tested& tested, const Chain& chain, const Round* rounds,
                              size_t count) {
    Stepper stepper(tested, chain, rounds, count);
    std::vector<State> states(count);
    for (size_t i = 0; i < count; ++i)
        states[i] = {block_of(rounds[i].in), block_of(rounds[i].iv), {}, {}};
    for (uint64_t step = 0; step < chain.steps; ++step) {
        for (State& s : states) s.y[2] = s.y[1], s.y[1] = s.y[0];
        stepper.step(states);
        for (size_t i = 0; i < count; ++i)
            advance(chain, block_of(rounds[i].iv), states[i], step == 0);
        if (interrupted_by() != 0) throw RowFailed("interrupted");
    }
    return states;
}

// On the host, threads share the rounds, because a line may need millions of calls.
std::vector<State> run_all(Tested& tested, const Chain& chain, const std::vector<Round>& rounds) {
    if (tested.has_device_memory()) return run_rounds(tested, chain, rounds.data(), rounds.size());
    const size_t slices =
        std::min<size_t>(rounds.size(), std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::vector<State>> results(slices);
    std::vector<std::exception_ptr> failures(slices);
    std::vector<std::thread> threads;
    for (size_t slice = 0; slice < slices; ++slice)
        threads.emplace_back([&, slice] {
            const size_t begin = rounds.size() * slice / slices,
                         end = rounds.size() * (slice + 1) / slices;
            try {
                results[slice] = run_rounds(tested, chain, rounds.data() + begin, end - begin);
            } catch (...) {
                failures[slice] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    std::vector<State> states;
    for (size_t slice = 0; slice < slices; ++slice) {
        if (failures[slice]) std::rethrow_exception(failures[slice]);
        states.insert(states.end(), results[slice].begin(), results[slice].end());
    }
    return states;
}

Chain read_chain(const Tested& tested, const nlohmann::json& row) {
    Chain chain;
    chain.cipher = tested.cipher(text_field(row, "cipher"));
    chain.mode = tested.mode(chain.cipher, text_field(row, "mode"));
    const std::string rule = text_field(row, "rule"), op = text_field(row, "op");
    chain.tmovs = rule == "tmovs";
    chain.encrypt = op == "encrypt";
    chain.steps = number_field(row, "inner");
    const bool tripled =
        chain.cipher.block_bytes == single_bytes && chain.cipher.key_bytes == 3 * single_bytes;
    constexpr unsigned modes = 1u << WARPSEAL_ECB | 1u << WARPSEAL_CBC | 1u << WARPSEAL_CFB |
                               1u << WARPSEAL_OFB | 1u << WARPSEAL_CTR;
    const bool has_rule = chain.tmovs
                              ? tripled && chain.mode != WARPSEAL_CTR
                              : rule == "aesavs" && chain.cipher.block_bytes == largest_block;
    if (!has_rule || (modes >> chain.mode & 1) == 0)
        throw RowSkipped("Monte Carlo rule " + rule + " of this mode is not in this program");
    if (op != "encrypt" && op != "decrypt")
        throw RowSkipped("malformed row: op is neither encrypt nor decrypt");
    if (chain.steps < 3 || !row.at("rounds").is_array() || row["rounds"].empty())
        throw RowSkipped("malformed row: no chain to run");
    return chain;
}

std::vector<Round> read_rounds(const Chain& chain, const nlohmann::json& row) {
    std::vector<Round> rounds;
    for (const nlohmann::json& item : row["rounds"]) {
        Round round{"round " + std::to_string(number_field(item, "count")), hex_field(item, "key"),
                    hex_field_or_empty(item, "iv"), hex_field(item, "in"), hex_field(item, "out")};
        if (round.in.size() != chain.cipher.block_bytes ||
            round.out.size() != chain.cipher.block_bytes || round.iv.size() != chain.iv_bytes())
            throw RowSkipped("malformed row: in, out or iv is not one block");
        rounds.push_back(std::move(round));
    }
    return rounds;
}

}  // namespace

void check_chain(Tested& tested, const nlohmann::json& row) {
    const Chain chain = read_chain(tested, row);
    const std::vector<Round> rounds = read_rounds(chain, row);
    const std::vector<State> states = run_all(tested, chain, rounds);
    for (size_t i = 0; i < rounds.size(); ++i) {
        const Round& round = rounds[i];
        require_equal(states[i].y[0].data(), round.out, round.name);
        if (i + 1 == rounds.size()) return;
        const Round next = next_round(chain, round, states[i]);
        require(next.key == rounds[i + 1].key && next.in == rounds[i + 1].in &&
                    next.iv == rounds[i + 1].iv,
                round.name + ": the next round does not follow from it");
    }
}

}  // namespace warpseal::cli
