"""Seeded damage to files: to their bytes, to JSON in them, to the members of archives."""

import copy
import io
import json
import warnings
import zipfile

STRANGE_VALUES = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        10**9,
        -(10**9),
        2**63,
        2**64,
        10**400,
        1e308,
        -1e308,
        5e-324,
    ),
    *("", "x", "nan", "1", "\x00", "\x1b[2J", "é", "٣", "\ud800", "a" * 10_000),
    *([], {}, [[]], [None], {"": None}, [0] * 1000, {"k": {"k": {"k": []}}}),
)
STRANGE_BYTES = (
    *(b"", b"\x00", b"\xff\xfe", b"\x80", b"\n", b"\r", b'"', b"'", b",", b";", b"{", b"[", b"]"),
    *(b"\xed\xa0\x80", b"1e999", b"NaN", b"-Infinity", b"9" * 400, b"9" * 5000, b"[" * 3000),
    *(b"\xff" * 4, b"\xff" * 8, b"\x7f\xff\xff\xff", b"\x00" * 64, b"PK\x05\x06", b"\x1f\x8b"),
)


def damaged_bytes(data, rng):
    """The bytes, with one to three places changed."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place = rng.randrange(len(found) + 1)
        # Headers are short and at the ends: aim there half of the time.
        if rng.random() < 0.5:
            near = rng.randrange(min(len(found), 200) + 1)
            place = near if rng.random() < 0.7 else len(found) - near
        kind = rng.randrange(7)
        if kind == 0:
            del found[place:]
        elif kind == 1 and place < len(found):
            found[place] ^= 1 << rng.randrange(8)
        elif kind == 2 and place < len(found):
            found[place] = rng.randrange(256)
        elif kind == 3:
            found[place:place] = rng.choice(STRANGE_BYTES)
        elif kind == 4:
            strange = rng.choice(STRANGE_BYTES)
            found[place : place + len(strange)] = strange
        elif kind == 5:
            start = rng.randrange(len(found) + 1)
            found[place:place] = found[start : start + rng.randrange(1, 200)]
        else:
            del found[place : place + rng.randrange(1, 50)]
    return bytes(found)


def damaged_value(value, rng):
    """Plain data, with one value in it exchanged, removed, nested or doubled."""
    found = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2))):
        places = list(_places(found))
        if not places:
            return rng.choice(STRANGE_VALUES)
        owner, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind == 0:
            del owner[key]
        elif kind == 1:
            owner[key] = [owner[key]]
        elif kind == 2:
            other, name = rng.choice(places)
            owner[key] = copy.deepcopy(other.get(name) if isinstance(other, dict) else owner[key])
        elif kind == 3 and isinstance(owner, dict):
            owner[rng.choice(("", "x", "\x1b", "pgd 1/0", "pgd x"))] = owner[key]
        else:
            owner[key] = copy.deepcopy(rng.choice(STRANGE_VALUES))
    return found


def _places(value):
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def written(value, rng):
    """JSON text of plain data, now and then with what only text can have."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.8)
    kind = rng.randrange(12)
    if kind == 0:
        text = "[" * 200_000 + text
    elif kind == 1:
        depth = rng.choice((30, 150, 900, 3000))
        text = text.replace("null", "[" * depth + "]" * depth, 1)
    elif kind == 2 and text.startswith("{") and len(value) > 0:
        key = next(iter(value))
        text = f"{{{json.dumps(key)}: 0, {text[1:]}"
    elif kind == 3:
        text = text.replace("0", rng.choice(("NaN", "Infinity", "1e999", "9" * 5000, "0x1")), 1)
    return text.encode("utf-8", "surrogatepass")


def damaged_json(data, rng):
    """A JSON document, damaged as data or as bytes."""
    if rng.random() < 0.4:
        return damaged_bytes(data, rng)
    return written(damaged_value(json.loads(data), rng), rng)


def damaged_archive(data, rng, damage=None):
    """A zip archive whose members are damaged and packed again, or whose bytes are."""
    if rng.random() < 0.4:
        return damaged_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    place = rng.randrange(len(members))
    name, content = members[place]
    change = (damage or {}).get(name.rpartition(".")[2], damaged_bytes)
    kind = rng.randrange(8)
    if kind == 0:
        del members[place]
    elif kind == 1:
        members[place] = (rng.choice(("x", f"../{name}", name.upper())), content)
    elif kind == 2:
        members.append(rng.choice(members))
    else:
        members[place] = (name, change(content, rng))
    stream = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names that stand twice
                archive.writestr(info, content)
    return stream.getvalue()


def damaged_array(data, rng):
    """An array file whose header claims something else, or whose bytes are damaged."""
    if rng.random() < 0.3:
        return damaged_bytes(data, rng)
    length = int.from_bytes(data[8:10], "little")
    header, body = data[10 : 10 + length].decode("latin-1"), data[10 + length :]
    shape = header[header.index("(") : header.index(")") + 1]
    descr = header.split("'descr': ")[1].split(",")[0]
    if rng.random() < 0.5:
        claims = "()", "(0,)", "(1,)", "(-1, 4)", f"({10**12}, {10**12})", "(0, 99999999999)", "x"
        claims = (
            *claims,
            "(True, 2)",
            "(2.0, 2)",
            "(10,L)",
            f"({'1,' * 70})",
            "[4, 6]",
            f"({2**40},)",
        )
        header = header.replace(shape, rng.choice(claims))
    else:
        types = "'|O'", "'<U5'", "'<f3'", "'<U999999999'", "'V8'", "'<M8[s]'", "[('a', '<i4')]"
        types = (*types, "'|i1,|i1'", "'<c16'", "'|S0'", "''", "object", "'<f8'", "'>i2'", "'|b1'")
        header = header.replace(descr, rng.choice(types))
    head = b"\x93NUMPY\x01\x00" + min(len(header), 65535).to_bytes(2, "little")
    return head + header.encode("latin-1") + body
