// `tls-exchange serve`: TLS with the system's configuration, a pool of key pairs, and one event
// loop per core.

#include <algorithm>

#include "cli/support/format.h"
#include "cli/support/interrupt.h"
#include "examples/tls_exchange/options.h"
#include "examples/tls_exchange/serve.h"
#include "examples/tls_exchange/socket.h"

namespace warpseal::tls {
namespace {

SslContext make_context(const ServeOptions& options) {
    SslContext context(SSL_CTX_new(TLS_server_method()));
    if (!context) fail("make a TLS context");
    accept_exchange(context.get());
    require_file(options.certificate);
    require_file(options.key);
    if (SSL_CTX_use_certificate_chain_file(context.get(), options.certificate.c_str()) != 1)
        fail("read the certificate " + options.certificate);
    if (SSL_CTX_use_PrivateKey_file(context.get(), options.key.c_str(), SSL_FILETYPE_PEM) != 1)
        fail("read the key " + options.key);
    return context;
}

void serve(ExchangeService& service, int listening, unsigned threads) {
    std::deque<ExchangeLoop> loops;
    for (unsigned i = 0; i < threads; ++i) loops.emplace_back(service, listening);
    std::vector<std::jthread> running;
    running.reserve(threads);
    for (ExchangeLoop& loop : loops) running.emplace_back([&loop] { loop.run(); });
}

void print_counts(const ExchangeService& service, const PoolBatcher::Counts& pool) {
    cli::print_output(
        cli::format("accepted {}, turned away {}, exchanges {}, refused {}, failed {}, timed out "
                    "{}, bytes {}, keys {}, key batches {}, secrets {}, "
                    "secret batches {}, largest batch {}\n",
                    service.accepted.load(), service.turned_away.load(), service.opened.load(),
                    service.refused.load(), service.failed.load(), service.timed_out.load(),
                    service.bytes.load(), pool.keys, pool.key_batches, pool.secrets,
                    pool.secret_batches, pool.largest_batch));
}

}  // namespace

cli::ExitCode run_serve(const ServeOptions& options, cli::Session& session) {
    const uint8_t set = exchange_set_number(options.set);
    const unsigned threads =
        options.threads ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    cli::allow_unlimited_grace();  // A batch of keys may take longer than any usual grace.
    constexpr uint64_t others = 256;
    allow_descriptors(options.most_clients + others);
    const SslContext context = make_context(options);
    const cli::EngineHandle engine = cli::create_engine({options.device, 0}, session);
    PoolBatcher pool(engine.get(), *exchange_set(set), options.pairs, options.max_batch,
                     std::chrono::microseconds(options.max_delay_us));
    ExchangeService service{.engine = engine.get(),
                            .tls = context.get(),
                            .pool = pool,
                            .set = set,
                            .patience = std::chrono::seconds(options.patience_seconds),
                            .most_clients = std::max(1U, options.most_clients / threads)};
    const cli::Descriptor listening =
        listen_on(resolve(split_address(options.listen), true).front());
    cli::print_output(cli::format("listening on {}\n", address_of(listening.get()).text()));
    serve(service, listening.get(), threads);
    print_counts(service, pool.counts());
    return cli::ExitCode::ok;  // Only a stop request ends the server.
}

}  // namespace warpseal::tls
