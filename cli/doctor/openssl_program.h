// Runs the program `openssl` as a user at a terminal would.
#pragma once

#include <string>
#include <vector>

namespace warpseal::cli {

struct OpensslAnswer {
    bool ran = false, well = false;
    std::string out, err;
};

// Runs `program` without a shell. `config` sets OPENSSL_CONF; if empty, the variable is inherited.
// `more` holds further environment settings.
OpensslAnswer ask_openssl(const std::string& program, std::vector<std::string> arguments,
                          const std::string& config, std::vector<std::string> more = {});

// Returns the quoted value after `name`, as in `MODULESDIR: "/usr/lib/ossl-modules"`; empty if
// there is none.
std::string quoted_after(const std::string& text, const std::string& name);

std::string first_line(const std::string& text);

// Returns the line of an error stack that holds the cause. It is libcrypto's last line, because
// that error was raised first.
std::string reason_in(const std::string& errors);

}  // namespace warpseal::cli
