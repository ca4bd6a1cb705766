// Stanzas: a file key wrapped for a recipient or a passphrase.
#pragma once

#include <optional>
#include <string>

#include "cli/age/format/header.h"
#include "cli/age/hybrid.h"
#include "cli/age/keys.h"

namespace warpseal::cli::age {

constexpr unsigned scrypt_log2_cost = 18;        // 256 MiB, as age writes
constexpr unsigned max_scrypt_log2_cost = 22;    // 4 GiB, as age reads
constexpr unsigned quiet_scrypt_log2_cost = 20;  // 1 GiB; more is announced

Stanza wrap(const Recipient& recipient, View file_key, Hybrid& hybrid);
Stanza wrap_by_passphrase(View passphrase, View file_key);

// Checks the form of every stanza of a known type. Throws Failure.
void check_stanzas(const std::vector<Stanza>& stanzas);
unsigned log2_cost_of(const Stanza& scrypt);
bool opens_by_passphrase(const std::vector<Stanza>& stanzas);
// Empty if the stanza is of another type or its tag does not verify. Throws Failure for a share of
// low order.
std::optional<Secret> unwrap(const Identity& identity, const Stanza& stanza, Hybrid& hybrid);
std::optional<Secret> unwrap_by_passphrase(View passphrase, const Stanza& stanza);

}  // namespace warpseal::cli::age
