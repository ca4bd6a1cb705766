// Reads recipients from options and files.
#include "cli/age/recipients.h"

#include "cli/age/plugin/plugin.h"
#include "cli/support/format.h"

namespace warpseal::cli::age {

namespace {

// One recipient that is not post-quantum would make the others' protection void. Plugins tell
// theirs later.
void refuse_mixture(const std::vector<Recipient>& recipients) {
    const Recipient* hybrid = nullptr;
    const Recipient* classical = nullptr;
    for (const Recipient& one : recipients)
        if (one.type != KeyType::plugin) (is_post_quantum(one.type) ? hybrid : classical) = &one;
    if (hybrid == nullptr || classical == nullptr) return;
    throw Failure(ExitCode::usage,
                  cli::format("{} is not post-quantum and would weaken the others: give "
                              "post-quantum recipients alone (age1pq1…, in Warpseal files "
                              "warpntru1… too), or none.",
                              classical->shown));
}

}  // namespace

std::vector<Recipient> read_recipients(const AgeChoice& choice, const Session& session) {
    std::vector<Recipient> recipients;
    recipients.reserve(choice.recipients.size());
    for (size_t i = 0; i < choice.recipients.size(); ++i)
        recipients.push_back(parse_recipient(choice.recipients[i], cli::format("-r {}", i + 1)));
    for (const std::string& path : choice.recipient_files)
        read_recipient_file(path, recipients, session);
    for (const std::string& name : choice.plugins) {
        const Secret text = plugin::identity_without_data(name);
        recipients.push_back(
            {KeyType::plugin, Octets(text.begin(), text.end()), cli::format("-j {}", name)});
    }
    refuse_mixture(recipients);
    return recipients;
}

}  // namespace warpseal::cli::age
