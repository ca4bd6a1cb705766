// Reads and writes stanzas. Of a body of one line, no copy stays in memory besides the stanza.
#include "cli/age/format/stanza.h"

#include "cli/age/format/text.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {
namespace {

std::vector<std::string> read_arguments(const std::string& line, const StanzaFaults& faults) {
    std::vector<std::string> arguments;
    if (line.rfind("-> ", 0) != 0) faults.malformed("a stanza does not begin with '-> '");
    for (size_t at = 3; at <= line.size();) {
        const size_t end = std::min(line.find(' ', at), line.size());
        const std::string argument = line.substr(at, end - at);
        if (argument.empty()) faults.malformed("a stanza has an empty argument");
        for (const char c : argument)
            if (c < 33 || c > 126) faults.malformed("a stanza has an invalid character");
        arguments.push_back(argument);
        at = end + 1;
    }
    return arguments;
}

}  // namespace

Stanza read_stanza(const std::string& first_line,
                   const std::function<void(std::string&)>& read_line, const StanzaFaults& faults) {
    Stanza stanza{read_arguments(first_line, faults), {}};
    // Neither is copied by growing unless the body has another line.
    stanza.body.reserve(line_characters);
    std::string line;
    line.reserve(line_characters + 1);
    size_t characters = line_characters;
    while (characters == line_characters) {
        line.clear();
        read_line(line);
        characters = line.size();
        if (characters > line_characters || !from_base64(line, Padding::none, stanza.body))
            faults.malformed("the body of a stanza is malformed");
        if (stanza.body.size() > max_body_bytes)
            faults.limit(cli::format("a stanza of more than {} bytes", max_body_bytes));
        warpseal_wipe(line.data(), line.size());
    }
    return stanza;
}

void write_stanza(const std::vector<std::string_view>& arguments, View body,
                  const std::function<void(std::string_view)>& write) {
    write("->");
    for (const std::string_view argument : arguments) {
        write(" ");
        write(argument);
    }
    std::string text = base64(body, Padding::none);
    for (size_t at = 0; at <= text.size(); at += line_characters) {
        write("\n");
        write(std::string_view(text).substr(at, line_characters));
    }
    write("\n");
    warpseal_wipe(text.data(), text.size());
}

}  // namespace warpseal::cli::age
