"""`info` of age files."""

import json

import kit
from program import case, check, check_equal, main

PUBLIC = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"


def info(p, name):
    text = p.ok("info", name).out.decode()
    check("not authenticated" in text, text)
    values = json.loads(p.ok("info", "--json", name).out)
    check_equal((values["format"], values["version"], values["authenticated"]), ("age", 1, False), "the format")
    return text, values, [stanza["type"] for stanza in values["stanzas"]]


@case
def sizes_and_stanzas(p):
    for size in (0, 1, 65536, 65537, 200000):
        content = p.ok("encrypt", "--format", "age", "-r", PUBLIC, "-r", PUBLIC, input=bytes(size)).out
        p.write("sealed", content)
        text, values, types = info(p, "sealed")
        header = content.index(b"\n--- ") + 5 + 43 + 1
        check_equal((values["header_bytes"], values["file_bytes"], values["plaintext_bytes"]), (header, len(content), size), "sizes")
        check_equal((types, values["armored"], values["post_quantum"]), (["X25519", "X25519"], False, False), "stanzas")
        check(f"plaintext   {size} bytes" in text and "stanza 2    X25519" in text and "not protected" in text, text)
        check_equal(json.loads(p.ok("info", "--json", input=content).out)["plaintext_bytes"], None, "the size in a pipe")


@case
def other_stanzas(p):
    p.write("word", b"correct horse battery\n", 0o600)
    p.write("sealed", p.ok("encrypt", "--format", "age", "-a", "--passphrase-file", "word", input=b"text").out)
    text, values, types = info(p, "sealed")
    check_equal((types, values["armored"], values["plaintext_bytes"], values["post_quantum"]), (["scrypt"], True, None, True), "with a passphrase")
    check("scrypt, 2^18 rounds" in text and "armored" in text, text)
    p.ok("-q", "keygen", "--age", "--post-quantum", "-o", "identity")
    p.write("recipient", p.ok("keygen", "-y", "identity").out)
    p.write("sealed", p.ok("encrypt", "--format", "age", "-R", "recipient", input=b"text").out)
    text, values, types = info(p, "sealed")
    check_equal((types, values["post_quantum"]), (["mlkem768x25519"], True), "of a post-quantum recipient")
    header = p.read("sealed")
    p.write("sealed", header.replace(b"\n-> ", b"\n-> other \\\n\n-> ", 1))
    text, values, types = info(p, "sealed")
    check_equal((types, values["post_quantum"]), (["other", "mlkem768x25519"], None), "with another stanza")
    check("protection unknown" in text, text)


@case
def malformed_headers(p):
    for file in kit.kit_files():
        if file.expect != "armor failure":
            continue
        p.write("sealed", file.content)
        result = p.run("info", "sealed")
        check(result.code in (0, 13, 14, 15), f"{file.name}: {result.code} {result.err}")
    content = p.ok("encrypt", "--format", "age", "-r", PUBLIC, input=b"text").out
    for changed, code in ((content[:60], 14), (content.replace(b"v1\n", b"v2\n", 1), 15), (content.replace(b"\n-> ", b"\n->  ", 1), 13)):
        p.write("sealed", changed)
        p.fails(code, "cannot read the header of 'sealed'", "info", "sealed")
    for end in range(content.index(b"\n--- ") + 49, len(content)):
        p.write("sealed", content[:end])
        check_equal(p.ok("info", "--json", "sealed").code, 0, f"the first {end} bytes")


if __name__ == "__main__":
    main()
