// A published figure with its digits as printed in the paper.
#pragma once

#include <string>
#include <type_traits>

namespace warpseal::papers {

class Printed {
public:
    // The printed digits are those of the number, e.g. 604.48.
    template <class Number>
    requires std::is_arithmetic_v<Number>
    constexpr Printed(Number value) : value_(static_cast<double>(value)) {}
    // For figures that end in zeros: "7.0". Decimal digits with at most one point.
    constexpr Printed(const char* digits) : value_(parsed(digits)), digits_(digits) {}
    // Computed from printed figures; shown with four digits.
    static constexpr Printed computed(double value) {
        Printed figure(value);
        figure.computed_ = true;
        return figure;
    }

    constexpr operator double() const { return value_; }
    std::string text() const;

private:
    // Exact but for one rounding, as long as the digits without the point are below 2^53.
    static constexpr double parsed(const char* digits) {
        double whole = 0, scale = 1;
        bool after_point = false;
        for (; *digits != 0; ++digits) {
            if (*digits == '.') {
                after_point = true;
                continue;
            }
            whole = 10 * whole + (*digits - '0');
            if (after_point) scale *= 10;
        }
        return whole / scale;
    }

    double value_;
    const char* digits_ = nullptr;
    bool computed_ = false;
};

}  // namespace warpseal::papers
