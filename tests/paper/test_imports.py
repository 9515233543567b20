import subprocess
import sys


def test_heavy_libraries_load_on_first_use():
    code = (
        "import sys, ecoc.datasets, ecoc.paper, ecoc.report.reproduction_page;"
        "heavy = {'sklearn', 'torch', 'matplotlib', 'numba', 'highspy', 'pandas'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"[]"
