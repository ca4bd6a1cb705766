// The reader of openssl.cnf: any text gives settings and complaints.
#include "cli/doctor/openssl_config.h"
#include "cli_files.h"

namespace {

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

FUZZ_TARGET("configuration", run);

}  // namespace
