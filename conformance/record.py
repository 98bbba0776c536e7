"""Run the other libraries on every data set and record what they say.

    python conformance/record.py                   # all of them
    python conformance/record.py ranx rectools     # some of them
    python conformance/record.py xgboost-1.7.6     # another version of one, which has an edition of the dialect

Each library has its own virtual environment with pinned versions, made on first use, and its own adapter, which runs
there. What came back is written to recorded/LIBRARY.json; README.md says what the fields mean. A library that cannot be
installed gets a file, too, and it says why.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded"

TORCH = "torch==2.13.0"  # on PyPI this one is a build for the CPU; a later one brings CUDA along
PANDAS = ("pandas==3.1.1", "numpy==2.4.6")
OLDER = ("pandas==2.3.3", "numpy==2.4.6")
OLDEST = ("pandas==2.3.3", "numpy==1.26.4")
HAYSTACK = (
    *("numpy==2.4.6", "pydantic==2.14.3", "jinja2==3.1.6", "jsonschema==4.26.0", "lazy-imports==1.2.0"),
    *("more-itertools==11.2.1", "networkx==3.6.1", "posthog==7.91.1", "python-dateutil==4.0.0", "pyyaml==6.0.3"),
    *("requests==2.34.2", "tenacity==9.2.1", "tqdm==4.70.1", "docstring-parser==0.18.0", "filetype==1.2.0"),
    *("httpx==0.28.1", "typing_extensions==4.16.0"),
)
"""What haystack's evaluators import, the models that it can call left out."""


@dataclass(frozen=True)
class Library:
    """What to install: the library itself stands first. `bare` are installed without what they ask for.

    Other versions of a library stand under `NAME-VERSION`, and share its adapter.

    A library that is not on PyPI is in the folder that the variable `checkout` names, with `source` as its version.
    """

    pins: tuple[str, ...]
    bare: tuple[str, ...] = ()
    source: str = ""
    checkout: str = ""

    @property
    def named(self) -> str:
        return self.source or (self.bare or self.pins)[0]


