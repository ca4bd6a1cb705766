// `warpseal doctor`, OpenSSL part: its version, the location of the module, the settings of
// openssl.cnf and OpenSSL's own answers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "cli/doctor/doctor.h"
#include "cli/doctor/openssl_config.h"
#include "cli/doctor/openssl_program.h"
#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* manual = "docs/provider.md has the whole of it.";

struct Openssl {
    std::string program, version, directory, modules, config;
    long major = 0, minor = 0;
};

// Effect of openssl.cnf on one provider.
struct Provider {
    std::string name;  // name that libcrypto searches for
    std::string section, module;
    bool found = false, activated = false;
    std::string activate;  // value in the file
};

bool is_one_of(std::string text, std::initializer_list<const char*> words) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return std::tolower(letter); });
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

class Examination {
public:
    Examination(const OpensslChoice& choice, Findings& findings)
        : choice_(choice), findings_(findings) {}

    void whole() {
        if (!know_openssl()) return;
        find_module();
        const OpensslConfig config = OpensslConfig::read(openssl_.config);
        const bool read_well = judge_reading(config);
        if (read_well) judge(config);
        if (mentioned_ || choice_.required)
            ask_providers();
        else
            add("module", CheckResult::note,
                installed_ ? "warpseal.so is installed, and no openssl.cnf has it loaded"
                           : "warpseal.so is not installed");
    }

private:
    void add(const char* subject, CheckResult result, const std::string& found,
             const std::string& advice = "") {
        findings_.push_back({subject, result, found, advice});
    }
    // Result for findings that do not matter to users without the provider.
    CheckResult wanted() const {
        return choice_.required || mentioned_ ? CheckResult::problem : CheckResult::note;
    }

    bool know_openssl() {
        openssl_.program = choice_.program.empty() ? "openssl" : choice_.program;
        const OpensslAnswer answer =
            ask_openssl(openssl_.program, {"version", "-v", "-d", "-m"}, "/dev/null");
        if (!answer.ran || !answer.well) {
            add("OpenSSL",
                choice_.required || !choice_.program.empty() ? CheckResult::problem
                                                             : CheckResult::note,
                cli::format("the program {} cannot be asked: {}", openssl_.program,
                            first_line(answer.err)),
                "Install OpenSSL 3 or name its program with --openssl: how it is set up was not "
                "looked at.");
            return false;
        }
        openssl_.version = first_line(answer.out);
        openssl_.directory = quoted_after(answer.out, "OPENSSLDIR");
        openssl_.modules = quoted_after(answer.out, "MODULESDIR");
        if (openssl_.version.starts_with("OpenSSL ")) read_version(openssl_.version.substr(8));
        if (openssl_.major < 3) {
            add("OpenSSL", choice_.required ? CheckResult::problem : CheckResult::note,
                openssl_.version + " has no providers", "OpenSSL 3.0 or later is needed.");
            return false;
        }
        const char* named = std::getenv("OPENSSL_CONF");
        openssl_.config = !choice_.config.empty() ? choice_.config
                          : named != nullptr      ? named
                                                  : openssl_.directory + "/openssl.cnf";
        if (const char* modules = std::getenv("OPENSSL_MODULES")) openssl_.modules = modules;
        add("OpenSSL", CheckResult::ok,
            cli::format("{}; {}; modules in {}", openssl_.version, openssl_.config,
                        openssl_.modules));
        return true;
    }

    void read_version(const std::string& text) {
        char* point = nullptr;
        openssl_.major = std::strtol(text.c_str(), &point, 10);
        if (*point == '.') openssl_.minor = std::strtol(point + 1, nullptr, 10);
    }

    void find_module() {
        std::error_code error;
        const fs::path beside =
            fs::read_symlink("/proc/self/exe", error).parent_path() / "warpseal.so";
        installed_ = fs::is_regular_file(fs::path(openssl_.modules) / "warpseal.so", error);
        if (!installed_ && fs::is_regular_file(beside, error)) beside_ = beside.string();
    }

    bool judge_reading(const OpensslConfig& config) {
        bool read_well = true;
        for (const OpensslConfig::Complaint& complaint : config.complaints()) {
            add("openssl.cnf", complaint.whole_file ? wanted_file() : CheckResult::warning,
                complaint.text,
                complaint.whole_file ? "As it is, programs take nothing of this file." : "");
            read_well = read_well && !complaint.whole_file;
        }
        return read_well;
    }
    // A file that was named explicitly must exist.
    CheckResult wanted_file() const {
        return choice_.required || !choice_.config.empty() || std::getenv("OPENSSL_CONF") != nullptr
                   ? CheckResult::problem
                   : CheckResult::warning;
    }

