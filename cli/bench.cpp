// `warpseal bench` and `warpseal tls-bench` run the program warpseal-bench, because measurements
// are no part of the product.
#include "cli/commands.h"
#include "cli/support/companion.h"

namespace warpseal::cli {

void add_bench(CLI::App& program, Session& session) {
    add_companion_command(program, session, "bench", "Measure ciphers, and OpenSSL's beside them",
                          {"warpseal-bench", {}});
}

void add_tls_bench(CLI::App& program, Session& session) {
    add_companion_command(
        program, session, "tls-bench",
        "TLS 1.3 handshakes of very many clients, by key exchange; and key exchanges alone",
        {"warpseal-bench", {"tls"}});
}

}  // namespace warpseal::cli
