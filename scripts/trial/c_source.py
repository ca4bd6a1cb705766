"""Reads a C file: preprocesses it, and splits it into the declarations of its file scope."""
import dataclasses
import pathlib
import re
import subprocess

TOKEN = re.compile(
    r'(?P<marker>^\#[^\n]*)|(?P<newline>\n)|(?P<space>[ \t\r\f\v]+)|'
    r'(?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|[uUL]?\'(?:\\.|[^\'\\\n])*\')|'
    r"(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<word>[A-Za-z_$]\w*)|"
    r"(?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||\S)",
    re.M,
)
MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"([ \d]*)')
PAIRS = {"(": ")", "[": "]", "{": "}"}
ATTRIBUTES = ("__attribute__", "__attribute", "__asm__", "asm", "_Alignas", "__declspec")


class NotUnderstood(Exception):
    """The file has something that a trial cannot use; the text names it and the next step."""


@dataclasses.dataclass
class Token:
    text: str
    file: str
    line: int
    is_word: bool


@dataclasses.dataclass
class Declaration:
    """One declaration or definition at file scope. `core` has no attributes."""

    kind: str  # function, prototype, variable, typedef or type
    tokens: list
    core: list
    names: list
    system: bool

    @property
    def place(self):
        return f"{pathlib.Path(self.tokens[0].file).name}:{self.tokens[0].line}"

    def has(self, word):
        return any(token.text == word for token in self.core)


def matching(tokens, start):
    """Returns the index after the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(tokens)):
        if tokens[i].text in PAIRS:
            depth += 1
        elif tokens[i].text in PAIRS.values():
            depth -= 1
            if depth == 0:
                return i + 1
    raise NotUnderstood(f"{tokens[start].file}:{tokens[start].line}: "
                        f"'{tokens[start].text}' is never closed")


def without_attributes(tokens):
    result, i = [], 0
    while i < len(tokens):
        if tokens[i].text == "__extension__":
            i += 1
        elif tokens[i].text in ATTRIBUTES and i + 1 < len(tokens) and tokens[i + 1].text == "(":
            i = matching(tokens, i + 1)
        else:
            result.append(tokens[i])
            i += 1
    return result


def declarators(core):
    """Returns the names that a declaration of variables or a typedef declares."""
    names, last, depth, named = [], None, 0, False
    for token in core:
        depth -= token.text in PAIRS.values()
        if depth == 0 and token.text in (",", ";"):
            names.append(last)
            last, named = None, False
        elif depth == 0 and token.text == "=":
            named = True
        elif token.is_word and not named and (depth == 0 or last is None):
            last = token.text
        if depth == 0 and token.text == "[":
            named = True
        depth += token.text in PAIRS
    return [name for name in names if name]


def function_name(core):
    """Returns the word before the first parameter list at depth 0, or None."""
    depth = 0
    for before, token in zip(core, core[1:]):
        depth += (before.text in "([{") - (before.text in ")]}")
        if depth == 0 and token.text == "=":
            return None
        if depth == 0 and token.text == "(":
            return before.text if before.is_word else None
    return None


def classified(tokens, system):
    core = without_attributes(tokens)
    first = core[0].text
    name = function_name(core)
    if first == "typedef":
        return Declaration("typedef", tokens, core, declarators(core), system)
    if first in ("_Static_assert", "static_assert", ";"):
        return Declaration("other", tokens, core, [], system)
    if name and core[-1].text == "}":
        return Declaration("function", tokens, core, [name], system)
    if name:
        return Declaration("prototype", tokens, core, [name], system)
    if first in ("struct", "union", "enum") and core[-2].text == "}" or len(core) <= 3:
        return Declaration("type", tokens, core, [], system)
    return Declaration("variable", tokens, core, declarators(core), system)


def split(tokens, systems):
    """Splits the tokens of a translation unit into declarations."""
    result, start, i = [], 0, 0
    while i < len(tokens):
        ends = tokens[i].text == ";"
        if tokens[i].text in PAIRS:
            is_body = tokens[i].text == "{" and i > start
            before = without_attributes(tokens[start:i])
            i = matching(tokens, i) - 1
            ends = is_body and bool(before) and before[-1].text == ")" and function_name(
                before + [Token("{", "", 0, False)]) is not None
        if ends:
            result.append(classified(tokens[start:i + 1], tokens[start].file in systems))
            start = i + 1
        i += 1
    return result


def number(words, known):
    """Returns the value of a constant expression of numbers and known names, or None."""
    text = " ".join(str(known.get(w, re.sub(r"(?<=\d)[uUlL]+$", "", w))) for w in words)
    if not text or not re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+|[\s()+*/<>-])+", text):
        return None
    try:
        return int(eval(text.replace("/", "//"), {"__builtins__": {}}))  # numbers and operators
    except (SyntaxError, TypeError, ZeroDivisionError):
        return None


def enumerators(declarations):
    """Returns the values of the file's enumerators, as far as they are numbers."""
    known = {}
    for d in declarations:
        words = [t.text for t in d.core]
        if d.system or "enum" not in words or "{" not in words:
            continue
        start = words.index("{", words.index("enum"))
        value, item = -1, []
        for word in words[start + 1:]:
            if word not in (",", "}"):
                item.append(word)
                continue
            if item:
                value = number(item[2:], known) if len(item) > 2 else (
                    None if value is None else value + 1)
                if value is not None:
                    known[item[0]] = value
            item = []
            if word == "}":
                break
    return known


