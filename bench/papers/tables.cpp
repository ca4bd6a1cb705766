// Reads names of tables such as "tables 5 to 9" and "section 4.2, occupancy".
#include "bench/papers/tables.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <vector>

namespace warpseal::papers {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

bool is_number(const std::string& word) {
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
}

int whole(const std::string& number) {
    int value = -1;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value;
}

struct Place {
    std::string kind;  // "table", "figure" or "section"
    std::vector<std::string> numbers;
};

// Reads the kind and the numbers in front of a comma.
Place place_of(const std::string& name) {
    std::istringstream words(name.substr(0, name.find(',')));
    Place place{.kind = "table", .numbers = {}};
    std::string word, before;
    for (bool first = true; words >> word; before = word, first = false) {
        if (first && !is_number(word)) {
            place.kind = word.back() == 's' ? word.substr(0, word.size() - 1) : word;
        } else if (is_number(word)) {
            if (before == "to" && !place.numbers.empty())
                for (int i = whole(place.numbers.back()) + 1; i < whole(word); ++i)
                    place.numbers.push_back(std::to_string(i));
            place.numbers.push_back(word);
        }
    }
    return place;
}

}  // namespace

bool is_table(const Table& table, const std::string& asked) {
    const std::string name = lower(table.name), wanted = lower(asked);
    if (wanted == name) return true;
    if (wanted.find(',') != std::string::npos) return false;
    if (std::count(wanted.begin(), wanted.end(), ' ') > 1) return false;
    const Place here = place_of(name), there = place_of(wanted);
    return here.kind == there.kind && there.numbers.size() == 1 &&
           std::find(here.numbers.begin(), here.numbers.end(), there.numbers.front()) !=
               here.numbers.end();
}

}  // namespace warpseal::papers
