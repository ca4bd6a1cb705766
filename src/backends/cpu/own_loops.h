// Functions of the door for what a form has loops of its own, straight to them: a short text is over in the time that a few calls take.
#pragma once

#include "backends/ops.h"
#include "core/block.h"

namespace warpseal::cpu {
namespace {

// Of a form that has `few_bytes`: chains of any length, and up to so many bytes the others, work in registers and spill none of them, so
// that there is nothing to clear behind them. residue_stack_test.cpp holds them to it. State has the form's schedule as `keys`.
template <class Form, class State>
struct OwnLoops {
    static const typename Form::Schedule& keys(const void* state) { return static_cast<const State*>(state)->keys; }

    template <class Mode, Direction direction>
    static void sweep(const void* state, const uint8_t* iv, uint64_t first_block, const uint8_t* in, uint8_t* out, size_t bytes) {
        Block<4> first{};
        if constexpr (Mode::has_iv) first = load_block<4>(iv);
        Form::template sweep<Mode, direction>(keys(state), first, first_block, in, out, bytes);
    }

    // At most few_bytes of one data unit, in whole blocks.
    template <Direction direction>
    static void xts(const void* state, const void* tweak_state, const XtsUnits& units, const uint8_t* in, uint8_t* out, size_t bytes) {
        Form::template xts_few<direction>(keys(state), keys(tweak_state), units.first, in, out, bytes);
    }

    // One message of whole blocks; `end`, if it is set, receives what a block after them would meet, and may be `iv`.
    template <class Mode>
    static void chain(const void* state, const uint8_t* iv, const uint8_t* in, uint8_t* out, size_t bytes, uint8_t* end) {
        Block<4> chained = load_block<4>(iv);
        Form::template chain<Mode>(keys(state), chained, in, out, bytes / 16);
        if (end) store_block(end, chained);
    }
};

}  // namespace
}  // namespace warpseal::cpu
