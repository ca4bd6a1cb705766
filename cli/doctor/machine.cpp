// `warpseal doctor`, machine part: self-tests of all targets, GPUs and limits of the process.
#include <sys/random.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/doctor/doctor.h"
#include "cli/support/ciphers.h"
#include "cli/support/command.h"
#include "cli/support/format.h"
#include "warpseal/kem.h"

namespace warpseal::cli {
namespace {

std::string limit_text(rlim_t limit) {
    return limit == RLIM_INFINITY ? "unlimited" : human_bytes(limit);
}

struct DoctorKeyDelete {
    void operator()(warpseal_key* key) const { warpseal_key_destroy(key); }
};
using DoctorKey = std::unique_ptr<warpseal_key, DoctorKeyDelete>;

// Encrypts and decrypts two blocks. The first use of a path runs its self-test, whose result is the
// status.
warpseal_status try_mode(const warpseal_key* key, const warpseal_cipher_info& cipher,
                         warpseal_mode mode) {
    const std::array<uint8_t, 32> text{1, 2, 3};
    std::array<uint8_t, 32> out{}, back{};
    std::array<uint8_t, 16> iv{}, tag{};
    const size_t tag_bytes = cipher.block_bytes,
                 iv_bytes = mode == WARPSEAL_ECB ? 0 : cipher.block_bytes;
    warpseal_status status{};
    switch (mode) {
        case WARPSEAL_CMAC:
            status = warpseal_mac(key, mode, text.data(), text.size(), tag.data(), tag_bytes);
            return status != WARPSEAL_OK ? status
                                         : warpseal_mac_verify(key, mode, text.data(), text.size(),
                                                               tag.data(), tag_bytes);
        case WARPSEAL_GCM:
        case WARPSEAL_CCM:
            status = warpseal_seal(key, mode, iv.data(), nullptr, 0, text.data(), out.data(),
                                   text.size(), tag.data(), tag_bytes);
            if (status == WARPSEAL_OK)
                status = warpseal_open(key, mode, iv.data(), 12, nullptr, 0, out.data(),
                                       back.data(), text.size(), tag.data(), tag_bytes);
            break;
        case WARPSEAL_XTS:
            status = warpseal_xts_encrypt(key, iv.data(), text.size(), text.data(), out.data(),
                                          text.size());
            if (status == WARPSEAL_OK)
                status = warpseal_xts_decrypt(key, iv.data(), text.size(), out.data(), back.data(),
                                              text.size());
            break;
        default:
            status = warpseal_encrypt(key, mode, iv.data(), iv_bytes, text.data(), out.data(),
                                      text.size());
            if (status == WARPSEAL_OK)
                status = warpseal_decrypt(key, mode, iv.data(), iv_bytes, out.data(), back.data(),
                                          text.size());
    }
    if (status != WARPSEAL_OK) return status;
    return back == text ? WARPSEAL_OK : WARPSEAL_SELF_TEST_FAILED;
}

DoctorKey make_key(warpseal_engine* engine, const warpseal_cipher_info& cipher, warpseal_mode mode,
                   warpseal_status& status) {
    std::array<uint8_t, 128> bytes{};
    // fixed key that is not weak for any cipher
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(37 * i + 11);
    warpseal_key* key = nullptr;
    status =
        mode == WARPSEAL_XTS
            ? warpseal_key_create_xts(engine, cipher.name, bytes.data(), 2 * cipher.key_bytes, &key)
            : warpseal_key_create(engine, cipher.name, bytes.data(), cipher.key_bytes, &key);
    return DoctorKey(key);
}

// Generates one key pair and one ciphertext and compares both secrets.
warpseal_status try_set(warpseal_engine* engine, const warpseal_kem_info& set) {
    std::vector<uint8_t> public_key(set.public_key_bytes), secret_key(set.secret_key_bytes),
        ciphertext(set.ciphertext_bytes), ours(set.shared_secret_bytes),
        theirs(set.shared_secret_bytes);
    warpseal_kem_batch batch{};
    batch.struct_bytes = sizeof batch;
    batch.count = 1;
    batch.public_keys = public_key.data();
    batch.secret_keys = secret_key.data();
    batch.ciphertexts = ciphertext.data();
    batch.shared_secrets = ours.data();
    warpseal_status status = warpseal_kem_keypair(engine, set.name, &batch);
    if (status == WARPSEAL_OK) status = warpseal_kem_encapsulate(engine, set.name, &batch);
    batch.shared_secrets = theirs.data();
    if (status == WARPSEAL_OK) status = warpseal_kem_decapsulate(engine, set.name, &batch);
    return status == WARPSEAL_OK && ours != theirs ? WARPSEAL_SELF_TEST_FAILED : status;
}

// Returns a list of the engine's failing paths, or "".
std::string failures_of(warpseal_engine* engine, size_t& tried) {
    std::string failures;
    const auto take = [&](const std::string& what, warpseal_status status) {
        ++tried;
        if (status != WARPSEAL_OK)
            failures += cli::format("{}{}: {}", failures.empty() ? "" : "; ", what,
                                    warpseal_status_text(status));
    };
    for (const warpseal_cipher_info& cipher : all_ciphers())
        for (const warpseal_mode mode : modes_of(cipher)) {
            warpseal_status status{};
            const DoctorKey key = make_key(engine, cipher, mode, status);
            take(cli::format("{}-{}", cipher.name, warpseal_mode_name(mode)),
                 status == WARPSEAL_OK ? try_mode(key.get(), cipher, mode) : status);
        }
    warpseal_kem_info set{};
    for (size_t i = 0; warpseal_kem_at(i, &set) == WARPSEAL_OK; ++i)
        take(set.name, try_set(engine, set));
    return failures;
}

Finding examine_target(const char* name) {
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.threads = 1;
    options.device = name;
    warpseal_engine* made = nullptr;
    const warpseal_status status = warpseal_engine_create(&options, &made);
    const EngineHandle engine(made);
    const std::string advice =
        "Do not compute on it: WARPSEAL_TARGETS leaves targets out. Report this with `warpseal "
        "devices`.";
    if (status != WARPSEAL_OK)
        return {name, CheckResult::problem, warpseal_status_text(status), advice};
    size_t tried = 0;
    const std::string failures = failures_of(engine.get(), tried);
    if (!failures.empty()) return {name, CheckResult::problem, failures, advice};
    return {
        name, CheckResult::ok,
        cli::format(
            "{} ciphers in their modes and sets of NTRU: known answers and round trips are right",
            tried),
        ""};
}

void examine_random_source(Findings& findings) {
    uint8_t bytes[32];
    if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof bytes))
        findings.push_back({"random source", CheckResult::ok, "getrandom(2) answers", ""});
    else
        findings.push_back(
            {"random source", CheckResult::problem,
             cli::format("getrandom(2): {}: keys and IVs come from there", strerror(errno)),
             errno == EAGAIN
                 ? "The kernel has not gathered enough yet: wait, or start after "
                   "systemd-random-seed."
                 : "A sandbox or an old kernel (before 3.17) keeps it away: let it through."});
}

