// The tower of fields, its products, and the sums between them.
#include "tower.h"

#include <algorithm>
#include <array>

namespace circuits {

namespace {

using warpseal::field::multiply;

uint8_t power(uint8_t x, unsigned n) { return warpseal::field::power_modulo(0x11b, x, n); }

// Random bases: elements of GF(2^2), GF(2^4) and GF(2^8), each independent over the field below.
struct Bases {
    uint8_t w[2], z[2], y[2];

    explicit Bases(Random& random) {
        choose(w, 4, 2, random);
        choose(z, 16, 4, random);
        choose(y, 256, 16, random);
    }
    // The field of n elements is where x^n = x. Half of the bases are normal: x and its conjugate.
    static void choose(uint8_t (&basis)[2], unsigned n, unsigned below, Random& random) {
        const auto element = [&] {
            for (;;) {
                const auto x = static_cast<uint8_t>(1 + random.below(255));
                if (power(x, n) == x) return x;
            }
        };
        const bool normal = random.below(2) == 0;
        do {
            basis[0] = element();
            basis[1] = normal ? power(basis[0], below) : element();
        } while (power(quotient(basis[0], basis[1]), below) == quotient(basis[0], basis[1]));
    }
    static uint8_t quotient(uint8_t a, uint8_t b) { return multiply(a, power(b, 254)); }

    // Element number i of the basis over GF(2): four of GF(2^4), eight of GF(2^8).
    uint8_t small(int i) const { return multiply(z[i >> 1 & 1], w[i & 1]); }
    uint8_t element(int i) const { return multiply(y[i >> 2 & 1], small(i)); }
};

// Coordinates over a basis of n elements, as bits.
std::array<uint8_t, 256> coordinates(const uint8_t* basis, int n) {
    std::array<uint8_t, 256> result{};
    for (int x = 0; x < 1 << n; ++x) {
        uint8_t sum = 0;
        for (int i = 0; i < n; ++i)
            if (x >> i & 1) sum = static_cast<uint8_t>(sum ^ basis[i]);
        result[sum] = static_cast<uint8_t>(x);
    }
    return result;
}

// The nine products of sums of bits that a product in GF(2^4) takes by Karatsuba's method: which
// bits each sums, and what it adds to the result.
struct Product {
    int bits;
    uint8_t adds;
};
std::array<Product, 9> karatsuba(const Bases& b) {
    // (p0 + p1 v)(q0 + q1 v) by three products: those of p0, p1 and p0 + p1.
    const auto three = [](const uint8_t(&basis)[2], uint8_t(&adds)[3]) {
        const uint8_t mixed = multiply(basis[0], basis[1]);
        adds[0] = static_cast<uint8_t>(multiply(basis[0], basis[0]) ^ mixed);
        adds[1] = static_cast<uint8_t>(multiply(basis[1], basis[1]) ^ mixed);
        adds[2] = mixed;
    };
    uint8_t outer[3], inner[3];
    three(b.z, outer);
    three(b.w, inner);
    std::array<Product, 9> result{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            int bits = 0;
            for (int k = 0; k < 4; ++k)
                if ((i == 2 || i == k >> 1) && (j == 2 || j == (k & 1))) bits |= 1 << k;
            result[3 * i + j] = {bits, multiply(outer[i], inner[j])};
        }
    return result;
}

struct Builder {
    Network network;
    Random& random;

    int append(int table, int a, int b, int c) {
        network.gates.push_back({table, {a, b, c}});
        return network.signals() - 1;
    }

