// Libraries that are loaded at run time, so that the program neither links nor needs them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace warpseal::bench {

// None of a library's files can be loaded.
struct LibraryAbsent : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Stays loaded until the process ends.
class SharedLibrary {
public:
    // Loads the first of `files` that is there, with RTLD_LOCAL, RTLD_NOW and `flags`. `name` is
    // used in errors. Throws LibraryAbsent.
    SharedLibrary(std::string name, const std::vector<std::string>& files, int flags = 0);
    // Sets `function`. Throws Failure if the library lacks it.
    template <class Function>
    void load(const char* symbol, Function*& function) const {
        function = reinterpret_cast<Function*>(find(symbol));
    }
    // Returns true if this is the library that the program is linked with: it has the same
    // `symbol`.
    bool is_linked(const char* symbol) const;
    // Returns the file as the loader names it.
    std::string path() const;

private:
    void* find(const char* symbol) const;
    const std::string name_;
    void* handle_ = nullptr;
};

}  // namespace warpseal::bench
