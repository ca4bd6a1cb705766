// Shares, estimates and sizes of P4. They need no GPU, but for the speed-ups of components.
#include "bench/papers/p4_estimates.h"

#include <stdexcept>
#include <string_view>

#include "bench/papers/p4_tables.h"
#include "cli/support/format.h"
#include "warpseal/kem.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p4;

const char* operation_name(bool encapsulates) {
    return encapsulates ? "encapsulation" : "decapsulation";
}

// Returns nothing if the product has no such set.
std::optional<warpseal_kem_info> find_set(std::string_view name) {
    warpseal_kem_info info{};
    for (size_t i = 0; warpseal_kem_at(i, &info) == WARPSEAL_OK; ++i)
        if (name == info.name) return info;
    return std::nullopt;
}

void take_size(Study& study, const paper::KemSizes& sizes, const char* what,
               const std::optional<int>& published, int by_source, std::optional<uint32_t> ours) {
    Row row{
        .table = &p4::sizes_table, .row = cli::format("{}: {}", sizes.name, what), .unit = "bytes"};
    if (published) row.published = *published;
    row.method = by_source;
    row.method_what = sizes.source;
    if (ours) row.ours = *ours;
    if (ours) row.ours_what = cli::format("warpseal_kem_at, {}", sizes.set);
    if (ours && static_cast<int>(*ours) != by_source)
        study.wrong(cli::format("P4: {} differs from its specification", row.row));
    study.take(row);
}

}  // namespace

double CoreProfile::rest() const {
    double rest = 100;
    for (const auto& [part, milliseconds] : parts) rest -= 100 * milliseconds / whole;
    return rest;
}

double estimate(const CoreProfile& profile, const std::map<size_t, double>& speed_up) {
    double percent = profile.rest();
    for (const auto& [part, milliseconds] : profile.parts) {
        const auto found = speed_up.find(part);
        percent += profile.share(part) / (found == speed_up.end() ? 1 : found->second);
    }
    return 100 / percent;
}

CoreProfile published_profile(bool encapsulates) {
    CoreProfile profile{encapsulates ? paper::on_cpu.encapsulate : paper::on_cpu.decapsulate};
    for (size_t i = 0; i < std::size(paper::parts); ++i)
        if (paper::parts[i].encapsulates == encapsulates)
            profile.parts[i] = paper::parts[i].milliseconds;
    return profile;
}

std::map<size_t, double> product_alone(bool encapsulates) {
    return by_components(encapsulates, {{"Rq-mul", paper::assumed_product_speed_up}});
}

std::map<size_t, double> by_components(bool encapsulates,
                                       const std::map<std::string, double>& speed_up) {
    std::map<size_t, double> by_part;
    for (size_t i = 0; i < std::size(paper::parts); ++i) {
        const auto found = speed_up.find(paper::parts[i].name);
        if (paper::parts[i].encapsulates == encapsulates && found != speed_up.end())
            by_part[i] = found->second;
    }
    return by_part;
}

void print_shares(Study& study, const std::array<CoreProfile, 2>& profiles) {
    for (const bool encapsulates : {true, false}) {
        const auto take = [&](const char* part, std::optional<Printed> published, double method) {
            Row row{.table = &p4::shares_table,
                    .row = cli::format("{}: {}", operation_name(encapsulates), part),
                    .unit = "% of the operation",
                    .published = published};
            row.method = method;
            row.method_what = "plain text, one core";
            study.take(row);
        };
        const CoreProfile& profile = profiles[encapsulates];
        for (const auto& [part, milliseconds] : profile.parts)
            take(paper::parts[part].name, paper::parts[part].percent, profile.share(part));
        take("the rest", {}, profile.rest());
    }
}

void print_estimates(Study& study, const std::array<CoreProfile, 2>& profiles,
                     const std::map<std::string, double>& speed_up) {
    std::map<std::string, double> published_speed_up;
    for (const paper::Component& component : paper::components)
        published_speed_up[component.name] = component.speed_up;
    const auto take = [&](bool encapsulates, const char* what, Printed published, double by_tables,
                          std::optional<double> here) {
        Row row{.table = &p4::estimates_table,
                .row = cli::format("{}, {}", operation_name(encapsulates), what),
                .unit = "times, estimated",
                .published = published,
                .published_bound = "about",
                .method = here};
        row.method_what = "the law with shares and speed-ups of this machine";
        if (!here) row.not_run = study.no_gpu();
        row.more.emplace_back("by_the_papers_tables", by_tables);
        study.take(row);
    };
    for (const bool encapsulates : {true, false})
        take(encapsulates, "a product 150 times as fast",
             encapsulates ? paper::encapsulate_by_product : paper::decapsulate_by_product,
             estimate(published_profile(encapsulates), product_alone(encapsulates)),
             estimate(profiles[encapsulates], product_alone(encapsulates)));
    for (const bool encapsulates : {true, false}) {
        std::optional<double> here;
        if (!speed_up.empty())
            here = estimate(profiles[encapsulates], by_components(encapsulates, speed_up));
        take(encapsulates, "all parts as fast as in table 6",
             encapsulates ? paper::encapsulate_by_parts : paper::decapsulate_by_parts,
             estimate(published_profile(encapsulates),
                      by_components(encapsulates, published_speed_up)),
             here);
    }
}

void print_sizes(Study& study) {
    for (const paper::KemSizes& sizes : paper::kem_sizes) {
        const auto info = find_set(sizes.set);
        if (!info && *sizes.set != '\0')
            throw std::logic_error(cli::format("there is no set {}", sizes.set));
        const auto published = [&](int bytes) {
            return sizes.in_table_2 ? std::optional<int>(bytes) : std::nullopt;
        };
        const auto ours = [&](auto member) {
            return info ? std::optional<uint32_t>((*info).*member) : std::nullopt;
        };
        take_size(study, sizes, "secret key", published(sizes.secret_key), sizes.secret_key,
                  ours(&warpseal_kem_info::secret_key_bytes));
        take_size(study, sizes, "public key", published(sizes.public_key), sizes.public_key,
                  ours(&warpseal_kem_info::public_key_bytes));
        take_size(study, sizes, "ciphertext", published(sizes.ciphertext), sizes.ciphertext,
                  ours(&warpseal_kem_info::ciphertext_bytes));
    }
}

}  // namespace warpseal::papers
