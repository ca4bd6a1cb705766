// Bursts of clients through the batcher, by the load generator of `warpseal tls-bench exchanges`.
#include "bench/papers/p4_clients.h"

#include "bench/clients/kem_load.h"
#include "bench/papers/p4_tables.h"
#include "cli/support/format.h"
#include "cli/support/kem_sets.h"

namespace warpseal::papers {
namespace {

namespace paper = published::p4;

constexpr uint64_t client_counts[] = {1'000, 10'000, 100'000};
constexpr unsigned submitting_threads = 16, warm_rounds = 3;
constexpr double warm_up_seconds = 0.4;

struct Device {
    const char* name;
    std::string engine;   // as --device has it
    std::string not_run;  // empty: measured
};

class ClientsAtOnce {
public:
    explicit ClientsAtOnce(Study& study) : study_(study), set_(cli::kem_set(paper::set)) {}

    void run() {
        const Device devices[] = {{"cores", "cpu", ""},
                                  {"GPU", study_.gpu(), study_.no_gpu()},
                                  {"auto", study_.gpu().empty() ? "cpu" : "auto", ""}};
        for (const Device& device : devices) {
            const auto engine = device.not_run.empty()
                                    ? cli::create_engine({device.engine, 0}, study_.session())
                                    : cli::EngineHandle();
            for (const uint64_t clients : client_counts) run(device, engine.get(), clients);
        }
    }

private:
    void run(const Device& device, warpseal_engine* engine, uint64_t clients) {
        const uint64_t bytes = clients * 4096;  // approximate memory of the clients
        std::string not_run = device.not_run;
        if (not_run.empty() && study_.limited(bytes) < bytes) not_run = "more than --bytes";
        if (!not_run.empty()) {
            for (const bool decapsulates : {true, false})
                for (const bool warm : {false, true})
                    study_.take(row(device, clients, decapsulates, warm, not_run));
            return;
        }
        tls::KemClients all(study_.engine(study_.cores()), set_, clients);
        // An engine self-tests its paths and measures their speed at first use.
        all.encapsulate(engine, clients, 0);
        all.decapsulate(engine, clients, 0);
        for (const bool decapsulates : {true, false})
            measure(device, engine, all, clients, decapsulates);
    }

    void measure(const Device& device, warpseal_engine* engine, tls::KemClients& all,
                 uint64_t clients, bool decapsulates) {
        warpseal_kem_batcher_options options{};
        options.struct_bytes = sizeof options;
        options.max_waiting = static_cast<uint32_t>(clients);
        const auto [cold, warm] = all.bursts(engine, options, submitting_threads,
                                             {decapsulates, warm_rounds, warm_up_seconds});
        for (const bool again : {false, true}) {
            const tls::KemFigure& figure = again ? warm : cold;
            Row one = row(device, clients, decapsulates, again, "");
            one.ours = 1e3 * figure.seconds;
            one.ours_what = cli::format("warpseal_kem_batcher_submit, {}", device.name);
            one.more = {{"clients", static_cast<double>(clients)},
                        {"p50_milliseconds", 1e3 * figure.p50_seconds},
                        {"p99_milliseconds", 1e3 * figure.p99_seconds},
                        {"core_microseconds", 1e6 * figure.core_seconds_each()}};
            if (figure.wrong != 0)
                study_.wrong(cli::format("P4, {}: {} secrets differ", one.row, figure.wrong));
            study_.take(one);
        }
    }

    static Row row(const Device& device, uint64_t clients, bool decapsulates, bool warm,
                   const std::string& not_run) {
        Row row{.table = &p4::clients_at_once_table,
                .row = cli::format("server {}, N = {}, {}, {} batcher",
                                   decapsulates ? "decapsulates" : "encapsulates", clients,
                                   device.name, warm ? "warm" : "new"),
                .unit = "ms",
                .not_run = not_run};
        if (decapsulates && clients == paper::count) {
            row.published = paper::clients_milliseconds;
            row.published_bound = "about";
        }
        return row;
    }

    Study& study_;
    const warpseal_kem_info set_;
};

}  // namespace

void print_clients_at_once(Study& study) { ClientsAtOnce(study).run(); }

}  // namespace warpseal::papers
