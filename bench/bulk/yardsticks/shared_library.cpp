// Libraries that are loaded at run time.
#include "bench/bulk/yardsticks/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include "cli/support/command.h"
#include "cli/support/format.h"

namespace warpseal::bench {

SharedLibrary::SharedLibrary(std::string name, const std::vector<std::string>& files, int flags)
    : name_(std::move(name)) {
    std::string reason = cli::format("there is no {}", files.front());
    if (files.size() > 1) reason += cli::format(" … {}", files.back());
    for (const std::string& file : files) {
        handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
        if (handle_) return;
        const char* const error = dlerror();
        const std::string said = error ? error : "it cannot be loaded";
        // A file that is there may lack something itself.
        if (said.rfind(file + ": cannot open", 0) != 0) reason = said;
    }
    throw LibraryAbsent(cli::format("{} cannot be loaded: {}", name_, reason));
}

void* SharedLibrary::find(const char* symbol) const {
    void* const found = dlsym(handle_, symbol);
    if (!found)
        throw cli::Failure(
            cli::ExitCode::error,
            cli::format("{} lacks the function {}: it is no {} that can be measured.", path(),
                        symbol, name_));
    return found;
}

bool SharedLibrary::is_linked(const char* symbol) const {
    return dlsym(handle_, symbol) == dlsym(RTLD_DEFAULT, symbol);
}

std::string SharedLibrary::path() const {
    link_map* map = nullptr;
    return dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : name_;
}

}  // namespace warpseal::bench
