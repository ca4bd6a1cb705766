// Internal functions of internal_resume.h.
#include "c_api/internal_resume.h"

#include "c_api/files/file_call.h"
#include "c_api/files/slot_keys.h"
#include "container/file.h"
#include "container/resume/resume.h"

namespace warpseal::c_api {
namespace {

warpseal_status resume(Direction direction, warpseal_engine* engine, int in_fd, int out_fd,
                       const warpseal_file_options* options, warpseal_internal_slot_keys* keys,
                       warpseal_internal_resumption* resumption, warpseal_file_result* result) {
    if (!sized(result)) return refuse("result is null, or its struct_bytes is too small");
    const char* wrong = wrong_in_options(options, SecretTypes::all);
    if (engine == nullptr) wrong = "the engine is null";
    if (in_fd < 0 || out_fd < 0) wrong = "the input or the output is no descriptor";
    if (!sized(resumption)) wrong = "there is no resumption, or its struct_bytes is too small";
    if (*wrong == 0) clear(*resumption);
    return reported(*result, wrong, [&] {
        container::Resumption facts{in_fd, out_fd};
        warpseal_file_options positional = *options;
        positional.any_order = 1;
        const warpseal_status status = container::resume(*engine->engine, direction, positional,
                                                         facts, *result, keys_of(keys));
        resumption->continued = facts.continued ? 1 : 0;
        resumption->other_file = facts.other_file ? 1 : 0;
        resumption->kept_bytes = facts.kept_bytes;
        resumption->output_bytes = facts.output_bytes;
        static_assert(sizeof resumption->not_continued == sizeof facts.not_continued.message);
        std::memcpy(resumption->not_continued, facts.not_continued.message,
                    sizeof resumption->not_continued);
        return status;
    });
}

}  // namespace
}  // namespace warpseal::c_api

using namespace warpseal;

extern "C" {

warpseal_status warpseal_internal_file_seal_resumable(warpseal_engine* engine, int in_fd,
                                                      int out_fd,
                                                      const warpseal_file_options* options,
                                                      warpseal_internal_slot_keys* keys,
                                                      warpseal_internal_resumption* resumption,
                                                      warpseal_file_result* result) {
    return c_api::resume(Direction::encrypt, engine, in_fd, out_fd, options, keys, resumption,
                         result);
}

warpseal_status warpseal_internal_file_open_resumable(warpseal_engine* engine, int in_fd,
                                                      int out_fd,
                                                      const warpseal_file_options* options,
                                                      warpseal_internal_slot_keys* keys,
                                                      warpseal_internal_resumption* resumption,
                                                      warpseal_file_result* result) {
    return c_api::resume(Direction::decrypt, engine, in_fd, out_fd, options, keys, resumption,
                         result);
}

}  // extern "C"
