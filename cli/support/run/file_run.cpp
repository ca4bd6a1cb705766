// State of a run over several files.
#include "cli/support/run/file_run.h"

namespace warpseal::cli {

EngineHandle FileRun::engine(const std::string& device,
                             const std::function<EngineHandle()>& create) {
    const std::lock_guard lock(mutex_);
    EngineHandle& engine = engines_[device];
    if (!engine) engine = create();
    return EngineHandle(engine.get(), EngineDelete{true});
}

bool FileRun::is_first_file_in(const FileIdentity& directory) {
    const std::lock_guard lock(mutex_);
    return directories_.insert({directory.device, directory.inode}).second;
}

}  // namespace warpseal::cli
