// The program `openssl`, asked as somebody at a terminal would.
#pragma once

#include <string>
#include <vector>

namespace warpseal::cli {

struct OpensslAnswer {
    bool ran = false, well = false;
    std::string out, err;
};

// No shell is between. `config`: what it has for OPENSSL_CONF; empty: what we have. `more`: further
// settings of its environment.
OpensslAnswer ask_openssl(const std::string& program, std::vector<std::string> arguments,
                          const std::string& config, std::vector<std::string> more = {});

// `MODULESDIR: "/usr/lib/ossl-modules"` and its like; empty: it is not said.
std::string quoted_after(const std::string& text, const std::string& name);

std::string first_line(const std::string& text);

// The line of an error stack that says what it was about: libcrypto's last, the first to be raised,
// is the cause.
std::string reason_in(const std::string& errors);

}  // namespace warpseal::cli