constexpr rlim_t least_locked = rlim_t{1} << 20, least_descriptors = 1024;

void examine_limit(Findings& findings, const char* subject, int resource, rlim_t least,
                   const std::string& why, const std::string& advice) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) {
        findings.push_back({subject, CheckResult::warning, strerror(errno), ""});
        return;
    }
    const bool bytes = resource != RLIMIT_NOFILE;
    const std::string found = bytes ? limit_text(limit.rlim_cur) : std::to_string(limit.rlim_cur);
    if (limit.rlim_cur >= least)
        findings.push_back({subject, CheckResult::ok, found, ""});
    else
        findings.push_back({subject, CheckResult::warning, found + ": " + why, advice});
}

}  // namespace

void examine_targets(Findings& findings) {
    for (const warpseal_target_info& target : all_targets()) {
        if (std::strcmp(target.name, "cuda") == 0) continue;  // GPUs have their own line.
        findings.push_back(target.usable
                               ? examine_target(target.name)
                               : Finding{target.name, CheckResult::note, target.reason, ""});
    }
}

void examine_gpus(Findings& findings) {
    for (const warpseal_target_info& target : all_targets()) {
        if (std::strcmp(target.name, "cuda") != 0) continue;
        std::error_code error;
        const bool driver = std::filesystem::exists("/dev/nvidiactl", error);
        if (!target.usable)
            findings.push_back({"GPU", driver ? CheckResult::warning : CheckResult::note,
                                target.reason,
                                driver ? "The NVIDIA driver is loaded: see that its version, and "
                                         "the rights on /dev/nvidia*, let this program in."
                                       : ""});
        warpseal_device_info gpu{};
        for (size_t i = 0; target.usable && warpseal_device_at(i, &gpu) == WARPSEAL_OK; ++i) {
            Finding finding = examine_target(cli::format("cuda:{}", i).c_str());
            finding.found = cli::format("{}, driver {}: {}", gpu.name, gpu.driver, finding.found);
            findings.push_back(finding);
        }
    }
}

void examine_limits(Findings& findings) {
    examine_random_source(findings);
    examine_limit(findings, "locked memory", RLIMIT_MEMLOCK, least_locked,
                  "keys that do not fit into it may be swapped out",
                  "Raise it: `ulimit -l`, or LimitMEMLOCK=64M in a systemd unit.");
    examine_limit(findings, "open files", RLIMIT_NOFILE, least_descriptors,
                  "a server has one for each connection",
                  "Raise it: `ulimit -n`, or LimitNOFILE=65536 in a systemd unit.");
    examine_limit(findings, "file size", RLIMIT_FSIZE, RLIM_INFINITY, "longer outputs fail",
                  "Raise it: `ulimit -f unlimited`, or LimitFSIZE=infinity in a systemd unit.");
}

}  // namespace warpseal::cli
