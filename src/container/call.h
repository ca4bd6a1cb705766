// A call that seals, opens or rescues a file: its state, what sealing checks, and new heads.
#pragma once

#include <vector>

#include "container/derive.h"
#include "container/front.h"
#include "container/pipeline/pipeline.h"
#include "container/slot_keys.h"

namespace warpseal::container {

struct Resumption;  // container/resume/resume.h

// Text in device memory, the input of a call.
struct DeviceInput {
    const void* memory;
    uint64_t bytes;
    void* stream;  // of work that writes it
    DeviceText text = {};
};

// State of one call: input, output, options, progress and result.
struct FileCall {
    Engine& engine;
    const warpseal_file_options& options;
    Progress progress;
    Source source;
    Sink sink;
    PipelineResult done;
    uint64_t head_bytes = 0;  // offset of the first chunk
    bool header_copies_differ = false;
    warpseal_rescue* rescue = nullptr;  // set for a rescue
    Resumption* resumption = nullptr;   // set if the output of an earlier run is continued
    SlotKeys* keys = nullptr;           // of a run over many files
    DeviceInput* device = nullptr;      // set where the input is not a descriptor
    Fault fault;

    FileCall(Engine& its_engine, int in_fd, int out_fd, const warpseal_file_options& its_options)
        : engine(its_engine),
          options(its_options),
          progress(its_options.progress, its_options.progress_user),
          source(in_fd, progress),
          sink(out_fd, its_options.any_order != 0 ? Order::any : Order::strict, progress) {}
    FileCall(const FileCall&) = delete;

    // Tells the caller that the secrets are no longer read.
    void secrets_used() const {
        if (options.secrets_used != nullptr) options.secrets_used(options.secrets_user);
    }
};

// Returns the cost of new passphrase slots.
inline Argon2Cost argon2_cost(const warpseal_file_options& options) {
    return {options.argon2_passes != 0 ? options.argon2_passes : argon2_default.passes,
            options.argon2_memory_kib != 0 ? options.argon2_memory_kib : argon2_default.memory_kib};
}
// Returns WARPSEAL_LIMIT_EXCEEDED for a cost, or for work of all new slots, that a file cannot
// have.
warpseal_status check_cost(Argon2Cost cost, uint64_t all_work, Fault& fault);

// Checks what is of sealing alone; `suite` is set to the suite of the new file. On failure the
// fault names the option.
warpseal_status check_sealing(const warpseal_file_options& options, const Suite*& suite,
                              Fault& fault);

// Draws the keys of a new file. front: receives all bytes before the first chunk.
warpseal_status make_front(FileCall& call, const Suite& suite, Opened& out,
                           std::vector<uint8_t>& front);

}  // namespace warpseal::container
