// Engines with "auto": see on_auto.h.
#include "on_auto.h"

#include <memory>

#include "../handles.h"
#include "c_api/handles.h"
#include "engine/engine.h"

namespace works {
namespace {

// For its model of throughput a GPU is 10^9 times as fast as the cores.
warpseal_status create_auto(const warpseal_engine_options* options, warpseal_engine** engine) {
    warpseal::EngineOptions wanted;
    wanted.threads = options->threads;
    wanted.speeds = [](int party) {
        return party < 0 ? warpseal::Speed{1e-6, 1e-6} : warpseal::Speed{1e3, 1e3};
    };
    return warpseal::c_api::guarded_waiting([&] {
        auto created = std::make_unique<warpseal_engine>();
        const warpseal_status status = warpseal::Engine::create(wanted, created->engine);
        if (status == WARPSEAL_OK) *engine = created.release();
        return status;
    });
}

}  // namespace

OnAuto::OnAuto() { create_engine = create_auto; }
OnAuto::~OnAuto() { create_engine = warpseal_engine_create; }

}  // namespace works
