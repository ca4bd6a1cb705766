// A third-party C++20 program: seals, opens, and is refused after a change.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>
#include <warpseal/warpseal.hpp>

int main() {
    try {
        const warpseal::Engine engine("cpu", 1);
        std::array<std::uint8_t, 32> raw{};
        warpseal::check(warpseal_random(raw.data(), raw.size()));
        const warpseal::Key key(engine, "aes-256", raw);
        const std::vector<std::uint8_t> text(100000, 'x');
        std::vector<std::uint8_t> sealed(text.size()), opened(text.size());
        std::array<std::uint8_t, 12> iv{};
        std::array<std::uint8_t, 16> tag{};
        key.seal(iv, {}, text, sealed, tag);
        if (sealed == text || !key.open(iv, {}, sealed, opened, tag) || opened != text) return 1;
        sealed[5000] ^= 1;
        if (key.open(iv, {}, sealed, opened, tag)) return 2;
        if (std::any_of(opened.begin(), opened.end(), [](std::uint8_t byte) { return byte != 0; }))
            return 3;
        return 0;
    } catch (const warpseal::Error& error) {
        return 10 + error.status();
    }
}
