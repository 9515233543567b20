"""A reader of the few commands that our tables for LaTeX are made of."""

import re

COMMANDS = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textquotedbl": '"',
}
TOKEN = re.compile(r"\\[a-zA-Z]+|\\[^a-zA-Z]|\$[^$]*\$|--|.", re.DOTALL)


def read_text(latex):
    """What LaTeX would show; anything that it would take for a command is an error."""
    shown, depth, tokens = [], 0, TOKEN.findall(latex)
    for place, token in enumerate(tokens):
        if token[0] == "\\" and token[1:] in COMMANDS:
            # A command swallows spaces that follow, unless braces end it.
            assert tokens[place + 1 : place + 3] == ["{", "}"]
            shown.append(COMMANDS[token[1:]])
        elif token[0] == "\\":
            assert token[1:] in set("&%$#_{}"), token
            shown.append(token[1])
        elif token[0] == "$":
            shown.append({r"$\pm$": "±", "$+$": "+", "$-$": "-", r"$\epsilon$": "ε"}[token])
        elif token in "{}":
            depth += 1 if token == "{" else -1
            assert depth >= 0
        else:
            assert token not in {*'&%#_~^<>|"\\', "--"}, token
            shown.append(token)
    assert depth == 0
    return "".join(shown)


def read_tables(latex):
    """The cells of every table, as LaTeX would show them."""
    tables = []
    for body in re.findall(
        r"\\begin\{tabular\}\{[^\n]*\}\n(.*?)\\end\{tabular\}", latex, re.DOTALL
    ):
        lines = body.splitlines()
        assert lines[0] == r"\toprule"
        assert lines[2] == r"\midrule"
        assert lines[-1] == r"\bottomrule"
        rows = [lines[1], *lines[3:-1]]
        # What follows the end of a line must not look like its argument.
        assert all(row.endswith(r" \\") and row[0] not in "[*" for row in rows)
        tables.append([[read_text(c) for c in re.split(r"(?<!\\) & ", r[:-3])] for r in rows])
    return tables