    // Sums of signals, each given as a set. The pair that most sums share becomes a signal (C.
    // Paar, 1997), ties at random. A sum of three is one gate.
    std::vector<int> sums(std::vector<std::vector<int>> sets) {
        for (;;) {
            int best = 0, first = 0, second = 0, ties = 0;
            for (const auto& set : sets)
                for (size_t i = 0; set.size() > 3 && i < set.size(); ++i)
                    for (size_t j = 0; j < i; ++j) {
                        const int n = shared(sets, set[i], set[j]);
                        if (n > best) best = n, ties = 0;
                        if (n == best && random.below(++ties) == 0) first = set[i], second = set[j];
                    }
            if (best == 0) break;
            const int sum = append(0x3c, first, second, second);
            for (auto& set : sets)
                if (has(set, first) && has(set, second)) {
                    std::erase(set, first), std::erase(set, second);
                    set.push_back(sum);
                }
        }
        std::vector<int> result;
        for (const auto& set : sets) {
            if (set.size() == 1)
                result.push_back(set[0]);
            else
                result.push_back(append(set.size() == 3 ? 0x96 : 0x3c, set[0], set[1], set.back()));
        }
        return result;
    }
    static bool has(const std::vector<int>& set, int s) {
        return std::find(set.begin(), set.end(), s) != set.end();
    }
    static int shared(const std::vector<std::vector<int>>& sets, int a, int b) {
        return static_cast<int>(std::count_if(
            sets.begin(), sets.end(), [&](const auto& set) { return has(set, a) && has(set, b); }));
    }

