// Speaks for a plugin at the terminal. Without one, what it asks for cannot be had.
#include "cli/age/plugin/dialogue.h"

#include <algorithm>

#include "cli/age/format/text.h"
#include "cli/support/format.h"

namespace warpseal::cli::age::plugin {
namespace {

constexpr size_t max_shown_bytes = 2048;

// The words of one of the two answers to a question.
std::string label(Connection& plugin, const std::string& argument) {
    Octets words;
    if (!from_base64(argument, Padding::none, words)) plugin.fail("asks in a form that is unknown");
    return shown_text(words);
}

void ask_to_confirm(Connection& plugin, const Stanza& message) {
    const size_t choices = message.arguments.size() - 1;
    if (choices < 1 || choices > 2) plugin.fail("asks in a form that is unknown");
    std::string prompt = cli::format("{}: {} [y: {}", plugin.program(), shown_text(message.body),
                                     label(plugin, message.arguments[1]));
    prompt +=
        choices == 2 ? cli::format(", n: {}] ", label(plugin, message.arguments[2])) : ", n] ";
    if (!has_terminal()) return plugin.send({"fail"});
    for (;;) {
        const SecretBytes typed = ask_line(prompt, false);
        if (typed.size == 0) return plugin.send({"fail"});  // also at the terminal's end
        const uint8_t first = typed.data()[0];
        if (first == 'y' || first == 'Y') return plugin.send({"ok", "yes"});
        if (first == 'n' || first == 'N') return plugin.send({"ok", "no"});
    }
}

void ask_for_text(Connection& plugin, const Stanza& message, bool hidden) {
    if (!has_terminal()) return plugin.send({"fail"});
    const SecretBytes typed =
        ask_line(cli::format("{}: {} ", plugin.program(), shown_text(message.body)), hidden);
    plugin.send({"ok"}, View(typed.data(), typed.size));
}

}  // namespace

std::string shown_text(View text) {
    const size_t bytes = std::min(text.size(), max_shown_bytes);
    std::string shown(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; },
        ' ');
    return printable(shown);
}

void answer(Connection& plugin, const Stanza& message) {
    const std::string& type = message.type();
    if (type == "msg") {
        complain(cli::format("{}: {}", plugin.program(), shown_text(message.body)));
        return plugin.send({"ok"});
    }
    if (type == "confirm") return ask_to_confirm(plugin, message);
    if (type == "request-public") return ask_for_text(plugin, message, false);
    if (type == "request-secret") return ask_for_text(plugin, message, true);
    plugin.send({"unsupported"});
}

}  // namespace warpseal::cli::age::plugin