LIBRARIES = {
    "pytrec_eval": Library(("pytrec_eval-terrier==0.5.11", "numpy==2.4.6", "scipy==1.17.1")),
    "ranx": Library(("ranx==0.3.21", "numba==0.68.1", *PANDAS)),
    "ranx-0.3.14": Library(("ranx==0.3.14", "numba==0.68.1", *PANDAS)),
    "rectools": Library(("rectools==0.19.0", *OLDEST)),
    "sklearn": Library(("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1")),
    "ir_measures": Library(
        ("ir-measures==0.4.3", "pytrec_eval-terrier==0.5.11", "cwl-eval==1.0.12", "pyndeval==0.0.8", *PANDAS)
    ),
    "replay": Library(("replay-rec==0.22.0", "polars==1.44.2", "pyarrow==23.0.1", *OLDER)),
    "recommenders": Library(("recommenders==1.2.1", "scikit-learn==1.9.1", *OLDER)),
    "torchmetrics": Library(("torchmetrics==1.9.0", TORCH, "numpy==2.4.6")),
    "torchmetrics-1.7.3": Library(("torchmetrics==1.7.3", TORCH, "numpy==2.4.6")),
    "torchmetrics-1.1.1": Library(("torchmetrics==1.1.1", TORCH, "numpy==1.26.4")),
    "lenskit": Library(("lenskit==2025.8.1", TORCH, "pyarrow==26.0.1", "scipy==1.17.1", *OLDER)),
    "recpack": Library(("recpack==0.3.6", TORCH, "scipy==1.17.1", "scikit-learn==1.9.1", *OLDEST)),
    "rs_metrics": Library(("rs_metrics==0.6.0", *PANDAS)),
    "cornac": Library(("cornac==3.0.1", "numpy==2.4.6", "scipy==1.17.1")),
    "lightgbm": Library(("lightgbm==4.7.0", "numpy==2.4.6", "scipy==1.17.1")),
    "xgboost": Library(("xgboost==3.2.0", "numpy==2.4.6", "scipy==1.17.1")),
    "xgboost-1.7.6": Library(("xgboost==1.7.6", "numpy==1.26.4", "scipy==1.15.3")),
    # It uses names that NumPy 1.24 removed, and ray, which it asks for, is for tuning only.
    "recbole": Library(
        (
            *("numpy==1.23.5", "pandas==1.5.3", "scipy==1.10.1", "scikit-learn==1.2.2", TORCH, "tensorboard==2.15.2"),
            *(
                "colorlog==4.7.2",
                "colorama==0.4.4",
                "texttable==1.7.0",
                "PyYAML==6.0.3",
                "tqdm==4.70.1",
                "thop==0.1.1-2209072238",
            ),
        ),
        bare=("recbole==1.2.1",),
    ),
    "spark": Library(("pyspark==4.0.1", "numpy==2.4.6")),
    # The last TensorFlow that it asks for, with Keras 2 inside; serving, which it asks for, too, is not for metrics.
    "tfranking": Library(
        ("tensorflow-cpu==2.15.1", "numpy==1.26.4", "six==1.17.0", "absl-py==2.5.1"),
        bare=("tensorflow-ranking==0.5.5",),
    ),
    "elliot": Library(("numpy==2.4.6",), source="elliot==0.3.1", checkout="ELLIOT"),
    "beir": Library(
        ("pytrec_eval-terrier==0.5.11", "numpy==2.4.6", "scipy==1.17.1", "tqdm==4.70.1"), bare=("beir==2.2.0",)
    ),
    "sentence_transformers": Library(("sentence-transformers==6.2.0", TORCH, "scikit-learn==1.9.1", "scipy==1.17.1")),
    "sentence_transformers-5.7.0": Library(
        ("sentence-transformers==5.7.0", TORCH, "scikit-learn==1.9.1", "scipy==1.17.1")
    ),
    "keras_rs": Library(("keras-rs==0.4.0", "keras==3.15.1", TORCH, "numpy==2.4.6")),
    "torch_rechub": Library(("torch-rechub==0.9.0", TORCH, "scikit-learn==1.9.1", *PANDAS)),
    "mlflow": Library(("mlflow-skinny==3.17.2", "scikit-learn==1.9.1", *OLDER), bare=("mlflow==3.17.2",)),
    "llama_index": Library(("llama-index-core==0.14.25", "numpy==2.4.6")),
    "haystack": Library(HAYSTACK, bare=("haystack-ai==3.4.1",)),
    "haystack-3.0.0": Library(HAYSTACK, bare=("haystack-ai==3.0.0",)),
    "ignite": Library(("pytorch-ignite==0.5.5", TORCH, "numpy==2.4.6")),
    "pyg": Library(("torch-geometric==2.8.1", TORCH, "numpy==2.4.6")),
    "ragas": Library(
        (
            *("numpy==2.4.6", "langchain==0.3.27", "langchain-core==0.3.79", "langchain-community==0.3.31"),
            *(
                "langchain-openai==0.3.35",
                "openai==1.109.1",
                "instructor==1.11.3",
                "datasets==4.2.0",
                "tiktoken==0.12.0",
            ),
            *("nest-asyncio==1.6.0", "appdirs==1.4.4", "diskcache==5.6.3", "networkx==3.6.1", "scikit-network==0.33.5"),
            "pillow==11.3.0",
        ),
        bare=("ragas==0.4.3",),
    ),
    "evidently": Library(("evidently==0.7.23", *OLDER)),
    "trulens": Library(("trulens-feedback==2.16.0", "trulens-core==2.16.0", *OLDER)),
    "mteb": Library(("mteb==2.26.24", TORCH, "numpy==2.4.6")),
}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def install(python: Path, *what: str) -> None:
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise RuntimeError(errors[0] if errors else done.stderr[-500:])


