// `warpseal-bench papers`: prints each published table with this machine's measurements beside it.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

#include "bench/commands.h"
#include "bench/papers/files.h"
#include "bench/papers/formats.h"
#include "bench/papers/json.h"
#include "bench/papers/kinds.h"
#include "bench/papers/page.h"
#include "bench/papers/study.h"
#include "bench/papers/tally.h"
#include "bench/report/clocks.h"
#include "bench/report/file.h"
#include "bench/report/head.h"
#include "cli/support/format.h"

namespace warpseal::bench {
namespace {

struct PapersOptions : papers::Options {
    std::string format = "text", output, json;
    bool all = false;
    bool own_directory = false;  // --directory was given
};

[[noreturn]] void refuse(const std::string& why) {
    throw cli::Failure(cli::ExitCode::usage, why + " See `warpseal bench papers --help`.");
}

std::vector<const papers::Paper*> chosen_papers(const PapersOptions& options) {
    std::vector<const papers::Paper*> chosen;
    for (const papers::Paper* paper : papers::all_papers)
        if (options.papers.empty() || std::find(options.papers.begin(), options.papers.end(),
                                                paper->name) != options.papers.end())
            chosen.push_back(paper);
    return chosen;
}

// Removes papers without a table of the name in --table.
std::vector<const papers::Paper*> with_table(const std::vector<const papers::Paper*>& chosen,
                                             const std::string& table) {
    if (table.empty()) return chosen;
    std::vector<const papers::Paper*> having;
    for (const papers::Paper* paper : chosen)
        if (std::any_of(paper->tables.begin(), paper->tables.end(),
                        [&](const papers::Table* one) { return is_table(*one, table); }))
            having.push_back(paper);
    if (!having.empty()) return having;
    std::string tables;
    for (const papers::Paper* paper : chosen)
        for (const papers::Table* one : paper->tables)
            tables += cli::format("{}{} {}", tables.empty() ? "" : "; ", paper->name, one->name);
    refuse(
        cli::format("--table: there is no '{}'. Tables of the chosen papers: {}.", table, tables));
}

void check_text_files(const PapersOptions& options,
                      const std::vector<const papers::Paper*>& chosen) {
    const auto has = [&](const papers::Paper& paper) {
        return std::find(chosen.begin(), chosen.end(), &paper) != chosen.end();
    };
    const bool has_p5 = has(papers::paper_p5), writes_files = has_p5 || has(papers::paper_p3);
    if (!options.files.empty() && !has_p5)
        refuse("--files is for P5, which is not among the chosen papers and tables.");
    if (options.own_directory && !writes_files)
        refuse("--directory is for P3 and P5, which are not among the chosen papers and tables.");
    if (!options.files.empty()) papers::require_files_in(options.files);
    // P3 says of each file why it could not be written.
    if (has_p5 || options.own_directory) papers::require_file_directory(options.directory);
}

void check_outputs(const PapersOptions& options) {
    const bool prints = options.output.empty() || options.output == "-";
    if (options.json == "-" && prints && options.format != "text")
        refuse(cli::format("--json - and --format {} both write to stdout: give --output FILE.",
                           options.format));
    if (options.format == "html" && (prints || options.json.empty() || options.json == "-"))
        refuse(
            "--format html needs --output FILE for the page, and --json FILE for the figures "
            "that it is drawn from.");
    if (!options.output.empty() && options.output == options.json && !prints)
        refuse("--output and --json name the same file.");
}

nlohmann::ordered_json head_of(const std::vector<const papers::Paper*>& chosen,
                               const PapersOptions& options, const std::string& gpu) {
    auto head = json_head(gpu, options.seconds);
    for (const papers::Paper* paper : chosen) head["papers"].push_back(paper->name);
    if (!options.table.empty()) head["only_table"] = options.table;
    if (options.bytes != 0) head["most_bytes"] = options.bytes;
    if (const auto clock = core_gigahertz()) head["core_megahertz"] = rounded(1000 * *clock);
    return head;
}

// The rows of one paper.
struct PaperRows {
    const papers::Paper* paper;
    std::vector<papers::Row> rows;
};

// A run of the command: measures paper after paper and writes each format.
class Run {
public:
    Run(const PapersOptions& options, cli::Session& session)
        : options_(options),
          session_(session),
          chosen_(with_table(chosen_papers(options), options.table)) {
        check_text_files(options, chosen_);
        check_outputs(options);
        if (options.format == "html") page_ = papers::find_page();
        json_.emplace(options.json);
        if (options.format != "html")
            output_.emplace(options.output.empty() ? "-" : options.output);
    }

    cli::ExitCode run() {
        papers::Study study(options_, session_, [&](const papers::Row& row) {
            measured_.back().rows.push_back(row);
            tally_.take(row);
        });
        shown_ = {options_.all || !options_.table.empty(), study.no_gpu()};
        const auto head = head_of(chosen_, options_, study.gpu());
        begin_text(head);
        for (const papers::Paper* paper : chosen_) {
            if (options_.format != "text" || !options_.output.empty())
                cli::remark(session_, cli::format("{}: measuring", paper->name));
            measured_.push_back({paper, {}});
            paper->reproduce(study);
            say(paper_text(*paper, measured_.back().rows, shown_));
        }
        say(tally_.text());
        write(head);
        return study.went_wrong() ? cli::ExitCode::error : cli::ExitCode::ok;
    }

private:
    // Prints text as soon as it is known, unless it goes to a file.
    void say(const std::string& text) {
        if (options_.format != "text") return;
        if (options_.output.empty())
            json_->print(text);
        else
            text_ += text;
    }

