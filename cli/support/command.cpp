// Functions shared by the commands: creating the engine and printing messages.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cli/support/ciphers.h"
#include "cli/support/command.h"
#include "cli/support/format.h"
#include "cli/support/run/file_run.h"
#include "cli/support/words/suggest.h"
#include "warpseal/error.h"

namespace warpseal::cli {
namespace {

void pass_on_notice(void*, const char* text) { complain(text); }

// Accepts "0" or "0,1": numbers of at most three digits without duplicates.
bool is_number_list(const std::string& text) {
    std::set<int> seen;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        const std::string number = text.substr(at, end - at);
        if (number.empty() || number.size() > 3 ||
            number.find_first_not_of("0123456789") != std::string::npos)
            return false;
        if (!seen.insert(std::stoi(number)).second) return false;
        at = end + 1;
    }
    return true;
}

// Accepts device names, including "cuda:0". A name that no target has is a usage error, not a
// missing device.
bool is_device_name(const std::string& device) {
    if (device.rfind("cuda:", 0) == 0) return is_number_list(device.substr(5));
    const std::vector<std::string> names = device_names();
    return std::find(names.begin(), names.end(), device) != names.end();
}

// Returns the name for messages, and where it comes from if that is not the command line.
std::string shown_device(const std::string& device) {
    const char* const environment = getenv("WARPSEAL_DEVICE");
    const bool is_that = environment != nullptr && lower_case(environment) == device;
    return cli::format("'{}'{}", device, is_that ? " of WARPSEAL_DEVICE" : "");
}

std::string reason_against(const std::string& device) {
    for (const warpseal_target_info& target : all_targets())
        if (device.substr(0, device.find(':')) == target.name && target.reason[0])
            return cli::format(" ({})", target.reason);
    return "";
}

}  // namespace

ExitCode exit_code_of(warpseal_status status) {
    switch (status) {
        case WARPSEAL_OK: return ExitCode::ok;
        case WARPSEAL_UNSUPPORTED: return ExitCode::unsupported;
        case WARPSEAL_LIMIT_EXCEEDED: return ExitCode::limit_exceeded;
        case WARPSEAL_WRONG_KEY: return ExitCode::wrong_key;
        case WARPSEAL_NOT_AUTHENTIC: return ExitCode::not_authentic;
        case WARPSEAL_TRUNCATED: return ExitCode::truncated;
        case WARPSEAL_IO: return ExitCode::input_output;
        case WARPSEAL_NO_DEVICE: return ExitCode::device_not_usable;
        case WARPSEAL_SELF_TEST_FAILED: return ExitCode::self_test_failed;
        case WARPSEAL_CANCELLED: return ExitCode::interrupted;
        case WARPSEAL_INVALID_ARGUMENT: return ExitCode::usage;
        case WARPSEAL_WEAK_KEY: return ExitCode::weak_key;
        case WARPSEAL_BAD_PADDING: return ExitCode::bad_padding;
        case WARPSEAL_OUT_OF_MEMORY:
        case WARPSEAL_NO_RANDOM: break;
    }
    return ExitCode::error;
}

void add_engine_options(CLI::App& command, EngineChoice& choice) {
    command
        .add_option("--device", choice.device,
                    "auto, cpu, cuda, cuda:N, cuda:N,M for several GPUs, or one target of "
                    "`warpseal list`; only auto falls back")
        ->type_name("DEVICE")
        ->envname("WARPSEAL_DEVICE")
        ->transform(any_case());
    command
        .add_option("--threads", choice.threads,
                    "threads on the processor (default: all that this process may use)")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
}

EngineHandle create_engine(const EngineChoice& choice, Session& session) {
    if (session.file == nullptr) return create_engine(choice);
    return session.file->run.engine(choice.device, [&choice] { return create_engine(choice); });
}

EngineHandle create_engine(const EngineChoice& choice) {
    if (!is_device_name(choice.device))
        throw Failure(
            ExitCode::usage,
            cli::format("there is no device {}: use auto, cpu, cuda, cuda:N, cuda:N,M "
                        "or a target of `warpseal list`.{}",
                        shown_device(choice.device), did_you_mean(choice.device, device_names())));
    warpseal_engine_options options{};
    options.struct_bytes = sizeof options;
    options.threads = choice.threads;
    options.device = choice.device.c_str();
    options.notice = pass_on_notice;
    warpseal_engine* engine = nullptr;
    const warpseal_status status = warpseal_engine_create(&options, &engine);
    if (status == WARPSEAL_NO_DEVICE)
        throw Failure(
            ExitCode::device_not_usable,
            cli::format(
                "device {} cannot be used on this machine{}: `warpseal devices` shows what can; "
                "--device auto takes what works.",
                shown_device(choice.device), reason_against(choice.device)));
    if (status == WARPSEAL_INVALID_ARGUMENT)
        throw Failure(exit_code_of(status),
                      cli::format("cannot start: {}.", warpseal_last_error_message()));
    if (status != WARPSEAL_OK)
        throw Failure(exit_code_of(status),
                      cli::format("cannot start: {}", warpseal_status_text(status)));
    return EngineHandle(engine);
}

std::string printable(const std::string& text) {
    std::string shown;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<uint8_t>(text[i]),
                   next = static_cast<uint8_t>(i + 1 < text.size() ? text[i + 1] : 0);
        if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next < 0xa0))
            shown += cli::format("\\x{:02x}", byte);
        else
            shown += text[i];
    }
    return shown;
}

void print_error(const std::string& text) { (void)!fwrite(text.data(), 1, text.size(), stderr); }

void complain(const std::string& text) { print_error("warpseal: " + printable(text) + "\n"); }

void remark(const Session& session, const std::string& text) {
    if (!session.quiet) complain(text);
}

void print_output(const std::string& text) {
    errno = 0;
    // The stream keeps the error of an earlier write, but not its errno.
    if (fwrite(text.data(), 1, text.size(), stdout) != text.size() || fflush(stdout) != 0 ||
        ferror(stdout) != 0)
        throw Failure(ExitCode::input_output, cli::format("cannot write to standard output: {}.",
                                                          strerror(errno ? errno : EIO)));
}

std::string check_seconds(const std::string& text) {
    double seconds = 0;
    const bool good =
        CLI::detail::lexical_cast(text, seconds) && seconds >= 0.001 && seconds <= 3600;
    return good ? "" : cli::format("'{}' is no number from 0.001 to 3600", text);
}

CLI::Validator size_value() {
    return CLI::Validator(
        [size = CLI::AsSizeValue(true)](std::string& text) {
            uint64_t number = 0;
            const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
            if (read.ec == std::errc()) return size(text);
            return cli::format("'{}' is no number of bytes", text);
        },
        "");
}

CLI::Validator any_case() {
    return CLI::Validator(
        [](std::string& text) {
            text = lower_case(text);
            return std::string();
        },
        "");
}

std::string human_bytes(uint64_t bytes) {
    static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return cli::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
    return cli::format("{:.1f} {}", value, units[unit]);
}

std::string hexadecimal(const void* bytes, size_t byte_count) {
    std::string text;
    for (size_t i = 0; i < byte_count; ++i)
        text += cli::format("{:02x}", static_cast<const uint8_t*>(bytes)[i]);
    return text;
}

std::vector<uint8_t> from_hexadecimal(const std::string& text, const char* option) {
    std::vector<uint8_t> bytes;
    if (text.size() % 2 != 0 ||
        text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        throw Failure(ExitCode::usage,
                      cli::format("{} takes an even number of hexadecimal digits.", option));
    for (size_t i = 0; i < text.size(); i += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return bytes;
}

}  // namespace warpseal::cli
