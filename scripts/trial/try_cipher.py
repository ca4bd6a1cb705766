"""Takes a plain C block function as it is, checks it, and times it on cores and a GPU.

  scripts/new-cipher NAME --from cipher.c [--vectors FILE] [--build-only] [options]

The C file defines a key function, an encryption function and, if it likes, a decryption function:
  void NAME_key(const uint8_t *key, NAME_ctx *ctx);
  void NAME_encrypt(const NAME_ctx *ctx, const uint8_t in[16], uint8_t out[16]);
It is compiled unchanged for cores. For a GPU its declarations get __device__ or __constant__.

Limits:
  blocks     8 or 16 bytes
  arguments  context, input and output in any order, or one block in place; the key function may
             take a length; a wrapper in a file that includes this one adapts any other
  context    64 KiB at most, without pointers; decryption uses the same context
  GPU        the code must be C++ as well, and call nothing of the system but memcpy, memmove,
             memset, memcmp and byte swaps; tables at file scope alone move to other memories

Exit status:
  0   all that ran holds; parts that need a GPU may read NOT RUN
  1   a check failed
  2   wrong usage, or something in the file is not understood
  3   a compiler refuses the file
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

from c_source import NotUnderstood, Source
from generate import Trial
import signatures

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
C_FLAGS = ["-std=gnu11", "-O3"]
TIME_LIMIT = 300  # seconds for a run of the program


class Refused(Exception):
    """A compiler's message about the cipher."""


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/new-cipher", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", metavar="NAME", help="lower-case letters and digits")
    parser.add_argument("--from", dest="file", required=True, metavar="FILE", help="the C file")
    for role in ("key", "encrypt", "decrypt"):
        parser.add_argument(f"--{role}-function", metavar="F",
                            help=f"its {role} function, if it is not found by its name")
    parser.add_argument("--context", metavar="TYPE", help="type of the expanded key, such as "
                        "'struct ctx' or 'uint32_t[44]'")
    parser.add_argument("--key-bytes", type=int, metavar="N")
    parser.add_argument("--block-bytes", type=int, metavar="N", help="8 or 16")
    parser.add_argument("--vectors", metavar="FILE", help="known answers: lines of tests/vectors/"
                        "block (ECB), or lines KEY PLAINTEXT CIPHERTEXT in hexadecimal")
    parser.add_argument("--output", metavar="DIR", help="default: build/trial/NAME")
    parser.add_argument("--gpu", default="auto", metavar="ARCH", help="auto, none, or nvcc's name "
                        "without sm_, such as 90a for an H200; default: auto")
    parser.add_argument("--cflags", default="", metavar="FLAGS",
                        help="further flags for the C compiler, such as '-I include'")
    parser.add_argument("--build-only", action="store_true",
                        help="build the program, to run it on another machine")
    options = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9]*", options.name):
        parser.error(f"NAME '{options.name}' must be lower-case letters and digits")
    if not re.fullmatch(r"auto|none|\d+[af]?", options.gpu):
        parser.error(f"--gpu '{options.gpu}' must be auto, none or an architecture such as 90a")
    for option, path in (("--from", options.file), ("--vectors", options.vectors)):
        if path and not os.path.isfile(path):
            parser.error(f"{option} {path}: there is no such file")
    return options


def size_of(what, told, found, option):
    """A size from the option, or from the array bounds of the prototypes."""
    sizes = sorted({s for s in found if s})
    if told is None and len(sizes) != 1:
        known = " and ".join(map(str, sizes)) or "none"
        raise NotUnderstood(f"the size of the {what} is not clear: the prototypes give {known}; "
                            f"give it with {option} N")
    return told if told is not None else sizes[0]


def context_of(told, argument, source):
    """Returns the C type of the context and its parts for signatures."""
    if told:
        match = re.fullmatch(r"\s*([\w\s]+?)\s*((?:\[\s*\d+\s*\])*)\s*", told)
        if not match:
            raise NotUnderstood(f"--context '{told}' must be a type, such as 'struct ctx' or "
                                "'uint32_t[44]'")
        return told, match[1], [int(n) for n in re.findall(r"\d+", match[2])]
    if argument.base in signatures.INTEGERS:
        if not argument.dimensions or None in argument.dimensions:
            raise NotUnderstood(f"the context is {argument}, whose size the prototype does not "
                                f"give; give --context '{argument.base}[N]'")
        bounds = "".join(f"[{d}]" for d in argument.dimensions)
        return argument.base + bounds, argument.base, argument.dimensions
    refuse_pointers(argument.base, source)
    return argument.base, argument.base, []


