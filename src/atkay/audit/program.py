"""Program: whatever prints numbers, asked case by case; a Python function, or a command in any language."""

from __future__ import annotations

import json
import math
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atkay.errors import InputError, number_of, shown
from atkay.text.phrases import argument

Source = str | os.PathLike[str] | Sequence[str] | Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Answer:
    """A number, NaN where there is none, and then perhaps what the program said."""

    value: float
    refusal: str = ""


@dataclass(eq=False)
class Program:
    """A command that reads a case per line and prints a number per line, or a function of a case."""

    source: Source
    timeout: float = 300.0
    cases: int = field(default=0, init=False)
    rounds: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """What the program is called in messages."""
        if callable(self.source):
            return getattr(self.source, "__name__", type(self.source).__name__)
        return self.source if isinstance(self.source, str) else shlex.join(map(os.fspath, self.words))

    @property
    def words(self) -> list[str]:
        """The command and its arguments."""
        if isinstance(self.source, str):
            return shlex.split(self.source, posix=os.name != "nt")
        if isinstance(self.source, os.PathLike):
            return [os.fspath(self.source)]
        assert not callable(self.source)
        return [os.fspath(word) for word in self.source]

    def ask(self, questions: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """The answers, one for each question."""
        self.cases += len(questions)
        self.rounds += 1
        if callable(self.source):
            return [_called(self.source, dict(question)) for question in questions]
        return self._run(questions)

    def _run(self, questions: Sequence[Mapping[str, Any]]) -> list[Answer]:
        lines = "".join(f"{json.dumps(question)}\n" for question in questions)
        try:
            ended = subprocess.run(
                self.words, input=lines.encode(), capture_output=True, timeout=self.timeout, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise InputError(
                f"conform: {shown(self.name)} took more than {self.timeout:g} seconds for "
                f"{number_of(len(questions), 'case')}. It has to end when its input does; allow more time with "
                f"{argument('timeout')}."
                f"{_said(error.stderr)}"
            ) from None
        except OSError as error:
            raise InputError(f"conform: cannot start {shown(self.name)}: {error.strerror or error}.") from None
        if ended.returncode:
            raise InputError(
                f"conform: {shown(self.name)} ended with exit code {ended.returncode}. For a case that it refuses it "
                f'has to print null or {{"error": "..."}}, and go on.{_said(ended.stderr)}'
            )
        printed = ended.stdout.decode(errors="replace").split("\n")
        printed = printed[:-1] if printed and not printed[-1].strip() else printed
        if len(printed) != len(questions):
            raise InputError(
                f"conform: {shown(self.name)} printed {number_of(len(printed), 'line')} for "
                f"{number_of(len(questions), 'case')}; it has to print one number per case, each on a line of its own."
                f"{_said(ended.stderr)}"
            )
        return [_read(line, number, self.name) for number, line in enumerate(printed, 1)]


def _called(function: Callable[[dict[str, Any]], Any], question: dict[str, Any]) -> Answer:
    try:
        value = function(question)
    except Exception as error:  # it is the program's own, and an answer
        return Answer(math.nan, f"{type(error).__name__}: {error}".splitlines()[0])
    if isinstance(value, Mapping) and "error" in value:
        return Answer(math.nan, str(value["error"]))
    try:
        return Answer(math.nan if value is None else float(value))
    except (TypeError, ValueError):
        raise InputError(
            f"conform: the function returned {shown(value)}. It has to return a number, or None where there is none."
        ) from None


def _read(line: str, number: int, name: str) -> Answer:
    text = line.strip()
    if text.lower() in ("null", "none", "nan", "-nan", "na"):
        return Answer(math.nan)
    try:
        return Answer(float(text))
    except ValueError:
        pass
    try:
        value = json.loads(text)
        if isinstance(value, dict) and "error" in value:
            return Answer(math.nan, str(value["error"]))
    except ValueError:
        pass
    raise InputError(
        f"conform: {shown(name)} printed {shown(text)} for case {number}. It has to print a number, null, or "
        '{"error": "..."}.'
    )


def _said(stderr: bytes | None) -> str:
    """The last lines of what a program wrote to standard error."""
    lines = (stderr or b"").decode(errors="replace").strip().splitlines()
    return f" It wrote: {' / '.join(lines[-3:])}" if lines else ""
