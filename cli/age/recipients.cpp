// Reads recipients from options and files.
#include "cli/age/recipients.h"

#include <fmt/core.h>

namespace warpseal::cli::age {

std::vector<Recipient> read_recipients(const AgeChoice& choice) {
    std::vector<Recipient> recipients;
    recipients.reserve(choice.recipients.size());
    for (size_t i = 0; i < choice.recipients.size(); ++i)
        recipients.push_back(parse_recipient(choice.recipients[i], fmt::format("-r {}", i + 1)));
    for (const std::string& path : choice.recipient_files) read_recipient_file(path, recipients);
    // One recipient that is not post-quantum would make the others' protection void.
    for (const Recipient& one : recipients)
        if (one.type != recipients[0].type) {
            const Recipient& weak = one.type == KeyType::x25519 ? one : recipients[0];
            throw Failure(ExitCode::usage,
                          fmt::format("{} is not post-quantum and would weaken the others: give "
                                      "age1 recipients alone or age1pq1 recipients alone.",
                                      weak.shown));
        }
    return recipients;
}

}  // namespace warpseal::cli::age
