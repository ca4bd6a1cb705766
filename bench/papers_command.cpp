// `warpseal-bench papers`: prints each published table with this machine's measurements beside it.
#include <CLI/CLI.hpp>

#include <algorithm>

#include "bench/commands.h"
#include "bench/papers/study.h"
#include "bench/report/figures.h"
#include "bench/report/report.h"
#include "cli/support/output.h"

namespace warpseal::bench {
namespace {

constexpr struct {
    const char* name;
    void (*reproduce)(papers::Study&);
} all_papers[] = {{"P1", papers::reproduce_p1},
                  {"P2", papers::reproduce_p2},
                  {"P3", papers::reproduce_p3},
                  {"P4", papers::reproduce_p4},
                  {"P5", papers::reproduce_p5}};

template <class Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json rounded_or_null(std::optional<double> value) {
    return value ? rounded(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json json_row(const papers::Row& row) {
    nlohmann::ordered_json json{{"paper", row.table->paper},
                                {"table", row.table->name},
                                {"title", row.table->title},
                                {"row", row.row},
                                {"unit", row.unit},
                                {"published", or_null(row.published)},
                                {"published_bound", text_or_null(row.published_bound)},
                                {"published_on", row.on()},
                                {"method", rounded_or_null(row.method)},
                                {"method_what", text_or_null(row.method_what)},
                                {"default", rounded_or_null(row.ours)},
                                {"default_what", text_or_null(row.ours_what)},
                                {"method_ratio", rounded_or_null(row.method_over_published())},
                                {"ratio", rounded_or_null(row.ours_over_method())},
                                {"beats", or_null(row.beats())},
                                {"not_run", text_or_null(row.not_run)},
                                {"differs", row.table->differs}};
    for (const auto& [name, value] : row.more) json[name] = rounded(value);
    return json;
}

cli::ExitCode run(const papers::Options& options, cli::Session& session) {
    const papers::Table* table = nullptr;
    Report* report = nullptr;
    papers::Tally tally;
    papers::Study study(options, session, [&](const papers::Row& row) {
        if (row.table != table) report->print(papers::title_text(*row.table));
        table = row.table;
        report->print(papers::row_text(row));
        report->add(json_row(row));
        tally.take(row);
    });
    Report own(options.json, study.gpu());
    report = &own;
    for (const auto& [name, reproduce] : all_papers)
        if (options.papers.empty() ||
            std::find(options.papers.begin(), options.papers.end(), name) != options.papers.end())
            reproduce(study);
    own.print(tally.text());
    own.say("rows_judged", tally.judged);
    own.say("rows_beaten", tally.beaten);
    own.say("methods_below_published", tally.methods_below);
    own.write();
    return study.went_wrong() ? cli::ExitCode::error : cli::ExitCode::ok;
}

}  // namespace

void add_papers(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<papers::Options>();
    CLI::App* papers = program.add_subcommand(
        "papers",
        "The tables of five papers: as published, by their methods here, and by our default path");
    papers->footer(
        "P1: AES, ARIA and DES on CUDA (Yeom and Cho, 2008). P2: Camellia-CTR (Eum and others, "
        "2025). P3: gKrypt (Masood, 2012).\n"
        "P4: NTRU for many clients (Seong and others, 2021). P5: AES on all cores (Park and Oh). "
        "Without a GPU the published figures stand "
        "beside `not run`.\n"
        "bench/README.md says what a row means. Exit code 1: an output was wrong.");
    std::vector<std::string> names;
    for (const auto& paper : all_papers) names.emplace_back(paper.name);
    papers->add_option("PAPER", options->papers, "P1 to P5 (default: all)")
        ->check(CLI::IsMember(names).description(""));
    papers
        ->add_option("--json", options->json,
                     "write head and rows there; - is stdout, the tables then go to stderr")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    papers
        ->add_option("--files", options->files,
                     "P5: the files of this folder instead of ones made on the spot")
        ->type_name("DIR");
    papers
        ->add_option("--directory", options->directory, "P3 and P5: where their files are written")
        ->type_name("DIR")
        ->capture_default_str();
    papers
        ->add_option("--device", options->device,
                     "auto (a GPU if there is one), cpu (none), cuda or cuda:N")
        ->type_name("DEVICE");
    papers
        ->add_option("--bytes", options->bytes,
                     "of one measurement at most; times are scaled to the papers' sizes")
        ->transform(CLI::AsSizeValue(true).description(""))
        ->type_name("SIZE");
    papers
        ->add_option("--seconds", options->seconds,
                     "no repetition of a measurement is begun after so many")
        ->check(cli::check_seconds)
        ->type_name("S")
        ->capture_default_str();
    papers->callback([options, &session] {
        session.command = [options, &session] { return run(*options, session); };
    });
}

}  // namespace warpseal::bench