    // Any function of four signals, as a selection by the first.
    int function_of_four(const std::vector<int>& in, unsigned truth) {
        const int first = random.below(4);
        int other[3], n = 0;
        for (int i = 0; i < 4; ++i)
            if (i != first) other[n++] = i;
        int table[2] = {};
        for (int half = 0; half < 2; ++half)
            for (int k = 0; k < 8; ++k) {
                int x = half << first;
                for (int i = 0; i < 3; ++i) x |= (k >> (2 - i) & 1) << other[i];
                table[half] |= (truth >> x & 1) << k;
            }
        const int zero = append(table[0], in[other[0]], in[other[1]], in[other[2]]);
        const int one = append(table[1], in[other[0]], in[other[1]], in[other[2]]);
        return append(0xca, in[first], one, zero);
    }
};

// Sets of input bits that sum to the coordinates of a linear map of x, with the affine constant
// left out: those of `count` bits from `shift` on.
std::vector<std::vector<int>> rows_of(const uint8_t (&column)[8], int count, int shift) {
    std::vector<std::vector<int>> rows(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < 8; ++j)
            if (column[j] >> (i + shift) & 1) rows[i].push_back(j);
    return rows;
}

std::vector<int> united(const std::vector<std::vector<int>>& rows, int bits) {
    std::vector<int> count(8, 0), result;
    for (size_t i = 0; i < rows.size(); ++i)
        if (bits >> i & 1)
            for (const int s : rows[i]) ++count[s];
    for (int s = 0; s < 8; ++s)
        if (count[s] & 1) result.push_back(s);
    return result;
}

}  // namespace

Network tower_circuit(const warpseal::Affine& in, const warpseal::Affine& out, Random& random) {
    const Bases bases(random);
    uint8_t small_basis[4], basis[8];
    for (int i = 0; i < 4; ++i) small_basis[i] = bases.small(i);
    for (int i = 0; i < 8; ++i) basis[i] = bases.element(i);
    const auto small_of = coordinates(small_basis, 4), of = coordinates(basis, 8);
    const std::array<Product, 9> products = karatsuba(bases);
    Builder builder{{}, random};
    builder.network.inputs = 8;

    // x = a y0 + b y1, as sums of input bits; the constant is in the gates that use the sums.
    uint8_t column[8], conjugate[8];
    for (int j = 0; j < 8; ++j) {
        const auto image =
            static_cast<uint8_t>(apply(in, static_cast<uint8_t>(1 << j)) ^ in.constant);
        column[j] = of[image];
        conjugate[j] = of[power(image, 16)];
    }
    const uint8_t constant = of[in.constant], conjugate_constant = of[power(in.constant, 16)];
    const auto a = rows_of(column, 4, 0), b = rows_of(column, 4, 4);
    const auto c = rows_of(conjugate, 4, 0), d = rows_of(conjugate, 4, 4);

    // Sums for all products, and the linear part of the norm: n0 a^2 + n1 b^2.
    std::vector<std::vector<int>> sets;
    for (const auto* half : {&a, &b, &c, &d})
        for (const Product& p : products) sets.push_back(united(*half, p.bits));
    const uint8_t n0 = power(bases.y[0], 17), n1 = power(bases.y[1], 17);
    const uint8_t mixed = static_cast<uint8_t>(multiply(bases.y[0], power(bases.y[1], 16)) ^
                                               multiply(bases.y[1], power(bases.y[0], 16)));
    uint8_t squares[8];
    const auto square_part = [&](uint8_t x) {
        uint8_t p = 0, q = 0;
        for (int i = 0; i < 4; ++i) {
            if (of[x] >> i & 1) p = static_cast<uint8_t>(p ^ small_basis[i]);
            if (of[x] >> (i + 4) & 1) q = static_cast<uint8_t>(q ^ small_basis[i]);
        }
        return small_of[multiply(n0, multiply(p, p)) ^ multiply(n1, multiply(q, q))];
    };
    for (int j = 0; j < 8; ++j)
        squares[j] = square_part(
            static_cast<uint8_t>(apply(in, static_cast<uint8_t>(1 << j)) ^ in.constant));
    for (const auto& row : rows_of(squares, 4, 0)) sets.push_back(row);
    // An empty sum is the constant 0, which no gate needs as an operand: it takes any signal twice.
    const std::vector<int> sum = builder.sums([&] {
        auto filled = sets;
        for (auto& set : filled)
            if (set.empty()) set.push_back(0);
        return filled;
    }());
    const auto odd = [](int bits, int value) { return __builtin_popcount(bits & value) & 1; };

    // The norm's bits: nine products and the linear part.
    std::vector<int> product;
    for (int i = 0; i < 9; ++i) {
        const int p = odd(products[i].bits, constant & 15),
                  q = odd(products[i].bits, constant >> 4);
        int table = 0;
        for (int k = 0; k < 8; ++k) table |= (((k >> 2 ^ p) & (k >> 1 ^ q)) & 1) << k;
        product.push_back(builder.append(table, sum[i], sum[9 + i], sum[9 + i]));
    }
    std::vector<std::vector<int>> norm_sets(4);
    for (int bit = 0; bit < 4; ++bit) {
        for (int i = 0; i < 9; ++i)
            if (small_of[multiply(mixed, products[i].adds)] >> bit & 1)
                norm_sets[bit].push_back(product[i]);
        if (!sets[36 + bit].empty()) norm_sets[bit].push_back(sum[36 + bit]);
    }
    const std::vector<int> norm = builder.sums(norm_sets);
    const uint8_t norm_constant = square_part(in.constant);

    // The inverse of the norm, and the sums of its bits.
    std::vector<int> inverse;
    for (int bit = 0; bit < 4; ++bit) {
        unsigned truth = 0;
        for (int x = 0; x < 16; ++x) {
            uint8_t element = 0;
            for (int i = 0; i < 4; ++i)
                if ((x ^ norm_constant) >> i & 1)
                    element = static_cast<uint8_t>(element ^ small_basis[i]);
            truth |= (small_of[power(element, 254)] >> bit & 1u) << x;
        }
        inverse.push_back(builder.function_of_four(norm, truth));
    }
    std::vector<std::vector<int>> inverse_sets;
    for (const Product& p : products) {
        inverse_sets.emplace_back();
        for (int i = 0; i < 4; ++i)
            if (p.bits >> i & 1) inverse_sets.back().push_back(inverse[i]);
    }
    const std::vector<int> inverse_sum = builder.sums(inverse_sets);

    // The 18 products of x^16 and the inverse of the norm, and the sums that are the output.
    std::vector<int> last;
    for (int i = 0; i < 18; ++i) {
        const int bits = products[i % 9].bits;
        const int p = odd(bits, i < 9 ? conjugate_constant & 15 : conjugate_constant >> 4);
        const int s = sum[18 + i], t = inverse_sum[i % 9];
        last.push_back(builder.append(p ? 0x0c : 0xc0, s, t, t));
    }
    std::vector<std::vector<int>> output_sets(8);
    for (int i = 0; i < 18; ++i) {
        const uint8_t adds = multiply(bases.y[i / 9], products[i % 9].adds);
        const auto image = static_cast<uint8_t>(apply(out, adds) ^ out.constant);
        for (int bit = 0; bit < 8; ++bit)
            if (image >> bit & 1) output_sets[bit].push_back(last[i]);
    }
    builder.network.outputs = builder.sums(output_sets);
    for (int bit = 0; bit < 8; ++bit)
        if (out.constant >> bit & 1) {
            int& s = builder.network.outputs[bit];
            s = builder.append(0x0f, s, s, s);
        }
    return builder.network;
}

}  // namespace circuits
