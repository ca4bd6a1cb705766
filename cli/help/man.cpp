// Writes man pages in the macros of man(7).

#include <algorithm>
#include <sstream>

#include "cli/help/tree.h"
#include "cli/support/format.h"

namespace warpseal::cli {
namespace {

// Appends a character of UTF-8 text as groff_char(7) names it, and returns its length.
size_t append_character(std::string& to, const std::string& text, size_t at) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(i < text.size() ? text[i] : 0); };
    const uint8_t first = byte(at);
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    uint32_t code = first & (0x3fU >> more);
    for (size_t i = 1; i <= more; ++i) code = code << 6 | (byte(at + i) & 0x3f);
    // Terminals without UTF-8 have no sign for the ellipsis.
    to += code == 0x2026 ? "\\&..." : cli::format("\\[u{:04X}]", code);
    return more + 1;
}

std::string escaped(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (static_cast<uint8_t>(c) >= 0x80) {
            i += append_character(out, text, i);
            continue;
        }
        // At the start of a line these two begin a request.
        if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '\'')
            out += "\\(aq";
        else if (c == '`')
            out += "\\(ga";
        else
            out += c;
        ++i;
    }
    return out;
}

std::string capitals(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

std::string page_title(const HelpCommand& command) {
    std::string title = command.path.empty() ? "" : "-" + command.path;
    std::replace(title.begin(), title.end(), ' ', '-');
    return "warpseal" + title;
}

std::string synopsis(const HelpCommand& command) {
    std::string text =
        cli::format(".B warpseal{}\n", command.path.empty() ? "" : " " + escaped(command.path));
    if (command.companion) return text + ".RI [ option \\&.\\|.\\|. ]\n";
    if (!command.options.empty()) text += ".RI [ option \\&.\\|.\\|. ]\n";
    if (!command.commands.empty()) text += ".I command\n";
    for (const HelpOption& argument : command.arguments) {
        const bool more = argument.repeats && argument.type.find("...") == std::string::npos;
        const std::string type = escaped(argument.type) + (more ? " \\&.\\|.\\|." : "");
        text += argument.required ? cli::format(".I {}\n", type)
                                  : cli::format(".RI [ \"{}\" ]\n", type);
    }
    return text;
}

std::string described(const HelpOption& option) {
    std::string text = option.text;
    if (option.required && !option.names.empty()) text += " (required)";
    if (!option.environment.empty())
        text += cli::format(". Without it, the environment variable {} counts", option.environment);
    return escaped(text) + "\n";
}

std::string option_list(const HelpCommand& command) {
    std::string text;
    for (const HelpOption& option : command.arguments)
        text += cli::format(".TP\n.I {}\n{}", escaped(option.type), described(option));
    for (const HelpOption& option : command.options) {
        text += ".TP\n";
        std::string names;
        for (const std::string& name : option.names)
            names += (names.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
        text += names + (option.type.empty() ? "" : " \\fI" + escaped(option.type) + "\\fR") +
                "\n" + described(option);
    }
    return text;
}

// Lines that begin with spaces are examples or tables, and keep their line ends.
std::string footer_text(const std::string& footer) {
    std::string text;
    std::istringstream lines(footer);
    bool verbatim = false;
    for (std::string line; std::getline(lines, line);) {
        const bool indented = line.rfind("  ", 0) == 0;
        if (indented != verbatim) text += indented ? ".PP\n.nf\n" : ".fi\n.PP\n";
        verbatim = indented;
        if (!line.empty()) text += escaped(line) + "\n";
    }
    return text + (verbatim ? ".fi\n" : "");
}

}  // namespace

std::string man_page_name(const HelpCommand& command) { return page_title(command) + ".1"; }

std::string man_page(const HelpCommand& command, const HelpCommand& program) {
    const std::string title = page_title(command);
    std::string about = command.about;
    if (!about.empty() && about.back() == '.') about.pop_back();
    std::string page = cli::format(
        ".\\\" Made from the options of the program.\n"
        ".TH {} 1 \"\" \"Warpseal {}\" \"User Commands\"\n"
        ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}.SH DESCRIPTION\n{}.\n",
        escaped(capitals(title)), warpseal_version(), escaped(title), escaped(about),
        synopsis(command), escaped(about));
    if (command.companion)
        page += cli::format(
            "Another program does this: \\fBwarpseal {} \\-\\-help\\fR shows its options.\n",
            escaped(command.path));
    if (!command.commands.empty()) {
        page += ".SH COMMANDS\n";
        for (const HelpCommand& one : command.commands)
            page += cli::format(".TP\n\\fB{}\\fR\n{}\n", escaped(one.name), escaped(one.about));
    }
    if (!command.options.empty() || !command.arguments.empty())
        page += ".SH OPTIONS\n" + option_list(command);
    if (!command.footer.empty()) page += ".SH NOTES\n" + footer_text(command.footer);
    page += ".SH EXIT STATUS\n0 means success";
    page += command.path.empty() ? ".\nThe list above has the other codes.\n"
                                 : ".\n.BR warpseal (1)\nlists the other codes.\n";
    page += ".SH SEE ALSO\n";
    std::string others;
    for_each_command(program, [&](const HelpCommand& one) {
        const bool below = one.path.rfind(command.path, 0) == 0 && one.path != command.path;
        const bool parent = command.path.rfind(one.path, 0) == 0 && one.path != command.path;
        if (below || parent)
            others +=
                cli::format("{}.BR {} (1)", others.empty() ? "" : ",\n", escaped(page_title(one)));
    });
    return page + others + "\n";
}

}  // namespace warpseal::cli
