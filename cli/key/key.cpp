// `warpseal key`: the commands' options, and `key list`.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/key/change.h"
#include "cli/key/files.h"
#include "cli/key/slot_text.h"
#include "cli/support/format.h"
#include "cli/support/output.h"

namespace warpseal::cli {
namespace {

void list_file(const std::string& path, const ManyChoice& choice, const Session& session,
               nlohmann::ordered_json& line) {
    warpseal_file_result result{};
    const std::string shown = path == "-" ? "standard input" : "'" + path + "'";
    const warpseal_file_info info =
        read_file_info(open_input(path).get(), "cannot list the keys of " + shown, result);
    nlohmann::ordered_json slots = slots_json(info);
    for (size_t i = 0; i < slots.size(); ++i) slots[i]["slot"] = i + 1;
    line["generation"] = info.generation;
    line["slots"] = slots;
    line["authenticated"] = false;
    if (!choice.json) print_output(printable(path) + ":\n" + slot_lines(info, "  {:>2}  {}\n"));
    if (result.header_copies_differ != 0)
        remark(session, cli::format("'{}': one of the two copies of its header is damaged or "
                                    "outdated. `key add`, `remove`, `passwd` and `rotate` write "
                                    "both again.",
                                    path));
}

void add_files(CLI::App& command, ManyChoice& choice, const char* text) {
    command.add_option("file", choice.inputs, text)->type_name("FILE...");
    add_many_options(command, choice);
}

void add_list_command(CLI::App& key, Session& session) {
    auto choice = std::make_shared<ManyChoice>();
    CLI::App* command = key.add_subcommand("list", "Show the key slots of files, without a key");
    add_files(*command, *choice, "sealed files");
    command->callback([choice, &session] {
        session.command = [choice, &session] {
            return for_each_key_file(find_key_files(*choice, session), *choice, false,
                                     [&](const std::string& path, nlohmann::ordered_json& line) {
                                         list_file(path, *choice, session, line);
                                     });
        };
    });
}

void add_new_passphrase_options(CLI::App& command, KeyChoice& choice) {
    command.add_flag("--new-passphrase", choice.fresh.ask,
                     "ask for the new passphrase on the terminal, twice");
    command
        .add_option("--new-passphrase-file", choice.fresh.passphrase_files,
                    "new passphrase: the one line of this file")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        .add_option("--new-passphrase-fd", choice.fresh.passphrase_descriptor,
                    "new passphrase: the one line read from this open descriptor")
        ->type_name("N")
        ->check(CLI::Range(0, 1 << 20));
    command
        .add_option("--argon2-memory", choice.argon2_memory_mib,
                    "memory for the new passphrase's key derivation, MiB (default 256)")
        ->type_name("MIB")
        ->check(CLI::Range(1, 1024));
    command
        .add_option("--argon2-passes", choice.argon2_passes,
                    "passes of the key derivation (default 3)")
        ->type_name("N")
        ->check(CLI::Range(1, 16));
}

void add_change_command(CLI::App& key, KeyTask task, const char* name, const char* about,
                        const char* example, Session& session) {
    auto choice = std::make_shared<KeyChoice>();
    CLI::App* command = key.add_subcommand(name, about);
    if (task == KeyTask::remove)
        command->add_option("slot", choice->slot, "number of the slot in `warpseal key list`")
            ->type_name("SLOT")
            ->required()
            ->check(CLI::Range(1, WARPSEAL_MAX_SLOTS));
    add_files(*command, choice->many, "sealed files, changed in place, one after another");
    if (task != KeyTask::passwd) add_key_options(*command, choice->old);
    if (task != KeyTask::rotate) add_passphrase_options(*command, choice->old);
    if (task == KeyTask::add || task == KeyTask::remove) {
        add_identity_option(*command, choice->age);
        add_plugin_option(*command, choice->age,
                          "open the file with the age plugin age-plugin-NAME");
    }
    if (task == KeyTask::add) add_recipient_options(*command, choice->age);
    if (task == KeyTask::add) {
        command
            ->add_option("--new-key", choice->fresh.key_files,
                         "key file to add; may be given several times")
            ->type_name("KEYFILE")
            ->allow_extra_args(false);
        command
            ->add_option("--new-key-command", choice->fresh.key_commands,
                         "key to add: what this shell command prints")
            ->type_name("COMMAND")
            ->allow_extra_args(false);
    }
    if (task == KeyTask::add || task == KeyTask::passwd)
        add_new_passphrase_options(*command, *choice);
    if (task == KeyTask::rotate)
        command
            ->add_option_function<std::string>(
                "--to", [choice](const std::string& path) { choice->fresh.key_files = {path}; },
                "key file that replaces the old one")
            ->type_name("KEYFILE")
            ->required();
    command->footer(std::string("Example:\n  ") + example);
    command->callback([task, choice, &session] {
        session.command = [task, choice, &session] { return change_keys(task, *choice, session); };
    });
}

}  // namespace

void add_key(CLI::App& program, Session& session) {
    CLI::App* key = program.add_subcommand(
        "key", "List and change the keys, passphrases and recipients that open sealed files");
    key->require_subcommand(1);
    key->fallthrough();
    add_list_command(*key, session);
    add_change_command(*key, KeyTask::add, "add", "Add a key file, a passphrase or a recipient",
                       "warpseal key add -k my.key --new-passphrase disk.img.ws", session);
    add_change_command(*key, KeyTask::remove, "remove",
                       "Remove a slot; another that you can open must stay",
                       "warpseal key remove 2 -k my.key disk.img.ws", session);
    add_change_command(*key, KeyTask::passwd, "passwd", "Replace a passphrase by another",
                       "warpseal key passwd photos.tar.ws", session);
    add_change_command(*key, KeyTask::rotate, "rotate", "Replace a key file by another",
                       "warpseal key rotate -k old.key --to new.key *.ws", session);
    key->footer(
        "The contents are not encrypted again, so a removed key is not revoked. A crash at any\n"
        "moment leaves a file that opens with the old or the new keys.");
}

}  // namespace warpseal::cli
