"""Finds a cipher's functions in a C file, and the meaning of each of their arguments."""
import dataclasses
import re

from c_source import NotUnderstood, matching, number

INTEGERS = {
    "uint8_t": 1, "int8_t": 1, "unsigned char": 1, "char": 1, "signed char": 1, "void": 1,
    "uint16_t": 2, "unsigned short": 2, "uint32_t": 4, "int32_t": 4, "unsigned": 4,
    "unsigned int": 4, "int": 4, "uint64_t": 8, "int64_t": 8, "unsigned long": 8, "long": 8,
    "unsigned long int": 8, "long unsigned int": 8, "unsigned long long": 8,
    "long long unsigned int": 8, "unsigned long long int": 8, "size_t": 8, "short": 2,
    "unsigned short int": 2,
}
QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "static", "register",
              "extern", "inline", "__inline", "__inline__", "_Noreturn"}
TYPE_WORDS = {"unsigned", "signed", "char", "short", "int", "long", "void", "struct", "union",
              "enum", "float", "double", "_Bool", "bool"}
MODES = r"(ctr|cbc|cfb|ofb|gcm|xts|ecb|ccm|cmac|mac|key|setup|init|test|file|stream|blocks)"


@dataclasses.dataclass
class Argument:
    position: int
    text: str
    name: str
    base: str
    pointers: int
    dimensions: list  # numbers, or None where a bound is no number
    constant: bool

    @property
    def is_data(self):
        return self.base in INTEGERS and self.pointers == 1

    @property
    def bytes(self):
        """The size of an array that the prototype gives, or None."""
        if self.base not in INTEGERS or not self.dimensions or None in self.dimensions:
            return None
        size = INTEGERS[self.base]
        for dimension in self.dimensions:
            size *= dimension
        return size

    def __str__(self):
        return f"argument {self.position} '{self.text}'"


@dataclasses.dataclass
class Function:
    definition: object
    arguments: list

    @property
    def name(self):
        return self.definition.names[0]

    def __str__(self):
        return f"{self.name}({', '.join(a.text for a in self.arguments)})"


def bounds(tokens, source):
    """Splits off the array bounds of a declarator; returns the other words, and the bounds."""
    words, dimensions, i = [], [], 0
    while i < len(tokens):
        if tokens[i].text == "[":
            end = matching(tokens, i)
            inside = [t.text for t in tokens[i + 1:end - 1] if t.text not in QUALIFIERS]
            dimensions.append(number(inside, source.enumerators))
            i = end
        else:
            words.append(tokens[i].text)
            i += 1
    return words, dimensions


def is_constant(words):
    """True if the data behind the last pointer, or the array's elements, are const."""
    last = len(words) - 1 - words[::-1].index("*") if "*" in words else len(words)
    return "const" in words[:last]


def parse(tokens, position, source):
    words, dimensions = bounds(tokens, source)
    text = re.sub(r" ?([*\[\]]) ?", r" \1", " ".join(words)).replace("* ", "*")
    text += "".join(f"[{'' if d is None else d}]" for d in dimensions)
    if "(" in words or "..." in words:
        raise NotUnderstood(f"argument {position} '{text}' is not a pointer or an integer")
    plain = [w for w in words if w not in QUALIFIERS and w != "*"]
    name = ""
    if len(plain) > 1 and plain[-1] not in TYPE_WORDS and plain[-2] not in ("struct", "union",
                                                                            "enum"):
        name = plain.pop()
    pointers, base = words.count("*") + bool(dimensions), " ".join(plain)
    for _ in range(20):
        if base in INTEGERS or base not in source.typedefs:
            break
        typedef = source.typedefs[base].core[1:-1]
        if any(t.text in ("{", "(") for t in typedef):
            if typedef[0].text in ("struct", "union") and typedef[1].is_word:
                base = f"{typedef[0].text} {typedef[1].text}"
            break
        meaning, more = bounds(typedef, source)
        meaning = [w for w in meaning if w not in QUALIFIERS and w != base]
        pointers += meaning.count("*") + (bool(more) and not dimensions)
        dimensions = dimensions + more
        base = " ".join(w for w in meaning if w != "*")
    return Argument(position, text, name, base, pointers, dimensions,
                    is_constant([t.text for t in tokens]))


def function_of(definition, source):
    core, name = definition.core, definition.names[0]
    start = next(i for i, t in enumerate(core) if t.text == name) + 1
    inside, arguments, begin = core[start + 1:matching(core, start) - 1], [], 0
    depth = 0
    for i, token in enumerate([*inside, None]):
        if token is None or (token.text == "," and depth == 0):
            part = inside[begin:i]
            if part and [t.text for t in part] != ["void"]:
                try:
                    arguments.append(parse(part, len(arguments) + 1, source))
                except NotUnderstood as error:
                    raise NotUnderstood(f"{name} ({definition.place}): {error}") from None
            begin = i + 1
        elif token.text in "([":
            depth += 1
        elif token.text in ")]":
            depth -= 1
    return Function(definition, arguments)


