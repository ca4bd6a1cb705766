"""`warpseal doctor`: the machine, and the effect of many openssl.cnf files on the provider."""

import json
import os
import shutil

from program import NotRun, case, check, check_equal, main

GOOD = """
openssl_conf = openssl_init
config_diagnostics = 1
[openssl_init]
providers = provider_sect
[provider_sect]
default = default_sect
warpseal = warpseal_sect
[default_sect]
activate = 1
[warpseal_sect]
activate = 1
module = {module}
"""


def environment(p, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENSSL", "WARPSEAL"))}
    return {**kept, "HOME": p.directory, **more}


def module_of(p):
    """Returns the provider module in the build, beside the program."""
    module = os.path.join(os.path.dirname(p.path), "warpseal.so")
    if not os.path.exists(module) or shutil.which("openssl") is None:
        raise NotRun("no provider was built, or no `openssl` is installed")
    with open(module, "rb") as file:
        content = file.read()
    if b"__asan_init" in content or b"__tsan_init" in content:
        raise NotRun("the module has sanitizers in it, and stock openssl has not")
    return module


def doctor(p, text, *arguments, name="openssl.cnf", **more):
    """Returns the exit code and findings for that openssl.cnf."""
    p.write(name, text.encode())
    result = p.run("doctor", "openssl", "--json", "--config", p.file(name), *arguments, env=environment(p, **more))
    report = json.loads(result.out)
    check_equal(report["problems"], sum(f["result"] == "problem" for f in report["findings"]), "the count of problems")
    check_equal(result.code, 1 if report["problems"] else 0, f"the exit code of {report}")
    return result.code, report["findings"]


def problem(findings, *words):
    found = [f for f in findings if f["result"] == "problem" and all(word in f["found"] + f["advice"] for word in words)]
    check(found, f"no problem with {words} in {json.dumps(findings, indent=1)}")
    return found[0]


@case
def every_target_is_tried(p):
    """Prints one line for each listed target, of which one is tested here. The random source is
    among the working parts."""
    alone = environment(p, WARPSEAL_TARGETS="portable")
    result = p.run("doctor", "--json", "--openssl", "/nonexistent/openssl", env=alone)
    report = json.loads(result.out)
    by_subject = {f["subject"]: f for f in report["findings"]}
    for target in json.loads(p.ok("list", "--json", env=alone).out)["targets"]:
        if target["target"] != "cuda":
            check_equal(by_subject[target["target"]]["result"], "ok" if target["usable"] else "note", target["target"])
    check_equal(by_subject["random source"]["result"], "ok", "getrandom")
    check("NTRU" in by_subject["portable"]["found"], by_subject["portable"]["found"])
    problem(report["findings"], "/nonexistent/openssl")
    check_equal(result.code, 1, "exit code for a missing program")


@case
def text_for_people(p):
    result = p.run("doctor", "limits", "openssl", "--openssl", "/nonexistent/openssl", env=environment(p))
    lines = result.out.decode().splitlines()
    check(any(line.startswith("ok       random source") for line in lines), lines)
    check(lines[-1].endswith(" warnings") and lines[-1].startswith("1 problems"), lines[-1])


@case
def all_is_well(p):
    code, findings = doctor(p, GOOD.format(module=module_of(p)), "--provider")
    check_equal(code, 0, findings)
    check(any(f["subject"] == "providers" and f["result"] == "ok" for f in findings), findings)


@case
def the_fragment_as_it_is(p):
    """The installed fragment, after a system file without providers."""
    module = module_of(p)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../provider/install/warpseal.cnf.in")
    with open(source, encoding="utf-8") as file:
        fragment = file.read().replace("@warpseal_modules@", os.path.dirname(module))
    p.write("warpseal.cnf", fragment.encode())
    text = f"openssl_conf = openssl_init\n[openssl_init]\nssl_conf = ssl\n[ssl]\nserver = tls\n[tls]\nMinProtocol = TLSv1.2\n[ca]\n.include {p.file('warpseal.cnf')}\n"
    code, findings = doctor(p, text, "--provider")
    check_equal(code, 0, findings)


@case
def missing_default_provider(p):
    """OpenSSL issue 16249, also caused by another vendor's provider."""
    text = GOOD.format(module=module_of(p)).replace("default = default_sect\n", "")
    _, findings = doctor(p, text)
    problem(findings, "activates warpseal but not `default`", "default = default_sect")
    problem(findings, "OpenSSL has active: warpseal", "Both default and warpseal")
    problem(doctor(p, GOOD.format(module=module_of(p)).replace("[default_sect]\nactivate = 1", "[default_sect]"))[1], "but not `default`")


@case
def incomplete_chain_of_settings(p):
    good = GOOD.format(module=module_of(p))
    for gone, words in [("openssl_conf = openssl_init", ["has no `openssl_conf`"]), ("providers = provider_sect", ["[openssl_init] has no `providers`"]),
                        ("[provider_sect]", ["`providers = provider_sect`", "does not exist"]),
                        ("warpseal = warpseal_sect", ["has not `warpseal`"]), ("[warpseal_sect]", ["`warpseal = warpseal_sect`", "does not exist"])]:
        problem(doctor(p, good.replace(gone + "\n", "", 1))[1], *words)
    problem(doctor(p, good.replace("[warpseal_sect]\nactivate = 1", "[warpseal_sect]"))[1], "does not activate")


@case
def missing_module(p):
    module_of(p)
    found = problem(doctor(p, GOOD.format(module="/nonexistent/warpseal.so"))[1], "/nonexistent/warpseal.so is not there")
    check("warpseal.so there, or write" in found["advice"], found)
    problem(doctor(p, GOOD.format(module="x").replace("module = x\n", ""), OPENSSL_MODULES=p.directory)[1], p.file("warpseal.so") + " is not there")


@case
def unloadable_module(p):
    module_of(p)
    p.write("warpseal.so", b"no module\n")
    problem(doctor(p, GOOD.format(module=p.file("warpseal.so")))[1], "OpenSSL has active: default", "warpseal does not load", "warpseal.so")


@case
def invalid_setting(p):
    """The provider's own message is printed."""
    problem(doctor(p, GOOD.format(module=module_of(p)) + "max_batch = many\n")[1], "warpseal does not load", "max_batch", "many")
    problem(doctor(p, GOOD.format(module=module_of(p)) + "device = toaster\n")[1], "warpseal does not load", "device", "toaster")
    check_equal(doctor(p, GOOD.format(module=module_of(p)) + "device = cuda:31\n")[0], 0, "a device that is missing today")


@case
def without_the_provider_section(p):
    """Not a problem unless the user asks for the provider."""
    module_of(p)
    code, findings = doctor(p, "[req]\ndefault_bits = 2048\n")
    check_equal(code, 0, findings)
    check(any(f["subject"] == "module" and f["result"] == "note" for f in findings), findings)
    check_equal(doctor(p, "[req]\ndefault_bits = 2048\n", "--provider")[0], 1, "with --provider")


@case
def files_that_cannot_be_read(p):
    module_of(p)
    for text, words in [("[openssl_init\n", "without its ]"), ("a line\n", "neither"), ("x = $nothing\n", "has no value"),
                        ("x = ${ENV::WARPSEAL_NOBODY}\n", "not set"), (f".include {p.file('openssl.cnf')}\n", "without end")]:
        problem(doctor(p, text)[1], words)
    doubled = "a = x\n" + "a = $a$a\n" * 15
    check(not any("bytes or more" in f["found"] for f in doctor(p, doubled)[1]), "a value of 32 KiB")
    problem(doctor(p, doubled + "a = $a$a\n")[1], "65536 bytes or more")
    many = doctor(p, doubled + "b = $a\n" * 600)[1]
    check(any(f["result"] == "warning" and "more than 16 MiB" in f["found"] for f in many), many)
    result = p.run("doctor", "openssl", "--json", "--config", p.file("absent.cnf"), env=environment(p))
    problem(json.loads(result.out)["findings"], "absent.cnf cannot be read")
    check_equal(result.code, 1, "exit code of a missing file")


@case
def includes_quotes_variables(p):
    """Reads what libcrypto reads: included folders, quotes, comments, long lines, variables, names
    with their section."""
    module = module_of(p)
    os.mkdir(p.file("more"))
    p.write("more/providers.cnf", b"[list] # comment\ndefault = d\nmine.warpseal = \"w\"\n[d]\nactivate = \\\n 1\n[w]\nidentity = warpseal\nactivate = 1\n")
    p.write("more/ignored.txt", b"[broken\n")
    text = f"place = '{os.path.dirname(module)}'\ndefault::openssl_conf = init\nconfig_diagnostics = 1\n[init]\nproviders = list\n.include {p.file('more')}\n" \
           "w::module = ${default::place}/warpseal.so\n"
    code, findings = doctor(p, text, "--provider")
    check_equal(code, 0, findings)
    findings = doctor(p, text + ".include missing.cnf\n", "--provider")[1]
    check([f["result"] for f in findings if "missing.cnf" in f["found"]] == ["warning"] * 2, findings)


@case
def activation_before_3_2(p):
    """The stub reports its version, which decides the meaning of `activate = 0`."""
    module = module_of(p)
    text = GOOD.format(module=module).replace("[default_sect]\nactivate = 1", "[default_sect]\nactivate = 0")
    for version, words in [("3.0.19", None), ("3.5.0", "but not `default`")]:
        stub = p.write("stub", f"#!/bin/sh\n[ $1 = version ] || exec openssl \"$@\"\necho 'OpenSSL {version} today'\necho 'OPENSSLDIR: \"/x\"'\n"
                               f"echo 'MODULESDIR: \"/y\"'\n".encode(), 0o755)
        findings = doctor(p, text, "--openssl", stub)[1]
        if words:
            problem(findings, words)
        else:
            check(any(f["result"] == "warning" and "activates all the same" in f["found"] for f in findings), findings)
    stub = p.write("stub", b"#!/bin/sh\necho 'OpenSSL 1.1.1w  11 Sep 2023'\n", 0o755)
    problem(doctor(p, text, "--openssl", stub, "--provider")[1], "no providers")


main()
