// Files in memory that the program's readers open by path.
#pragma once

#include <sys/stat.h>

#include "container/files.h"
#include "fuzz/target.h"

namespace fuzz {

class NamedFile {
public:
    NamedFile(const uint8_t* data, size_t bytes) : file_(Data(data, data + bytes)) {
        fchmod(file_.get(), 0600);
    }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

private:
    tests::MemoryFile file_;
};

}  // namespace fuzz
