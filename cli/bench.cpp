// `warpseal tls-bench`, `tls-serve` and `tls-connect` run the program warpseal-tls. It links the
// system's OpenSSL, whereas this program contains its own.
#include "cli/support/companion.h"

namespace warpseal::cli {

void add_tls(CLI::App& program, Session& session) {
    for (const auto& [name, about] :
         {std::pair{
              "tls-bench",
              "TLS 1.3 handshakes of very many clients, by key exchange; and key exchanges alone"},
          {"tls-serve",
           "Accept TLS connections and agree on a further key by NTRU: the server decapsulates"},
          {"tls-connect", "Connect to tls-serve, agree on that key, and send data under it"}})
        add_companion_command(program, session, name, about, "warpseal-tls");
}

}  // namespace warpseal::cli