def refuse_pointers(base, source):
    """A context is copied to the GPU, where a host pointer is worthless."""
    tag = base.split()[-1]
    for d in source.declarations:
        words = [t.text for t in d.core]
        named = tag in d.names or (len(words) > 2 and words[1] == tag) or words[1:3] == [
            "struct", tag]
        if d.kind in ("typedef", "type") and named and "{" in words:
            star = next((i for i, w in enumerate(words) if w == "*"), None)
            if star is not None:
                raise NotUnderstood(f"the context {base} ({d.place}) has the pointer member "
                                    f"'{words[star + 1]}'; a GPU needs the data in the context")


def bare_key(encrypt, options):
    """The roles where there is no key function: encryption takes the key itself."""
    keys = [a for a in encrypt.arguments
            if a.is_data and a.constant and re.fullmatch(r"k|key|userkey|master_?key", a.name, re.I)]
    if len(keys) != 1:
        raise NotUnderstood(f"no key function is found in {options.file}, and {encrypt} takes no "
                            "const key; name it with --key-function F")
    key = keys[0]
    size = size_of("key", options.key_bytes, [key.bytes], "--key-bytes")
    return f"{key.base}[{size // signatures.INTEGERS[key.base]}]", key


def understand(options, source):
    """Finds the functions and the roles of their arguments, and prints them."""
    def function(role, rules):
        option = f"--{role}-function"
        told = getattr(options, f"{role}_function")
        found = signatures.choose(source, f"{role} function", told, options.name, *rules, option)
        return found and signatures.function_of(found, source)

    encrypt = function("encrypt", signatures.ENCRYPT)
    if encrypt is None:
        names = ", ".join(d.names[0] for d in source.functions()) or "no function"
        raise NotUnderstood(f"no encryption function is found in {options.file}, which defines "
                            f"{names}; name it with --encrypt-function F")
    decrypt, key = function("decrypt", signatures.DECRYPT), function("key", signatures.KEY)
    if key is None:
        context_type, context = bare_key(encrypt, options)
        key_roles, key_sizes = (context, context, None), [context.bytes]
    else:
        told_base = context_of(options.context, None, source)[1] if options.context else None
        key_roles = signatures.key_roles(key, told_base)
        context = key_roles[0]
        context_type, context.base, context.dimensions = context_of(options.context, context,
                                                                    source)
        key_sizes = [key_roles[1].bytes]
    encrypt_roles = signatures.block_roles(encrypt, context)
    decrypt_roles = decrypt and signatures.block_roles(decrypt, context)
    sizes = [a.bytes for roles in (encrypt_roles, decrypt_roles or ()) for a in roles[1:]]
    key_bytes = size_of("key", options.key_bytes, key_sizes, "--key-bytes")
    block_bytes = size_of("block", options.block_bytes, sizes, "--block-bytes")
    if block_bytes not in (8, 16):
        raise NotUnderstood(f"blocks of {block_bytes} bytes are not supported: 8 or 16 "
                            "(--block-bytes)")
    if not 1 <= key_bytes <= 256:
        raise NotUnderstood(f"keys of {key_bytes} bytes are not supported: 1 to 256 (--key-bytes)")
    trial = Trial(options.name, source, key, key_roles, encrypt, encrypt_roles, decrypt,
                  decrypt_roles, context_type, key_bytes, block_bytes)
    print_found(trial)
    return trial


def print_found(trial):
    print(f"Found in {trial.source.path.name}")
    for role, function in (("key", trial.key), ("encrypt", trial.encrypt),
                           ("decrypt", trial.decrypt)):
        place = function.definition.place if function else ""
        print(f"  {role:8} {function or 'none'}  {place}".rstrip())
    tables = [v for v in trial.variables]
    print(f"  context  {trial.context_type}")
    _, source, out = trial.encrypt_roles
    where = "in place" if source is out else f"from {source.name} to {out.name}"
    print(f"  block    {trial.block_bytes} bytes, {where}; key {trial.key_bytes} bytes")
    print(f"  tables   {', '.join(tables) or 'none at file scope'}", flush=True)


