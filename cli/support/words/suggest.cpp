// Compares words by the optimal string alignment distance.
#include "cli/support/words/suggest.h"

#include <algorithm>

#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

// The distance takes time in the product of the lengths.
constexpr size_t longest_word = 64;

// Returns the number of characters to insert, remove, replace or swap with their neighbour.
size_t distance(const std::string& one, const std::string& other) {
    const size_t width = other.size() + 1;
    std::vector<size_t> before(width), last(width), row(width);
    for (size_t j = 0; j < width; ++j) last[j] = j;
    for (size_t i = 1; i <= one.size(); ++i) {
        row[0] = i;
        for (size_t j = 1; j < width; ++j) {
            const size_t differs = one[i - 1] == other[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[other.size()];
}

}  // namespace

std::string lower_case(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
    if (word.empty() || word.size() > longest_word) return "";
    const std::string wanted = lower_case(word);
    // A third of the letters may be wrong.
    size_t least = std::max<size_t>(wanted.size() / 3, 1) + 1;
    const std::string* best = nullptr;
    for (const std::string& candidate : known) {
        const size_t difference = distance(wanted, lower_case(candidate));
        // Two words of one letter have nothing in common.
        if (difference >= least || difference >= candidate.size()) continue;
        least = difference;
        best = &candidate;
    }
    return best == nullptr ? "" : cli::format(" Did you mean '{}'?", *best);
}

}  // namespace warpseal::cli
