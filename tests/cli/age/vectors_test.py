"""Every test file of C2SP/CCTV ends as its head says, and releases the plaintext that it names."""

import hashlib

from kit import kit_files
from program import case, check, check_equal, main

# Exit codes and the words of the message for each result.
RESULTS = {
    "success": ({0}, [""]),
    "no match": ({12}, ["no identity or passphrase opens it"]),
    "HMAC failure": ({13}, ["MAC of its header does not verify"]),
    "header failure": ({13, 14, 15, 17}, ["header"]),
    "armor failure": ({13, 14}, ["armor"]),
    "payload failure": ({13, 14}, ["payload"]),
}


@case
def every_file_ends_as_its_head_says(p):
    seen = set()
    for file in kit_files():
        result = p.run("decrypt", *file.options(p), input=file.content)
        codes, words = RESULTS[file.expect]
        check(result.code in codes, f"{file.name}: {file.expect}, but exit code {result.code}: {result.err}")
        for word in words:
            check(word in result.err, f"{file.name}: no {word!r} in {result.err!r}")
        if "payload" in file.values:
            check_equal(hashlib.sha256(result.out).hexdigest(), file.values["payload"][0], f"{file.name}: what came out")
        else:
            check_equal(result.out, b"", f"{file.name}: what came out")
        seen.add(file.expect)
    check_equal(seen, set(RESULTS), "results of the test files")


@case
def a_file_that_fails_leaves_no_output(p):
    for file in kit_files():
        if file.expect == "success":
            continue
        options = file.options(p)
        p.write("sealed", file.content)
        result = p.run("decrypt", *options, "sealed", "-o", "plain")
        check(result.code in RESULTS[file.expect][0], f"{file.name}: exit code {result.code}: {result.err}")
        check("Nothing was written to 'plain'" in result.err, f"{file.name}: {result.err}")
        p.fails(result.code, "cannot decrypt", "decrypt", *options, "sealed", "-o", "plain")


@case
def verify_says_the_same_without_output(p):
    for file in kit_files():
        result = p.run("verify", *file.options(p), input=file.content)
        codes, _ = RESULTS[file.expect]
        wanted = {26 if code in (13, 14) else code for code in codes}
        check(result.code in wanted, f"{file.name}: exit code {result.code}: {result.err}")
        check_equal(result.out, b"", file.name)


if __name__ == "__main__":
    main()
