"""Our module in OpenSSL 3.5 of Debian 13: OpenSSL's own ML-KEM is chosen as without the module, and
ours by property only.

Usage: chosen_test.py CHOSEN MODULE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import stacks
from stacks import peers

LISTS = (["list", "-tls-groups"], ["list", "-all-tls-groups"], ["list", "-tls1_3", "-tls-groups"])


def output(folder, *command):
    ran = subprocess.run(stacks.in_chroot(folder, *command), capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def same_groups(folder):
    """OpenSSL's groups, in its order, whether the module is there or not; ours are behind them."""
    peers.environment(f"{folder}/warpseal.so", folder)
    for arguments in LISTS:
        status, without = output(folder, "openssl", *arguments)
        stacks.require(status == 0, f"openssl {arguments}: {without}")
        status, beside = output(folder, "env", f"OPENSSL_CONF={folder}/openssl.cnf", "openssl", *arguments)
        stacks.require(status == 0 and "ntru_hps2048509" in beside, f"openssl {arguments} does not have our groups: {beside}")
        # libssl 3.5 lists each group once for each provider that has it.
        names = list(dict.fromkeys(name for name in beside.strip().split(":") if "ntru" not in name))
        stacks.require(names == without.strip().split(":"),
                       f"openssl {arguments}: {beside}, without the module {without}")


def main():
    chosen, module = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="warpseal-tls-") as folder:
        stacks.need_chroot(folder)
        certificate = peers.Certificate(folder)
        shutil.copy(module, f"{folder}/warpseal.so")
        shutil.copy(chosen, f"{folder}/chosen")
        status, said = output(folder, f"{folder}/chosen", folder, certificate.certificate_file, certificate.key_file)
        print(said)
        counts = re.search(r"^(\d+) passed, (\d+) failed$", said, re.M)
        passed, failed = map(int, counts.groups()) if counts else (0, 1)
        failed += status != 0 and failed == 0
        try:
            same_groups(folder)
            passed += 1
        except AssertionError as wrong:
            failed += 1
            print(f"FAILED {wrong}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
