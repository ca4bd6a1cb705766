// Reads settings: `device` in openssl.cnf corresponds to WARPSEAL_DEVICE in the environment, and so
// on.
#include "provider/settings.h"

#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "c_api/internal.h"
#include "provider/context.h"

namespace warpseal::provider {
namespace {

class Source {
public:
    Source(const OSSL_CORE_HANDLE* core, const CoreCalls& calls) : core_(core), calls_(calls) {}

    // Setuid and setgid programs ignore the environment.
    std::optional<std::string> text(const char* name) const {
        if (const char* value = secure_getenv(variable(name).c_str())) return value;
        char* value = nullptr;
        OSSL_PARAM wanted[] = {OSSL_PARAM_construct_utf8_ptr(name, &value, 0),
                               OSSL_PARAM_construct_end()};
        if (calls_.get_params == nullptr || calls_.get_params(core_, wanted) == 0 ||
            value == nullptr)
            return std::nullopt;
        return value;
    }

    // Reads a decimal number, or a hexadecimal one after 0x.
    bool number(const char* name, uint32_t least, uint32_t most, uint32_t& value) const {
        const std::optional<std::string> given = text(name);
        if (!given) return true;
        const bool hexadecimal = given->starts_with("0x") || given->starts_with("0X");
        const char* const begin = given->data() + (hexadecimal ? 2 : 0);
        const char* const end = given->data() + given->size();
        uint32_t read = 0;
        const auto [stop, error] = std::from_chars(begin, end, read, hexadecimal ? 16 : 10);
        if (error == std::errc() && stop == end && read >= least && read <= most) {
            value = read;
            return true;
        }
        return refuse(name, *given,
                      "a number from " + std::to_string(least) + " to " + std::to_string(most) +
                          " is wanted");
    }

    static bool refuse(const char* name, const std::string& value, const std::string& why) {
        // Uses libcrypto's reason, because the core has not registered our reason texts yet.
        ERR_raise_data(ERR_LIB_PROV, PROV_R_INVALID_CONFIG_DATA, "warpseal: %s (%s) = '%s': %s",
                       name, variable(name).c_str(), value.c_str(), why.c_str());
        return false;
    }

private:
    static std::string variable(std::string_view name) {
        std::string made = "WARPSEAL_";
        for (const char letter : name)
            made += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        return made;
    }

    const OSSL_CORE_HANDLE* core_;
    const CoreCalls& calls_;
};

// A known device that is absent is not an error here: the machine may have it at the next start.
bool read_device(const Source& source, Settings& settings) {
    const std::optional<std::string> given = source.text("device");
    if (!given) return true;
    settings.device = *given;
    return warpseal_internal_device_known(given->c_str()) != 0 ||
           Source::refuse("device", *given,
                          "auto, cpu, cuda, cuda:N, cuda:N,M or a target of `warpseal list` is "
                          "wanted");
}

bool read_mlkem(const Source& source, Settings& settings) {
    const std::optional<std::string> given = source.text("mlkem");
    if (!given || *given == "auto") return true;
    settings.mlkem = *given == "always" ? MlKemSetting::always : MlKemSetting::never;
    return *given == "always" || *given == "never" ||
           Source::refuse("mlkem", *given, "auto, always or never is wanted");
}

bool read_x25519(const Source& source, Settings& settings) {
    const std::optional<std::string> given = source.text("x25519");
    if (!given) return true;
    settings.x25519 = *given == "auto";
    return settings.x25519 || *given == "never" ||
           Source::refuse("x25519", *given, "auto or never is wanted");
}

// `groups`: names of the offered groups, separated by commas, colons or blanks; all if unset.
bool read_offered(const Source& source, Settings& settings) {
    const std::optional<std::string> given = source.text("groups");
    if (!given) return true;
    for (GroupSetting& setting : settings.by_group) setting.offered = false;
    constexpr const char* between = ",: \t";
    for (size_t begin = given->find_first_not_of(between); begin != std::string::npos;) {
        const size_t end = std::min(given->find_first_of(between, begin), given->size());
        const std::string name = given->substr(begin, end - begin);
        const auto found = std::ranges::find(
            groups, name, [](const Group& group) { return std::string_view(group.name); });
        if (found == groups.end())
            return Source::refuse("groups", *given, "no group is called " + name);
        settings.by_group[static_cast<size_t>(found - groups.begin())].offered = true;
        begin = given->find_first_not_of(between, end);
    }
    return true;
}

// Smallest number for a group. Smaller numbers are taken (RFC 8446 4.2.7 and ML-KEM). is_taken
// covers ML-KEM's hybrids and the reserved values 0x?A?A (RFC 8701).
constexpr uint16_t least_number = 0x0203;
bool is_taken(uint32_t number) {
    return (number >= 0x11EB && number <= 0x11EE) ||
           ((number & 0x0F0F) == 0x0A0A && number >> 8 == (number & 0xFF));
}

// `number_GROUP`: TLS number of a group of NTRU.
bool read_numbers(const Source& source, Settings& settings) {
    for (size_t i = ntru_group_count; i < groups.size(); ++i)
        settings.by_group[i].number = groups[i].number;
    for (size_t i = 0; i < ntru_group_count; ++i) {
        const std::string name = std::string("number_") + groups[i].name;
        uint32_t number = groups[i].number;
        if (!source.number(name.c_str(), least_number, 0xFFFF, number)) return false;
        if (is_taken(number))
            return Source::refuse(name.c_str(), std::to_string(number),
                                  "that is the number of something else");
        for (size_t other = 0; other < i; ++other)
            if (settings.by_group[other].number == number)
                return Source::refuse(name.c_str(), std::to_string(number),
                                      std::string("that is the number of ") + groups[other].name);
        settings.by_group[i].number = static_cast<uint16_t>(number);
    }
    return true;
}

}  // namespace

bool read_settings(const OSSL_CORE_HANDLE* core, const CoreCalls& calls, Settings& settings) {
    const Source source(core, calls);
    if (!source.number("threads", 0, 4096, settings.threads) ||
        !source.number("max_batch", 0, 1 << 20, settings.max_batch) ||
        !source.number("max_delay_us", 0, 1'000'000, settings.max_delay_us) ||
        !source.number("max_waiting", 0, 1 << 30, settings.max_waiting))
        return false;
    settings.metrics_directory = source.text("metrics_directory").value_or("");
    return read_device(source, settings) && read_mlkem(source, settings) &&
           read_x25519(source, settings) && read_offered(source, settings) &&
           read_numbers(source, settings);
}

}  // namespace warpseal::provider