    static bool mentions_us(const OpensslConfig& config) {
        for (const auto& [name, settings] : config.sections())
            for (const OpensslConfig::Setting& setting : settings)
                if (setting.name == "warpseal" ||
                    (setting.name == "identity" && setting.value == "warpseal") ||
                    (setting.name == "module" && fs::path(setting.value).stem() == "warpseal"))
                    return true;
        return false;
    }

    // Returns the section that `name` in `section` refers to. Returns "" and adds a finding if
    // there is none.
    std::string follow(const OpensslConfig& config, const std::string& section, const char* name) {
        const std::string where =
            section == "default" ? "the part before the first section" : "[" + section + "]";
        const std::optional<std::string> next = config.value(section, name);
        if (!next) {
            add("openssl.cnf", wanted(),
                cli::format("{} has no `{}`: no provider is loaded by this file", where, name),
                cli::format("Take over our fragment warpseal.cnf, or write `{} = SECTION`. {}",
                            name, manual));
            return "";
        }
        if (config.section(*next) == nullptr) {
            add("openssl.cnf", CheckResult::problem,
                cli::format("`{} = {}` of {} names a section that does not exist", name, *next,
                            where),
                cli::format("Write a section [{}], or its right name.", *next));
            return "";
        }
        return *next;
    }

    Provider provider(const OpensslConfig& config, const OpensslConfig::Setting& listed) const {
        Provider one;
        one.section = listed.value;
        // In "mine.warpseal = …", the part before the dot only makes names distinct.
        one.name = config.value(one.section, "identity")
                       .value_or(listed.name.substr(listed.name.rfind('.') + 1));
        one.module = config.value(one.section, "module").value_or("");
        one.found = config.section(one.section) != nullptr;
        const std::optional<std::string> activate = config.value(one.section, "activate");
        one.activate = activate.value_or("");
        const bool off = is_one_of(one.activate, {"0", "no", "false", "off"});
        // Before version 3.2, the presence of the setting is enough, whatever its value.
        one.activated = activate && (before_3_2() || !off);
        return one;
    }
    bool before_3_2() const { return openssl_.major == 3 && openssl_.minor < 2; }

    void judge(const OpensslConfig& config) {
        mentioned_ = mentions_us(config);
        const std::string start = follow(config, "default", "openssl_conf");
        const std::string list = start.empty() ? "" : follow(config, start, "providers");
        if (list.empty()) return;
        std::vector<Provider> providers;
        for (const OpensslConfig::Setting& listed : *config.section(list))
            providers.push_back(provider(config, listed));
        judge_activation(providers, list);
        const auto ours = std::find_if(providers.begin(), providers.end(),
                                       [](const Provider& one) { return one.name == "warpseal"; });
        if (ours == providers.end())
            add("openssl.cnf", wanted(),
                cli::format("[{}], the list of providers that counts, has not `warpseal`", list),
                cli::format("Add `warpseal = warpseal_provider` there, and that section. {}",
                            manual));
        else
            judge_ours(*ours, list);
        if (ours != providers.end()) take_settings(config, ours->section);
        if (config.value("default", "config_diagnostics").value_or("") != "1" && mentioned_)
            add("openssl.cnf", CheckResult::note,
                "without `config_diagnostics = 1` programs start whatever is wrong in this file, "
                "and do not say so",
                "Write it before the first section.");
    }

    // OpenSSL issue 16249: the default provider is loaded implicitly only if no other provider is.
    void judge_activation(const std::vector<Provider>& providers, const std::string& list) {
        std::string others;
        bool has_default = false;
        for (const Provider& one : providers) {
            if (one.activated && one.name == "default")
                has_default = true;
            else if (one.activated)
                others += (others.empty() ? "" : ", ") + one.name;
            if (one.activated && is_one_of(one.activate, {"0", "no", "false", "off"}))
                add("openssl.cnf", CheckResult::warning,
                    cli::format("[{}]: `activate = {}` activates all the same: before OpenSSL 3.2 "
                                "its presence is what counts",
                                one.section, one.activate),
                    "Take the line out.");
        }
        if (!has_default && !others.empty())
            add("openssl.cnf", CheckResult::problem,
                cli::format("[{}] activates {} but not `default`: the default provider, which is "
                            "there by itself only while no other is "
                            "activated, is off, and with it nearly every algorithm",
                            list, others),
                cli::format("Write `default = default_sect` into [{}], and `activate = 1` into "
                            "[default_sect].",
                            list));
    }