class Source:
    """A C file after its preprocessor. Its declarations keep their file and line."""

    def __init__(self, path, compiler, flags):
        self.path = pathlib.Path(path)
        run = subprocess.run([*compiler, *flags, "-E", str(path)], capture_output=True, text=True)
        if run.returncode:
            raise NotUnderstood(f"the preprocessor refuses {path}:\n{run.stderr.rstrip()}")
        self.systems, self.files = set(), []
        self.declarations = split(self.read(run.stdout), self.systems)
        self.enumerators = enumerators(self.declarations)
        self.typedefs = {name: d for d in self.declarations if d.kind == "typedef"
                         for name in d.names}
        self.definitions = {}
        for d in self.declarations:
            if d.system or d.kind not in ("function", "variable"):
                continue
            for name in d.names:
                known = self.definitions.get(name)
                if known is None or known.has("extern") or not known.has("="):
                    self.definitions[name] = d

    def read(self, text):
        tokens, file, line = [], str(self.path), 1
        for match in TOKEN.finditer(text):
            kind = match.lastgroup
            if kind == "newline":
                line += 1
            elif kind == "marker":
                marker = MARKER.match(match[0])
                if marker:
                    # The marker's own newline is counted, too.
                    line, file = int(marker[1]) - 1, marker[2]
                    # Flag 1 enters a file, 3 says that it is the system's. Within a user's file,
                    # 3 alone marks what a macro of the system expands to.
                    flags = marker[3].split()
                    if file.startswith("<") or ("1" in flags and "3" in flags):
                        self.systems.add(file)
                    elif file not in self.systems and file not in self.files:
                        self.files.append(file)
            elif kind != "space":
                tokens.append(Token(match[0], file, line, kind == "word"))
        return tokens

    def system_headers(self):
        """Returns the system headers that the user's own files include."""
        found = []
        for file in self.files:
            if not pathlib.Path(file).is_file():
                continue
            for name in re.findall(r"^\s*#\s*include\s*<([^>]+)>",
                                   pathlib.Path(file).read_text(errors="replace"), re.M):
                if name not in found and any(s.endswith("/" + name) for s in self.systems):
                    found.append(name)
        return found

    def functions(self):
        return [d for d in self.definitions.values() if d.kind == "function"]

    def reached_from(self, names):
        """Returns the functions and variables of the file that the named functions use."""
        reached, waiting = set(), list(names)
        declared = {n for d in self.declarations if not d.system and d.kind == "prototype"
                    for n in d.names}
        while waiting:
            name = waiting.pop()
            if name in reached:
                continue
            if name not in self.definitions:
                if name in declared:
                    raise NotUnderstood(
                        f"{name} is declared but not defined in {self.path.name}: a trial takes "
                        "one file; #include the file that defines it")
                continue
            reached.add(name)
            definition = self.definitions[name]
            if definition.kind == "variable" and definition.has("extern") \
                    and not definition.has("="):
                raise NotUnderstood(
                    f"the variable {name} ({definition.place}) is declared but not defined in "
                    f"{self.path.name}: #include the file that defines it")
            members = False
            for before, token in zip([None, *definition.tokens], definition.tokens):
                members = before is not None and before.text in (".", "->")
                if token.is_word and not members:
                    waiting.append(token.text)
        return reached
