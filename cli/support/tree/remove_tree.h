// Removal of a directory with all that is in it.
#pragma once

namespace warpseal::cli {

// Removes a directory that only this user can write to, in `parent`. Follows no link. Returns false
// if something is left.
bool remove_tree(int parent, const char* name) noexcept;

// The same for a directory that is open, whatever its name is by now; closes the descriptor. The
// name in `parent` is removed if it is that of an empty directory.
bool remove_open_tree(int parent, const char* name, int directory) noexcept;

}  // namespace warpseal::cli
