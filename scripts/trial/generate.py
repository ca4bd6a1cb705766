"""Writes the files of a trial that depend on its cipher: the C adapter and the device code."""
from c_source import NotUnderstood
from signatures import INTEGERS

# Words of C++ that a C file may use as names.
CPP_WORDS = set("""alignas alignof and and_eq bitand bitor catch char16_t char32_t char8_t class
    compl concept consteval constexpr constinit const_cast co_await co_return co_yield decltype
    delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public reinterpret_cast requires static_cast template this
    throw try typeid typename using virtual wchar_t xor xor_eq""".split())
# Words of C as nvcc knows them. Qualifiers without effect on results are left out.
TO_CPP = {"restrict": "__restrict__", "__restrict": "__restrict__", "_Bool": "bool",
          "_Static_assert": "static_assert", "_Alignof": "alignof", "_Alignas": "alignas",
          "register": "", "_Noreturn": "", "__extension__": "", "volatile": "volatile",
          "__inline": "inline", "__inline__": "inline", "__const": "const"}
CONSTANT_BYTES = 65536 - 512  # a kernel's other constants take some of the 64 KiB
LAYOUT = "the context has another size in C++ than in C"
PRELUDE = """// Generated: the declarations of the C file that its block functions use, with execution and
// memory spaces added. Lines and names are those of the C file.
{headers}#include <cstdint>
#include <cstring>
#include <type_traits>

#define __builtin_bswap16(x) ((uint16_t)__byte_perm((x), 0, 0x4401))
#define __builtin_bswap32(x) __byte_perm((x), 0, 0x0123)
#define __builtin_bswap64(x) \\
    ((uint64_t)__byte_perm((uint32_t)(x), 0, 0x0123) << 32 | \\
     __byte_perm((uint32_t)((uint64_t)(x) >> 32), 0, 0x0123))
#define memmove device_memmove
#define memcmp device_memcmp
#define __bswap_16 __builtin_bswap16
#define __bswap_32 __builtin_bswap32
#define __bswap_64 __builtin_bswap64

#define TRIAL_CONSTANT {constant}
constexpr const char* trial_no_constant = "{why_not}";
constexpr unsigned trial_block_bytes = {block_bytes};
constexpr bool trial_decrypts = {decrypts};
"""


# Namespace of the C file's declarations, so that they meet no name of ours.
SCOPE = "c_file::"


def type_in(scope, base):
    """The name of a type of the C file, such as `struct c_file::context`."""
    *tag, name = base.split()
    return base if base in INTEGERS else " ".join([*tag, scope + name])


def pointer(argument, expression, scope):
    """Casts an expression to the type of an argument."""
    base = type_in(scope, argument.base)
    if len(argument.dimensions) > 1 and argument.pointers == 1:
        rest = "".join(f"[{d}]" for d in argument.dimensions[1:])
        return f"({base} (*){rest})(void *)({expression})"
    return f"({base} *)(void *)({expression})"


def call(function, values, scope):
    """The call of a function with the given expressions for its arguments."""
    return f"{scope}{function.name}({', '.join(values[a.position] for a in function.arguments)});"


def block_call(function, roles, block_bytes, scope=""):
    """The body of a function (context, in, out) that calls one of the C file's."""
    context, source, out = roles
    values = {context.position: pointer(context, "context", scope),
              source.position: pointer(source, "in", scope)}
    values[out.position] = pointer(out, "out", scope)
    copy = f"memcpy(out, in, {block_bytes}); " if source is out else ""
    return copy + call(function, values, scope)


def is_constant(variable):
    words = [t.text for t in variable.core]
    words = words[:words.index("=")] if "=" in words else words
    last = len(words) - 1 - words[::-1].index("*") if "*" in words else 0
    return "const" in words[last:]


def holds_addresses(variable, source):
    """True if a variable is a pointer, or its initializer names another variable."""
    words = [t.text for t in variable.core]
    start = words.index("=") if "=" in words else len(words)
    others = {w for w in words[start:] if w in source.definitions and w not in variable.names
              and source.definitions[w].kind == "variable"}
    return "*" in words[:start] or bool(others)


