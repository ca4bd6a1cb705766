// Compiler vector types of a given length.
#pragma once

#include <cstddef>

namespace warpseal::cpu {
namespace {

// Named through a type: gcc 12 loses a vector length that depends on a template parameter in the
// signatures of member templates.
template <class Element, size_t bytes>
struct VectorType {
    typedef Element type __attribute__((vector_size(bytes)));
};
template <class Element, size_t bytes>
using VectorOf = typename VectorType<Element, bytes>::type;

}  // namespace
}  // namespace warpseal::cpu