def refuse(function, why):
    raise NotUnderstood(f"{function.name} ({function.definition.place}): {why}. A wrapper in a "
                        "file that includes this one can give it such a signature")


def choose(source, role, told, cipher, pattern, without, exact, option):
    """Returns the function of a role: the one that is told, or the only candidate by name."""
    functions = {d.names[0]: d for d in source.functions()}
    if told:
        if told not in functions:
            raise NotUnderstood(f"{option} {told}: {source.path.name} defines no such function; "
                                f"it defines {', '.join(functions) or 'none'}")
        return functions[told]
    found = [d for n, d in functions.items()
             if re.search(pattern, n, re.I) and not re.search(without, n, re.I)]
    public = [d for d in found if not d.has("static")]
    found = public or found
    named = [d for d in found if d.names[0].lower() in [e.format(cipher) for e in exact]]
    found = named[:1] or found
    if len(found) > 1:
        raise NotUnderstood(f"{len(found)} functions could be the {role}: " + ", ".join(
            f"{d.names[0]} ({d.place})" for d in found) + f"; choose one with {option} NAME")
    return found[0] if found else None


def key_roles(function, told_context):
    """Returns (context, key, length or None) of a key function."""
    pointers = [a for a in function.arguments if a.pointers]
    contexts = [a for a in pointers if not a.constant and not a.is_data]
    if told_context:
        contexts = [a for a in pointers if a.base == told_context]
    contexts = contexts or [a for a in pointers if not a.constant]
    if len(contexts) != 1:
        which = ", ".join(map(str, contexts)) or "none of its arguments"
        refuse(function, f"the context is the one pointer to data that is not const; {which} "
                         f"would be it; give --context TYPE, and make the key const")
    context = contexts[0]
    keys = [a for a in pointers if a is not context]
    if len(keys) != 1 or not keys[0].is_data:
        refuse(function, "beside its context it must take one pointer to the bytes of the key, "
                         "not " + (", ".join(map(str, keys)) or "none"))
    length = None
    for argument in function.arguments:
        if argument is context or argument is keys[0]:
            continue
        if argument.base not in INTEGERS or argument.pointers or length is not None \
                or not re.search(r"bit|len|size|byte", argument.name, re.I):
            refuse(function, f"{argument} is not understood; a key function takes the key, the "
                             "context and at most one length named ...bits, ...bytes or ...len")
        length = argument
    return context, keys[0], length


def block_roles(function, context):
    """Returns (context, in, out) of a block function; in is out if it works in place."""
    same = [a for a in function.arguments if a.base == context.base and a.pointers]
    if context.base in INTEGERS:
        for is_it in (lambda a: a.name == context.name,
                      lambda a: bool(a.dimensions) and a.dimensions == context.dimensions,
                      lambda a: re.search(r"key|ctx|rk|ks|sched|round", a.name, re.I)):
            if len([a for a in same if is_it(a)]) == 1:
                same = [a for a in same if is_it(a)]
                break
    by_value = [a for a in function.arguments if a.base == context.base and not a.pointers]
    if by_value and not same and context.base not in INTEGERS:
        refuse(function, f"{by_value[0]} is passed by value; pass a pointer to it")
    if len(same) != 1:
        refuse(function, f"exactly one argument must be a pointer to the context {context.base}; "
                         f"{len(same)} are ({', '.join(map(str, same)) or 'none'}); --context TYPE names "
                         "another type")
    data = [a for a in function.arguments if a is not same[0]]
    for argument in data:
        if not argument.is_data:
            refuse(function, f"{argument} is not understood; a block function takes the context, "
                             "a pointer to the input and a pointer to the output")
    if len(data) == 1 and not data[0].constant:
        return same[0], data[0], data[0]
    if len(data) != 2:
        refuse(function, f"{len(data)} pointers to text ({', '.join(map(str, data)) or 'none'}); "
                         "it must be an input and an output, or one block in place")
    constant = [a for a in data if a.constant]
    if len(constant) == 2:
        refuse(function, f"{data[0]} and {data[1]} are both const: none can be the output")
    if len(constant) == 1:
        source = constant[0]
    else:
        hints = [a for a in data if re.search(r"^(in|src|from|pt|plain)", a.name, re.I)]
        source = hints[0] if len(hints) == 1 else data[0]
    return same[0], source, next(a for a in data if a is not source)


ENCRYPT = (r"encrypt|encipher|(^|_)enc(_|$)", r"(^|_|set_?)" + MODES + r"(_|$)",
           ("{0}_encrypt", "{0}_encrypt_block", "{0}_enc"))
DECRYPT = (r"decrypt|decipher|(^|_)dec(_|$)", r"(^|_|set_?)" + MODES + r"(_|$)",
           ("{0}_decrypt", "{0}_decrypt_block", "{0}_dec"))
KEY = (r"key|setup|schedule|expand|init", r"(en|de)crypt(_block)?$|free|clear|wipe|test",
       ("{0}_key", "{0}_set_key", "{0}_setkey", "{0}_key_setup", "{0}_expand_key", "{0}_init",
        "{0}_key_schedule", "{0}_set_encrypt_key"))