def known_answers(options, trial):
    """Reads --vectors: rows of (key, plaintext, ciphertext)."""
    rows, others = [], 0
    for number, line in enumerate(open(options.vectors), 1) if options.vectors else ():
        if not line.strip() or line.startswith("#"):
            continue
        try:
            if line.lstrip().startswith("{"):
                row = json.loads(line)
                if row.get("mode", "ecb") != "ecb" or not row.get("valid", True):
                    others += 1
                    continue
                texts = row["key"], row["pt"], row["ct"]
            else:
                texts = line.split()
            key, plaintext, ciphertext = map(bytes.fromhex, texts)
        except (ValueError, KeyError, TypeError):
            raise NotUnderstood(f"--vectors {options.vectors}:{number}: neither a JSON object with "
                                "key, pt and ct nor three hexadecimal words") from None
        if len(plaintext) != len(ciphertext) or not plaintext or \
                len(plaintext) % trial.block_bytes:
            raise NotUnderstood(f"--vectors {options.vectors}:{number}: the texts must have equal "
                                f"length, a multiple of {trial.block_bytes} bytes")
        if len(key) == trial.key_bytes:
            rows.append((key, plaintext, ciphertext))
        else:
            others += 1
    if options.vectors:
        if not rows:
            raise NotUnderstood(f"--vectors {options.vectors}: no ECB row has a key of "
                                f"{trial.key_bytes} bytes")
        print(f"  vectors  {len(rows)} rows; {others} of other modes or key sizes are left out")
    return rows


def compile_with(command, folder):
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode:
        raise Refused(f"{shlex.join(map(str, command))}\n{(run.stderr + run.stdout).rstrip()}")
    sys.stderr.write(run.stderr)


def copy_sources(source, folder):
    """Copies the C file and the headers beside it, unchanged; returns the C file's new path."""
    base = source.path.resolve().parent
    for file in {str(source.path.resolve()), *source.files}:
        path = pathlib.Path(file).resolve()
        if path.is_file() and base in path.parents:
            copy = folder / "source" / path.relative_to(base)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    return f"source/{source.path.name}"


def find_nvcc():
    wheels = sorted((ROOT / ".venv/lib").glob("python3*/site-packages/nvidia/cu13/bin/nvcc"))
    for nvcc in (os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc", *wheels):
        if nvcc and os.access(nvcc, os.X_OK):
            return str(nvcc)
    return None


def architecture(told):
    """nvcc's name of the GPU found; the oldest with PTX where there is none."""
    if told != "auto":
        return told
    try:
        found = subprocess.run(
            ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
            capture_output=True, text=True).stdout.split()
    except OSError:
        found = []
    capability = found[0].replace(".", "") if found else "75"
    return "90a" if capability == "90" else capability


def copy_changed(template, folder):
    """Copies a template unless it is there already, so that its object stays up to date."""
    text, copy = (HERE / template).read_bytes(), folder / template
    if not copy.exists() or copy.read_bytes() != text:
        copy.write_bytes(text)
    return copy.stat().st_mtime


class Build:
    """The trial's directory and the commands that fill it."""

    def __init__(self, options, trial):
        self.options, self.trial = options, trial
        self.cc = shlex.split(os.environ.get("CC", "gcc"))
        self.cxx = shlex.split(os.environ.get("CXX", "g++"))
        self.folder = pathlib.Path(options.output or ROOT / "build/trial" / options.name).resolve()
        if self.folder == ROOT or (ROOT in self.folder.parents
                                   and ROOT / "build" not in self.folder.parents):
            raise NotUnderstood(f"--output {options.output} lies in the source tree; choose a "
                                "directory below build, or outside")
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())) \
                and not (self.folder / "trial.h").exists():
            raise NotUnderstood(f"--output {self.folder} has files that are no trial's; choose "
                                "another directory")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.c_flags = C_FLAGS + shlex.split(options.cflags)

    def cores(self, vectors):
        """Builds the program for cores alone, and writes the device code."""
        changed = max(copy_changed(template, self.folder) for template in (
            "trial.h", "gpu.h", "main.cpp", "no_gpu.cpp", "gpu.cu"))
        include = copy_sources(self.trial.source, self.folder)
        (self.folder / "adapter.c").write_text(self.trial.adapter(include, vectors))
        beside = ["-I", str(self.trial.source.path.resolve().parent)]
        compile_with([*self.cc, *self.c_flags, *beside, "-c", "adapter.c"], self.folder)
        for name in ("main", "no_gpu"):
            done = self.folder / f"{name}.o"
            if not done.exists() or done.stat().st_mtime < changed:
                compile_with([*self.cxx, "-std=c++20", "-O2", "-pthread", "-c", f"{name}.cpp"],
                             self.folder)
        compile_with([*self.cxx, "-pthread", "-static-libstdc++", "-static-libgcc", "-o",
                      "trial-cores", "main.o", "adapter.o", "no_gpu.o"], self.folder)
        run = subprocess.run([self.folder / "trial-cores", "--sizes"], capture_output=True,
                             text=True, check=True)
        sizes = map(int, run.stdout.split())
        (self.folder / "device_cipher.cuh").write_text(self.trial.device_code(*sizes))

    def gpu_command(self, nvcc):
        return [nvcc, "-std=c++20", "-O3", "-w", f"-arch=sm_{architecture(self.options.gpu)}",
                "-ccbin", self.cxx[0], "-Xcompiler",
                "-pthread,-static-libstdc++,-static-libgcc", "-o", "trial", "gpu.cu", "main.o",
                "adapter.o"]