def interpreter(name: str) -> Path:
    """The Python of the library's own environment, made when its versions are new."""
    library, home = LIBRARIES[name], HERE.parent / f".venv-conformance-{name}"
    python, ready = home / "bin" / "python", home / "ready"
    pins = "\n".join((*library.pins, *library.bare))
    if not ready.exists() or ready.read_text() != pins:
        say(f"{name}: making an environment ...")
        venv.create(home, with_pip=True, clear=True)
        install(python, *library.pins)
        if library.bare:
            install(python, "--no-deps", *library.bare)
        ready.write_text(pins)
    return python


def run(name: str) -> dict[str, Any]:
    """What the adapter found, in a fresh process."""
    python = interpreter(name)
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        # One thread: nothing here is large, and sums are then added in one order.
        alone = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        command = [
            str(python),
            str(HERE / "ask.py"),
            str(HERE / "adapters" / f"{name.partition('-')[0]}.py"),
            str(found),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | alone)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
        return dict(json.loads(found.read_text()))


def record(name: str) -> None:
    library = LIBRARIES[name]
    if library.checkout and library.checkout not in os.environ:
        say(f"{name}: left as it is; set {library.checkout} to the folder of a checkout to record it")
        return
    head = {"library": library.named.partition("==")[0], "version": library.named.partition("==")[2]}
    head |= {"date": date.today().isoformat()}
    pins = {"pins": [*library.pins, *library.bare]}
    try:
        interpreter(name)
    except RuntimeError as error:
        found: dict[str, Any] = head | {"installed": False, "why": str(error)} | pins
        said = f"not installed: {error}"
    else:
        found = head | {"installed": True} | pins | run(name)
        entries = [entry for part in found["data"].values() for entry in part]
        raised = sum("error" in entry for entry in entries)
        said = f"{len(entries) - raised} values, {raised} errors"
    RECORDED.mkdir(exist_ok=True)
    (RECORDED / f"{name}.json").write_text(written(found))
    say(f"{name}: {said}")


def written(found: dict[str, Any]) -> str:
    """JSON with one line for each entry, so that a change of one value is a change of one line."""
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in found.items() if key != "data"]
    if "data" in found:
        parts = []
        for data, entries in found["data"].items():
            rows = ",\n".join(f"      {json.dumps(entry)}" for entry in entries)
            parts.append(f'    "{data}": [\n{rows}\n    ]')
        lines.append('  "data": {\n' + ",\n".join(parts) + "\n  }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def describe() -> None:
    """Put the table of libraries into README.md."""
    rows = ["| library | version | recorded | values | errors |", "|---|---|---|--:|--:|"]
    for name in LIBRARIES:
        path = RECORDED / f"{name}.json"
        if not path.exists():
            continue
        found = json.loads(path.read_text())
        entries = [entry for part in found.get("data", {}).values() for entry in part]
        raised = sum("error" in entry for entry in entries)
        counts = f"{len(entries) - raised:,} | {raised:,}" if found["installed"] else f"not run: {found['why']} | "
        rows.append(f"| [{found['library']}](recorded/{name}.json) | {found['version']} | {found['date']} | {counts} |")
    readme = HERE / "README.md"
    before, start, rest = readme.read_text().partition("<!-- libraries -->\n")
    _, end, after = rest.partition("<!-- end -->")
    readme.write_text(before + start + "\n".join(rows) + "\n" + end + after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="*", help=f"of {', '.join(LIBRARIES)}; all of them when none is named")
    parser.add_argument("--install", action="store_true", help="make the environments and stop")
    given = parser.parse_args()
    unknown = [name for name in given.library if name not in LIBRARIES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(LIBRARIES)}")
    for name in given.library or LIBRARIES:
        if given.install:
            try:
                interpreter(name)
            except RuntimeError as error:
                say(f"{name}: {error}")
        else:
            record(name)
    describe()


if __name__ == "__main__":
    main()