    void begin_text(const nlohmann::ordered_json& head) {
        say(cli::format("warpseal {} (commit {}), {}\n", head["warpseal"].get<std::string>(),
                        head["commit"].get<std::string>(), head["machine"].get<std::string>()));
        say(papers::index_text(chosen_));
        say("\n/publ. and /method: ratios of speeds, 2x is twice as fast. per unit: default over "
            "published,\neach divided by its multiprocessors or cores and their clock. noisy: "
            "repetitions differ by over 10 %.\n");
    }

    std::string json_text(nlohmann::ordered_json head) const {
        head["figures_judged"] = tally_.judged();
        head["figures_beaten"] = tally_.beaten();
        head["not_beaten"] = tally_.not_beaten_texts();
        head["methods_judged"] = tally_.methods_judged();
        head["methods_below_published"] = tally_.methods_below();
        head["methods_below"] = tally_.methods_below_texts();
        nlohmann::ordered_json report{{"head", std::move(head)},
                                      {"rows", nlohmann::ordered_json::array()}};
        for (const PaperRows& paper : measured_)
            for (const papers::Row& row : paper.rows) report["rows"].push_back(json_row(row));
        return report.dump(1) + "\n";
    }

    std::string markdown(const nlohmann::ordered_json& head) const {
        std::string text =
            cli::format("# The papers' tables\n\nwarpseal {} (commit {}), {}\n",
                        head["warpseal"].get<std::string>(), head["commit"].get<std::string>(),
                        head["machine"].get<std::string>());
        for (const PaperRows& paper : measured_)
            text += markdown_text(*paper.paper, paper.rows, shown_);
        return text + tally_.text();
    }

    std::string csv() const {
        std::vector<papers::Row> rows;
        for (const PaperRows& paper : measured_)
            rows.insert(rows.end(), paper.rows.begin(), paper.rows.end());
        return csv_text(rows);
    }

    void write(const nlohmann::ordered_json& head) {
        json_->write(json_text(head));
        if (options_.format == "html")
            papers::draw_page(page_, options_.json, options_.output);
        else if (options_.format == "json")
            output_->write(json_text(head));
        else if (options_.format == "markdown")
            output_->write(markdown(head));
        else if (options_.format == "csv")
            output_->write(csv());
        else if (!options_.output.empty())
            output_->write(text_);
    }

    const PapersOptions& options_;
    cli::Session& session_;
    const std::vector<const papers::Paper*> chosen_;
    std::string page_;
    std::optional<ReportFile> json_, output_;
    std::vector<PaperRows> measured_;
    papers::Shown shown_;
    papers::Tally tally_;
    std::string text_;
};

void add_measurement_options(CLI::App& papers, PapersOptions& options) {
    papers
        .add_option("--files", options.files,
                    "P5: the files of this folder instead of ones made on the spot")
        ->type_name("DIR");
    papers.add_option("--directory", options.directory, "P3 and P5: where their files are written")
        ->type_name("DIR")
        ->capture_default_str();
    papers
        .add_option("--device", options.device,
                    "auto (a GPU if there is one), cpu (none), cuda or cuda:N")
        ->envname("WARPSEAL_DEVICE")
        ->transform(cli::any_case())
        ->type_name("DEVICE");
    papers
        .add_option("--bytes", options.bytes,
                    "of one measurement at most; times are scaled to the papers' sizes, and rows "
                    "and titles say so")
        ->transform(cli::size_value())
        ->type_name("SIZE");
    papers
        .add_option("--seconds", options.seconds,
                    "no repetition of a measurement is begun after so many")
        ->check(cli::check_seconds)
        ->type_name("S")
        ->capture_default_str();
}

void add_output_options(CLI::App& papers, PapersOptions& options) {
    papers
        .add_option("--format", options.format,
                    "text, markdown, csv, json or html (html: bench/page of the source tree)")
        ->transform(CLI::IsMember({"text", "markdown", "csv", "json", "html"}, CLI::ignore_case)
                        .description(""))
        ->type_name("FORMAT")
        ->capture_default_str();
    papers.add_option("--output", options.output, "default: stdout")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    papers
        .add_option("--json", options.json,
                    "write JSON there too; - is stdout, the text then goes to stderr")
        ->type_name("FILE")
        ->check(cli::Output::refused_path);
    papers.add_flag("--all", options.all,
                    "text and markdown: also rows that were not run, and those without a published "
                    "figure of a long paper");
}

}  // namespace

void add_papers(CLI::App& program, cli::Session& session) {
    auto options = std::make_shared<PapersOptions>();
    CLI::App* papers = program.add_subcommand(
        "papers",
        "The tables of five papers: as published, by their methods here, and by our default path");
    std::string footer;
    std::vector<std::string> names;
    for (const papers::Paper* paper : papers::all_papers) {
        names.emplace_back(paper->name);
        footer += cli::format("{}: {}\n", paper->name, paper->title);
    }
    papers->footer(footer +
                   "bench/README.md says what a row means. Exit code 1: an output was wrong.");
    papers->add_option("PAPER", options->papers, "P1 to P5 (default: all)")
        ->transform(CLI::IsMember(names, CLI::ignore_case).description(""));
    papers
        ->add_option("--table", options->table,
                     "only this table or figure, e.g. 3, 'figure 9' or 'section 4.2'")
        ->type_name("N");
    add_output_options(*papers, *options);
    add_measurement_options(*papers, *options);
    papers->callback([options, papers, &session] {
        options->own_directory = papers->count("--directory") > 0;
        session.command = [options, &session] { return Run(*options, session).run(); };
    });
}

}  // namespace warpseal::bench
