"""Design files that were changed, and what forgers write about solvers."""

import json


def words(certificate):
    return certificate["proof"]["facts"]


FORGED = {
    "needs first": lambda c: c["proof"].update(kind="two-solvers"),
    "needs version": lambda c: words(c).pop("version"),
    "no fact 'mood'": lambda c: words(c).update(mood=1),
    "there is no solver ''": lambda c: words(c).update(solver=""),
    "there is no solver 'oracle'": lambda c: words(c).update(solver="oracle"),
    "no solver has the version": lambda c: words(c).update(version="the newest"),
    "there is no program 'IP9'": lambda c: words(c).update(formulation="IP9"),
    "number of nodes is -5": lambda c: words(c).update(n_nodes=-5),
    "needs n_nodes": lambda c: words(c).update(n_nodes=0.5),
    "the tolerances must be": lambda c: words(c).update(tolerances={"feasibility": 1e-9}),
    "each from 0 to 1": lambda c: words(c)["tolerances"].update(feasibility=-1e-9),
    "in a few words why": lambda c: words(c).update(termination=""),
    "highs ended with 'time limit'": lambda c: words(c).update(termination="time limit"),
    "both are highs": lambda c: c["proof"].update(
        kind="two-solvers", facts={"first": words(c), "second": words(c)}
    ),
}
"""What a forger wrote about a solver, by what is said of it."""


def changed(path, design, change):
    """A file of a design with a changed certificate."""
    design.save(path)
    document = json.loads(path.read_text())
    change(document["certificate"])
    path.write_text(json.dumps(document))
    return path