    void take_settings(const OpensslConfig& config, const std::string& section) {
        if (config.section(section) == nullptr) return;
        for (const OpensslConfig::Setting& setting : *config.section(section)) {
            if (is_one_of(setting.name, {"activate", "identity", "module", "soft_load"})) continue;
            std::string variable = "WARPSEAL_" + setting.name;
            std::transform(variable.begin(), variable.end(), variable.begin(),
                           [](unsigned char letter) { return std::toupper(letter); });
            if (std::getenv(variable.c_str()) == nullptr)
                settings_.push_back(variable + "=" + setting.value);
        }
    }

    void judge_ours(const Provider& ours, const std::string& list) {
        if (!ours.found) {
            add("openssl.cnf", CheckResult::problem,
                cli::format("`warpseal = {}` of [{}] names a section that does not exist",
                            ours.section, list),
                cli::format("Write a section [{}] with `activate = 1`.", ours.section));
            return;
        }
        if (!ours.activated)
            add("openssl.cnf", wanted(),
                cli::format("[{}] does not activate the provider", ours.section),
                "Write `activate = 1` there: else only programs that ask for it by name have it.");
        fs::path module = ours.module.empty() ? "warpseal.so" : ours.module;
        if (module.is_relative()) module = fs::path(openssl_.modules) / module;
        std::error_code error;
        const bool there = fs::is_regular_file(module, error);
        if (!there)
            add("module", CheckResult::problem, cli::format("{} is not there", module.string()),
                beside_.empty() ? cli::format("Install it. {}", manual)
                                : cli::format("Copy {} there, or write `module = {}` into [{}].",
                                              beside_, beside_, ours.section));
        else
            add("module", CheckResult::ok, (module_ = module).string());
        if (there && ours.activated)
            add("openssl.cnf", CheckResult::ok,
                cli::format("{} activates warpseal", openssl_.config));
    }

    // Checks the providers that OpenSSL loads, independent of the file.
    void ask_providers() {
        const OpensslAnswer answer =
            ask_openssl(openssl_.program, {"list", "-providers"}, openssl_.config);
        if (!answer.well || !answer.out.starts_with("Providers:")) {
            add("providers", CheckResult::problem,
                cli::format("`openssl list -providers` fails: {}", reason_in(answer.err)), manual);
            return;
        }
        std::vector<std::string> active;
        std::istringstream lines(answer.out);
        std::string line, name;
        while (std::getline(lines, line)) {
            if (line.size() > 2 && line.starts_with("  ") && line[2] != ' ') name = line.substr(2);
            if (line.find("status: active") != std::string::npos) active.push_back(name);
        }
        const auto has = [&](const char* wanted_name) {
            return std::find(active.begin(), active.end(), wanted_name) != active.end();
        };
        const std::string found =
            cli::format("OpenSSL has active: {}",
                        active.empty() ? "none" : cli::format("{}", fmt::join(active, ", ")));
        if (has("default") && has("warpseal"))
            add("providers", CheckResult::ok, found);
        else
            add("providers", CheckResult::problem,
                found + (has("warpseal") ? "" : why_not_loaded()),
                cli::format("Both default and warpseal are needed. {}", manual));
    }

    // OpenSSL silently skips a provider of openssl.cnf that does not load; on the command line it
    // reports the error. The environment carries the provider's settings.
    std::string why_not_loaded() {
        if (module_.empty()) return "";
        const OpensslAnswer answer =
            ask_openssl(openssl_.program,
                        {"list", "-providers", "-provider-path", module_.parent_path().string(),
                         "-provider", module_.stem().string()},
                        "/dev/null", settings_);
        return answer.err.empty() ? "" : "; warpseal does not load: " + reason_in(answer.err);
    }

    const OpensslChoice& choice_;
    Findings& findings_;
    Openssl openssl_;
    bool installed_ = false, mentioned_ = false;
    std::string beside_;  // module in this program's folder
    fs::path module_;     // module that openssl.cnf names, if it exists
    // Settings of the provider's section, in the form of environment variables.
    std::vector<std::string> settings_;
};

}  // namespace

void examine_openssl(const OpensslChoice& choice, Findings& findings) {
    Examination(choice, findings).whole();
}

}  // namespace warpseal::cli
