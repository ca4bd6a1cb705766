// Makes file keys in batches, and looks ahead for headers that need a plugin.
#include "cli/age/plugin/run.h"

#include <algorithm>

#include "cli/age/crypto.h"
#include "cli/age/plugin/group.h"

namespace warpseal::cli::age::plugin {
namespace {

constexpr size_t max_batch_bytes = size_t{16} << 20;  // of headers

std::vector<FileKey> make_file_keys(size_t count, const std::vector<Recipient>& recipients) {
    std::vector<Secret> keys;
    keys.reserve(count);
    while (keys.size() < count) keys.push_back(random_secret(file_key_bytes));
    std::vector<std::vector<Stanza>> stanzas = wrap_by_plugins(recipients, keys);
    std::vector<FileKey> made;
    made.reserve(count);
    for (size_t i = 0; i < count; ++i) made.push_back({std::move(keys[i]), std::move(stanzas[i])});
    return made;
}

Secret digest_of(const Header& header) { return hmac_sha256({}, view(header.authenticated)); }

}  // namespace

FileKey Run::new_file_key(const std::vector<Recipient>& recipients) {
    const std::lock_guard lock(mutex_);
    if (failure_) throw *failure_;
    if (made_.empty()) {
        const size_t left = paths_.size() - std::min(next_, paths_.size());
        try {
            made_ = make_file_keys(std::clamp<size_t>(left, 1, batch_files), recipients);
        } catch (const Failure& failure) {
            failure_ = failure;
            throw;
        }
        next_ += made_.size();
    }
    FileKey made = std::move(made_.back());
    made_.pop_back();
    return made;
}

std::optional<Secret> Run::unwrap(const Header& header, const std::vector<Identity>& identities,
                                  const ReadHeader& read_header, std::optional<Failure>& failure) {
    const std::lock_guard lock(mutex_);
    const Secret digest = digest_of(header);
    if (found_.count(digest) == 0) unwrap_batch(header, identities, read_header);
    const Result& result = found_.at(digest);
    if (!failure) failure = result.failure;
    return result.key;
}

void Run::unwrap_batch(const Header& first, const std::vector<Identity>& identities,
                       const ReadHeader& read_header) {
    std::vector<Header> headers{first};
    std::vector<Secret> digests{digest_of(first)};
    size_t bytes = first.authenticated.size();
    while (next_ < paths_.size() && headers.size() < batch_files && bytes < max_batch_bytes) {
        std::optional<Header> header = read_header(paths_[next_++]);
        if (!header) continue;
        Secret digest = digest_of(*header);
        if (digest == digests[0] || found_.count(digest) != 0) continue;
        bytes += header->authenticated.size();
        headers.push_back(std::move(*header));
        digests.push_back(std::move(digest));
    }
    std::vector<const std::vector<Stanza>*> stanzas;
    stanzas.reserve(headers.size());
    for (const Header& header : headers) stanzas.push_back(&header.stanzas);
    std::optional<Failure> failure;
    std::vector<std::optional<Secret>> keys = unwrap_by_plugins(identities, stanzas, failure);
    for (size_t i = 0; i < headers.size(); ++i) {
        Result& result = found_[digests[i]];
        result.key = std::move(keys[i]);
        if (!result.key) result.failure = failure;
    }
}

FileKey new_file_key(Run* run, const std::vector<Recipient>& recipients) {
    const bool by_plugin =
        std::any_of(recipients.begin(), recipients.end(),
                    [](const Recipient& one) { return one.type == KeyType::plugin; });
    if (run != nullptr && by_plugin) return run->new_file_key(recipients);
    return std::move(make_file_keys(1, recipients)[0]);
}

}  // namespace warpseal::cli::age::plugin
