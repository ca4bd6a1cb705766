// The reader of openssl.cnf: any text gives settings and complaints.
#include "cli/doctor/openssl_config.h"
#include "cli_files.h"

namespace {

using fuzz::bytes_of;

void run(const uint8_t* data, size_t bytes) {
    // What a text includes is read too. A changed path could name a device without an end.
    if (std::string_view(reinterpret_cast<const char*>(data), bytes).find("include") !=
        std::string_view::npos)
        return;
    const fuzz::NamedFile file(data, bytes);
    const auto config = warpseal::cli::OpensslConfig::read(file.path());
    for (const auto& [name, settings] : config.sections()) {
        fuzz::claim(config.section(name) == &settings, "a section is found by its name");
        for (const auto& setting : settings)
            fuzz::claim(config.value(name, setting.name).has_value(), "a setting has a value");
    }
}

std::vector<fuzz::Data> seeds() {
    return {
        bytes_of("openssl_conf = init\n[init]\nproviders = list\n[list]\nwarpseal = w\n"
                 "default = d\n[w]\nmodule = /usr/lib/warpseal.so\nactivate = 1\n[d]\n"
                 "activate = 1\n"),
        bytes_of("a = $b ${c} $ENV::HOME ${x::y}\n[x]\ny = 'q\\'uoted' \"t\\ext\" \\\n more # c\n"),
        bytes_of("[ s p ]\nx::z = 1\n.pragma = dollarid:true\n\\x = \\n\\r\\t\\\\\n")};
}

FUZZ_TARGET("configuration", run, seeds);

}  // namespace