def run(program, folder):
    sys.stdout.flush()
    try:
        code = subprocess.run([folder / program], timeout=TIME_LIMIT).returncode
    except subprocess.TimeoutExpired:
        print(f"  WRONG: {program} did not end within {TIME_LIMIT} s", file=sys.stderr)
        return 1
    if code < 0:
        print(f"  WRONG: {program} was ended by {signal.Signals(-code).name}: a function of the "
              "cipher reads or writes outside its memory", file=sys.stderr)
        return 1
    return code


def next_steps(name, program, build_only):
    if build_only:
        print(f"Built, not run: {program}")
        print("It has no GPU code." if program.name == "trial-cores" else
              "Copy that one file to a machine with a GPU and run it there. With --require-gpu its "
              "status\nis 77 if there is none.")
    print(f"""
A trial is no product: look-ups at secret addresses are not constant-time, and the keys here are
never wiped. Next: scripts/new-cipher {name} words (or bytes) writes the skeleton of a header for
all modes, cores and GPUs; docs/adding-a-cipher.md explains it.""")


def main():
    options = arguments()
    cc = shlex.split(os.environ.get("CC", "gcc"))
    source = Source(options.file, cc, C_FLAGS + shlex.split(options.cflags))
    trial = understand(options, source)
    build = Build(options, trial)
    build.cores(known_answers(options, trial))
    print(f"\nIn {os.path.relpath(build.folder)}\n  compiled for cores with {' '.join(build.cc)} "
          f"{' '.join(build.c_flags)}", flush=True)
    nvcc, program, refused = find_nvcc(), "trial-cores", None
    if options.gpu == "none":
        print("  GPU code NOT COMPILED: --gpu none")
    elif nvcc is None:
        print("  GPU code NOT COMPILED: no nvcc on PATH or in /usr/local/cuda. scripts/find-nvcc "
              "90a\n  installs one; or run this where there is one, in this directory:\n    "
              + shlex.join(build.gpu_command("nvcc")))
    else:
        try:
            compile_with(build.gpu_command(nvcc), build.folder)
            program = "trial"
            print(f"  compiled for sm_{architecture(options.gpu)} with {nvcc}")
        except Refused as error:
            refused = error
            print("  GPU code REFUSED by nvcc: see below")
    print(flush=True)
    code = 0 if options.build_only else run(program, build.folder)
    if refused:
        print(f"\nscripts/new-cipher: nvcc refuses {options.file} as device code, which is C++ "
              f"without the system's functions:\n{refused}", file=sys.stderr)
        code = code or 3
    if code == 0:
        next_steps(options.name, build.folder / program, options.build_only)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NotUnderstood as error:
        sys.exit((print(f"scripts/new-cipher: {error}", file=sys.stderr), 2)[1])
    except Refused as error:
        print(f"scripts/new-cipher: the compiler refuses the file:\n{error}", file=sys.stderr)
        sys.exit(3)
