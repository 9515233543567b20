"""The integer programs of a design problem: their rows, size, files and building.

A program is a plain value that no solver is needed for; :mod:`.lazy` solves one whose clique
rows are added as they are needed.
"""

from ecoc.design.programs.formulations import (
    Formulation,
    build_ip1,
    build_ip2,
    build_ip3,
    build_program,
)
from ecoc.design.programs.linear_program import LinearProgram, ProgramSize, read_solution
from ecoc.design.programs.rows import ProgramOptions
from ecoc.design.programs.sizes import check_size, job_size, program_size

__all__ = [
    "Formulation",
    "LinearProgram",
    "ProgramOptions",
    "ProgramSize",
    "build_ip1",
    "build_ip2",
    "build_ip3",
    "build_program",
    "check_size",
    "job_size",
    "program_size",
    "read_solution",
]
