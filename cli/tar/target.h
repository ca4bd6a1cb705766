// The directory of --output-dir: a temporary directory in it, or beside it while it does not exist,
// and the step that gives the files in it their names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/support/command.h"
#include "cli/support/descriptor.h"
#include "cli/support/interrupt.h"

namespace warpseal::cli::tar {

class Target {
public:
    // Throws Failure. Removes temporary directories of killed runs.
    Target(const std::string& path, bool force, const Session& session);
    // Removes the temporary directory and what is in it.
    ~Target();
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    int tree() const { return tree_.get(); }
    // Without --force, refuses a name that the directory has already. Throws Failure.
    void check_top(const std::string& name) const;
    // Syncs the files and gives them their names. Without --force this takes all or nothing: what
    // is in the way is left alone. With it, files replace files, and directories are merged. Throws
    // Failure, which says what is in place.
    void place();

private:
    void open_base();
    void make_tree();
    void remove_abandoned(const Session& session) const;
    void place_whole();
    void place_names();
    void place_forced();
    // These move an entry from one directory to another. They return 0 or an errno.
    int move_new(int from, int to, const std::string& name) const;
    void check_merge(int from, int to, const std::string& shown) const;
    void merge(int from, int to, const std::string& shown);
    [[noreturn]] void fail_exists(const std::string& shown) const;
    std::string in_base(const std::string& name) const {
        return base_path_ + (base_path_.back() == '/' ? "" : "/") + name;
    }
    std::string in_target(const std::string& name) const { return path_ + "/" + name; }

    const std::string path_;
    const bool force_;
    bool is_new_ = false;    // the directory does not exist yet
    std::string base_path_;  // where the temporary directory is: path_ or its parent
    std::string last_name_;  // of path_
    std::string temporary_;  // name in the base
    uint64_t placed_ = 0;    // entries that have their names
    std::unique_ptr<TemporaryName> removal_;
    Descriptor base_, tree_;
};

}  // namespace warpseal::cli::tar
