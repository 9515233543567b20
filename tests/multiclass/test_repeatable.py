import io
import json
import subprocess
import sys
import zipfile

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from skops.io import dumps, loads

from ecoc.multiclass import ECOCClassifier, load_model, save_model
from ecoc.multiclass.repeatable import repeatable

LEARNERS = [
    LogisticRegression(max_iter=500),
    DecisionTreeClassifier(random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_two_fits_with_one_seed_give_the_same_bytes(learner, tmp_path):
    x, y = load_iris(return_X_y=True)
    paths = [tmp_path / "a.skops", tmp_path / "b.skops"]
    kept = []
    for path in paths:
        kept.append(ECOCClassifier(learner, random_state=0).fit(x, y))
        save_model(kept[-1], path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert (load_model(paths[0]).predict(x) == kept[0].predict(x)).all()


def test_another_process_writes_the_same_bytes(tmp_path):
    code = (
        "import sys\n"
        "from sklearn.datasets import load_iris\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from ecoc.multiclass import ECOCClassifier, save_model\n"
        "X, y = load_iris(return_X_y=True)\n"
        "save_model(ECOCClassifier(LogisticRegression(max_iter=500)).fit(X, y), sys.argv[1])\n"
    )
    paths = [tmp_path / "a.skops", tmp_path / "b.skops"]
    for path in paths:
        subprocess.run([sys.executable, "-c", code, path], check=True)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_sets_shared_parts_and_times():
    shared = [1.5, "a"]
    value = {"set": {"b", "a", "c"}, "first": shared, "second": shared}
    files = [repeatable(dumps(dict(value, set=set(order)))) for order in ("abc", "cba")]
    assert files[0] == files[1]
    assert loads(files[0]) == value
    with zipfile.ZipFile(io.BytesIO(files[0])) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        schema = json.loads(file.read("schema.json"))
    assert schema["__id__"] == 1
