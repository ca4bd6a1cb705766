// Removal of a directory with all that is in it.
#pragma once

namespace warpseal::cli {

// Removes a directory that only this user can write to, in `parent`. Follows no link. Returns false
// if something is left.
bool remove_tree(int parent, const char* name) noexcept;

}  // namespace warpseal::cli