def refuse_shared_state(function):
    """A static variable in a function would be one for all threads."""
    words = [t.text for t in function.core]
    for i in range(words.index("{"), len(words)):
        if words[i] != "static":
            continue
        end = next(j for j in range(i, len(words)) if words[j] in (";", "="))
        if "const" not in words[i:end]:
            raise NotUnderstood(
                f"{function.names[0]} ({function.core[i].file}:{function.core[i].line}) has the "
                f"static variable '{' '.join(words[i + 1:end])}', which threads would share; "
                "remove static")


def string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def byte_list(data):
    return "{" + ", ".join(f"0x{b:02x}" for b in data) + "}"


def vector_text(vectors):
    lines = []
    for i, row in enumerate(vectors):
        for what, data in zip(("key", "plaintext", "ciphertext"), row):
            lines.append(f"static const uint8_t {what}_{i}[] = {byte_list(data)};")
    lines.append("static const struct trial_vector vectors[] = {")
    lines += [f"    {{key_{i}, plaintext_{i}, ciphertext_{i}, sizeof plaintext_{i}}},"
              for i in range(len(vectors))]
    return "\n".join(lines + ["    {NULL, NULL, NULL, 0}", "};"])


class Trial:
    """A cipher with the roles of its functions' arguments."""

    def __init__(self, name, source, key, key_roles, encrypt, encrypt_roles, decrypt,
                 decrypt_roles, context_type, key_bytes, block_bytes):
        self.name, self.source = name, source
        self.key, self.key_roles = key, key_roles
        self.encrypt, self.encrypt_roles = encrypt, encrypt_roles
        self.decrypt, self.decrypt_roles = decrypt, decrypt_roles
        self.context_type, self.key_bytes, self.block_bytes = context_type, key_bytes, block_bytes
        self.reached = source.reached_from([f.name for f in (encrypt, decrypt) if f])
        self.variables = []
        for name in sorted(self.reached):
            variable = source.definitions[name]
            if variable.kind != "variable":
                refuse_shared_state(variable)
                continue
            if not is_constant(variable) and holds_addresses(variable, source):
                raise NotUnderstood(
                    f"the variable {name} ({variable.place}) holds a pointer that changes at run "
                    "time, which a GPU cannot follow; make it const, or an array")
            self.variables.append(name)

    def expand_body(self):
        if self.key is None:
            return f"memcpy(context, key, {self.key_bytes});"
        context, key, length = self.key_roles
        values = {context.position: pointer(context, "context", ""),
                  key.position: pointer(key, "key", "")}
        if length is not None:
            values[length.position] = str(
                8 * self.key_bytes if "bit" in length.name.lower() else self.key_bytes)
        return call(self.key, values, "")

    def adapter(self, include, vectors):
        """The C file that includes the cipher's and gives its functions one signature."""
        main = "main" in self.source.definitions
        signature = "(const void *context, const uint8_t *in, uint8_t *out)"
        lines = ["/* Generated. */", "#define main cipher_file_main" if main else "",
                 f'#include "{include}"', "#undef main" if main else "", "",
                 "#include <string.h>", "", '#include "trial.h"', "",
                 "static void trial_expand(const uint8_t *key, void *context) {",
                 f"    {self.expand_body()}", "}",
                 f"static void trial_encrypt{signature} {{",
                 f"    {block_call(self.encrypt, self.encrypt_roles, self.block_bytes)}", "}"]
        if self.decrypt:
            lines += [f"static void trial_decrypt{signature} {{",
                      f"    {block_call(self.decrypt, self.decrypt_roles, self.block_bytes)}", "}"]
        lines += [vector_text(vectors), "static const struct trial_variable variables[] = {"]
        lines += [f'    {{"{v}", (void *)&{v}, sizeof {v}, '
                  f"{int(is_constant(self.source.definitions[v]))}}}," for v in self.variables]
        lines += ["    {NULL, NULL, 0, 1}", "};", "const struct trial_cipher cipher_under_trial = {"]
        fields = {
            "name": string(self.name), "encrypt_name": string(self.encrypt.name),
            "decrypt_name": string(self.decrypt.name) if self.decrypt else "NULL",
            "key_name": string(self.key.name if self.key else "the copy of the key"),
            "context_name": string(self.context_type), "key_bytes": self.key_bytes,
            "block_bytes": self.block_bytes, "context_bytes": f"sizeof({self.context_type})",
            "expand": "trial_expand", "encrypt": "trial_encrypt",
            "decrypt": "trial_decrypt" if self.decrypt else "NULL", "variables": "variables",
            "variable_count": len(self.variables), "vectors": "vectors",
            "vector_count": len(vectors)}
        lines += [f"    .{name} = {value}," for name, value in fields.items()]
        return "\n".join(lines + ["};", ""])

    def why_not_constant(self, context_bytes, table_bytes):
        """Why the tables cannot lie in constant memory, or an empty text."""
        if context_bytes + table_bytes > CONSTANT_BYTES:
            return "tables and context exceed 64 KiB"
        for name in self.variables:
            if holds_addresses(self.source.definitions[name], self.source):
                # nvcc 13 takes the address of a __constant__ table in an initializer for 0.
                return f"{name} holds addresses of tables"
        return ""

    def device_code(self, context_bytes, table_bytes):
        """The device code, once for each memory that its tables may lie in."""
        why_not = self.why_not_constant(context_bytes, table_bytes)
        constant = not why_not
        headers = "".join(f"#include <{h}>\n" for h in self.source.system_headers())
        parts = [PRELUDE.format(headers=headers, constant=int(constant), why_not=why_not,
                                block_bytes=self.block_bytes,
                                decrypts=str(bool(self.decrypt)).lower())]
        parts += ["namespace in_global {", self.body("__device__ __align__(16)"),
                  self.cipher("global", "0", "return context;"),
                  f'static_assert(sizeof({self.device_context()}) == {context_bytes}, "{LAYOUT}");',
                  "}  // namespace in_global"]
        if constant:
            parts += ["namespace in_constant {", self.body("__constant__ __align__(16)"),
                      f"__constant__ __align__(16) uint8_t constant_context[{context_bytes}];",
                      self.cipher("constant", "0", "return constant_context;"),
                      "}  // namespace in_constant"]
        undefine = "#undef memmove\n#undef memcmp\n"
        return "\n".join([*parts, self.shared(context_bytes), self.copies(constant), undefine])

    def device_context(self):
        base, bracket, bounds = self.context_type.partition("[")
        return type_in(SCOPE, base.strip()) + bracket + bounds

    def shared(self, context_bytes):
        members = "".join(f"alignas(16) std::remove_cv_t<decltype(in_global::c_file::{v})> {v};\n"
                          for v in self.variables)
        copies = "".join(
            f"copy_to_shared(reinterpret_cast<uint8_t*>(&trial_tables().{v}), "
            f"reinterpret_cast<const uint8_t*>(&in_global::c_file::{v}), sizeof(TrialTables::{v}));\n"
            for v in self.variables)
        size = "sizeof(TrialTables)" if self.variables else "0"
        prepare = (f"{copies}copy_to_shared(shared_memory + {size}, context, {context_bytes});\n"
                   f"__syncthreads();\nreturn shared_memory + {size};")
        return "\n".join([
            "extern __shared__ __align__(16) uint8_t shared_memory[];", "", "namespace in_shared {",
            f"struct alignas(16) TrialTables {{\n{members}}};",
            "__device__ __forceinline__ TrialTables& trial_tables() {",
            "    return *reinterpret_cast<TrialTables*>(shared_memory);", "}", self.body(None),
            self.cipher("shared", f"{size} + {context_bytes}", prepare),
            "}  // namespace in_shared"])

    def cipher(self, place, shared_bytes, prepare):
        """The structure that the kernels take."""
        signature = "(const uint8_t* context, const uint8_t* in, uint8_t* out)"
        encrypt = block_call(self.encrypt, self.encrypt_roles, self.block_bytes, SCOPE)
        decrypt = self.decrypt and block_call(self.decrypt, self.decrypt_roles, self.block_bytes,
                                              SCOPE)
        return "\n".join([
            '\n#line 1 "device_cipher.cuh"', "struct Cipher {",
            f'static constexpr const char* place = "{place}";',
            f"static constexpr size_t shared_bytes = {shared_bytes};",
            f"static __device__ const uint8_t* prepare(const uint8_t* context) {{\n{prepare}\n}}",
            f"static __device__ void encrypt{signature} {{ {encrypt} }}",
            f"static __device__ void decrypt{signature} {{ {decrypt or ''} }}", "};"])

    def copies(self, constant):
        """Copies what is known at run time alone: variables that are not const, and the context."""
        lines = ["inline cudaError_t copy_tables(const uint8_t* context, size_t bytes) {",
                 "cudaError_t error = cudaSuccess;", "(void)context, (void)bytes;"]
        places = ["in_global"] + ["in_constant"] * constant
        for i, name in enumerate(self.variables):
            if not is_constant(self.source.definitions[name]):
                lines += [f"if (error == cudaSuccess) error = cudaMemcpyToSymbol({place}::c_file::{name}, "
                          f"cipher_under_trial.variables[{i}].data, sizeof {place}::c_file::{name});"
                          for place in places]
        if constant:
            lines.append("if (error == cudaSuccess) error = cudaMemcpyToSymbol("
                         "in_constant::constant_context, context, bytes);")
        return "\n".join(lines + ["return error;", "}", ""])

    def body(self, table_space):
        """The reached declarations; without a space for tables, these lie in trial_tables()."""
        text = []
        for d in self.source.declarations:
            if d.system:
                continue
            if d.kind in ("typedef", "type"):
                text.append(written(d, "", {}))
            elif d.kind in ("function", "prototype") and d.names[0] in self.reached:
                space = "__device__" if d.has("static") else "static __device__"
                text.append(written(d, space, {} if table_space else self.renamed(d)))
            elif d.kind == "variable" and table_space and set(d.names) & self.reached:
                if any(self.source.definitions[n] is d for n in d.names):
                    text.append(written(d, table_space, {}))
        # A C name may be another C++ declaration's, so the file has a namespace of its own.
        return f"namespace c_file {{{''.join(text)}\n}}  // namespace c_file"

    def renamed(self, function):
        """Names of tables in a function's body, unless the function declares the name itself."""
        names = {}
        for before, token in zip(function.core, function.core[1:]):
            if token.text not in self.variables or before.text in (".", "->"):
                continue
            declares = before.is_word and before.text not in ("return", "sizeof", "case", "else")
            names[token.text] = (token.text if declares or names.get(token.text) == token.text
                                 else f"(trial_tables().{token.text})")
        return names


def written(declaration, space, renamed):
    """A declaration as C++, its lines as in the C file."""
    text, file, line, previous = [], None, 0, None
    # Attributes of a type decide its layout; those of functions are gcc's advice on speed.
    types = declaration.kind in ("typedef", "type")
    for i, token in enumerate(declaration.tokens if types else declaration.core):
        word = token.text
        if token.file != file or not 0 <= token.line - line < 20:
            text.append(f'\n#line {token.line} "{token.file}"\n')
        else:
            text.append("\n" * (token.line - line))
        file, line = token.file, token.line
        if i == 0:
            text.append(space + " ")
        if word == "extern" or (previous == "[" and word in ("static", "const", "restrict")):
            continue
        if token.is_word:
            if previous not in (".", "->"):
                word = renamed.get(word, word)
            word = TO_CPP.get(word, word + "_" if word in CPP_WORDS else word)
        text.append(word + " ")
        previous = token.text
    return "".join(text)
