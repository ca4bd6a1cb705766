// AES steps (FIPS 197 5.1, 5.3) over a state of 4 by 4 cells, divided as in P5: threads share a
// step by rows and columns.
//
// P5's listings (tables 1 to 3) share temporaries between threads, which is a race; here each
// thread has its own. Table lookups depend on the data, so use these only with this study's keys,
// which are not secret.
#pragma once

#include "bench/papers/share.h"
#include "ciphers/aes.h"

namespace warpseal::papers {

// One byte of `count` states, side by side: a single state as in the paper, or many states for one
// fork and join.
template <int count>
struct Cell {
    static constexpr int states = count;
    uint8_t byte[count];

    friend Cell operator^(const Cell& a, const Cell& b) {
        Cell c;
        for (int i = 0; i < count; ++i) c.byte[i] = a.byte[i] ^ b.byte[i];
        return c;
    }
    Cell& operator^=(uint8_t x) {
        for (int i = 0; i < count; ++i) byte[i] ^= x;
        return *this;
    }
    Cell times_x() const {  // FIPS 197 4.2.1
        Cell c;
        for (int i = 0; i < count; ++i)
            c.byte[i] = static_cast<uint8_t>(byte[i] << 1 ^ (byte[i] >> 7) * 0x1b);
        return c;
    }
    void substitute(const uint8_t (&box)[256]) {
        for (int i = 0; i < count; ++i) byte[i] = box[byte[i]];
    }
};

template <int count>
struct State {
    Cell<count> cell[4][4];  // row, column
};

// Counts operations as the paper does; NoCounter runs the same code without counting.
struct Counter {
    uint64_t operations = 0;
    void add(int n) { operations += static_cast<uint64_t>(n); }
    bool header(bool goes_on) {
        ++operations;
        return goes_on;
    }
};
struct NoCounter {
    void add(int) {}
    bool header(bool goes_on) { return goes_on; }
};

// One thread's share of the encryption steps.
template <int count, class Counting = NoCounter>
class Steps {
public:
    using C = Cell<count>;
    Steps(State<count>& state, Share share, Counting& counting)
        : s_(state.cell), share_(share), counting_(counting) {}

    // Table 1: threads take rows. Reading, substituting and writing a byte are three operations.
    // Two directives.
    void sub_bytes() {
        if (share_.pays_for_fork()) counting_.add(2);
        for (int i = share_.begin(4); counting_.header(i < share_.end(4)); ++i)
            for (int j = 0; counting_.header(j < 4); ++j) {
                counting_.add(3);
                s_[i][j].substitute(boxes.forward);
            }
    }

    // Table 2: two sections, row 1 with half of row 2, and the other half with row 3. An assignment
    // is one operation. Three directives; the first creates `temp` twice.
    void shift_rows() {
        if (share_.pays_for_fork()) counting_.add(3 + 1 + 1);
        if (share_.takes_section(0)) {
            rotate_left(1);
            swap(2, 0, 2);
        }
        if (share_.takes_section(1)) {
            swap(2, 1, 3);
            rotate_right(3);
        }
    }

    // Table 3: threads take columns. An XOR, an xtime and a plain assignment are one operation
    // each. Two directives; the second creates i once and three temporaries twice.
    void mix_columns() {
        if (share_.pays_for_fork()) counting_.add(1 + 1 + 1 + 2 + 2 + 2);
        for (int i = share_.begin(4); counting_.header(i < share_.end(4)); ++i) {
            C t, all, two;
            set(t, s_[0][i]);
            all = add(add(s_[0][i], s_[1][i]), add(s_[2][i], s_[3][i]));
            for (int row = 0; row < 4; ++row) {
                two = add(s_[row][i], row == 3 ? t : s_[row + 1][i]);
                two = times_x(two);
                s_[row][i] = add(s_[row][i], add(two, all));
            }
        }
    }

    // Inverse steps (5.3), for which the paper has no listing.
    void inverse_shift_rows() {
        if (share_.takes_section(0)) {
            rotate_right(1);
            swap(2, 0, 2);
        }
        if (share_.takes_section(1)) {
            swap(2, 1, 3);
            rotate_left(3);
        }
    }
    void inverse_sub_bytes() {
        for (int i = share_.begin(4); i < share_.end(4); ++i)
            for (int j = 0; j < 4; ++j) s_[i][j].substitute(boxes.inverse);
    }
    // Equals MixColumns after adding 04 (a + c) to each byte: 0e, 0b, 0d, 09 = (02, 03, 01, 01) *
    // (05, 00, 04, 00).
    void inverse_mix_columns() {
        for (int i = share_.begin(4); i < share_.end(4); ++i)
            for (int row = 0; row < 2; ++row) {
                const C sum = (s_[row][i] ^ s_[row + 2][i]).times_x().times_x();
                s_[row][i] = s_[row][i] ^ sum;
                s_[row + 2][i] = s_[row + 2][i] ^ sum;
            }
        mix_columns();
    }

private:
    static constexpr ciphers::aes::SBoxes boxes{};

    void set(C& to, const C& from) {
        counting_.add(1);
        to = from;
    }
    C add(const C& a, const C& b) {
        counting_.add(1);
        return a ^ b;
    }
    C times_x(const C& a) {
        counting_.add(1);
        return a.times_x();
    }
    void swap(int row, int a, int b) {
        C temp;
        set(temp, s_[row][a]);
        set(s_[row][a], s_[row][b]);
        set(s_[row][b], temp);
    }
    void rotate_left(int row) {
        C temp;
        set(temp, s_[row][0]);
        for (int j = 0; j < 3; ++j) set(s_[row][j], s_[row][j + 1]);
        set(s_[row][3], temp);
    }
    void rotate_right(int row) {
        C temp;
        set(temp, s_[row][3]);
        for (int j = 3; j > 0; --j) set(s_[row][j], s_[row][j - 1]);
        set(s_[row][0], temp);
    }

    Cell<count> (&s_)[4][4];
    const Share share_;
    Counting& counting_;
};

}  // namespace warpseal::papers
