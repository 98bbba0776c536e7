"""What a result tells ir_metadata: measures, conventions, data and software."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from atkay.protocol import Protocol

if TYPE_CHECKING:
    from atkay.results.result import Result


def ir_metadata_of(result: Result) -> dict[str, Any]:
    """The parts of ir_metadata 0.2 that an evaluation knows; numbers and conventions stand under ``atkay``."""
    default = vars(Protocol())
    chosen = {name: value for name, value in vars(result.protocol).items() if value != default[name]}
    return {
        "ir_metadata version": "0.2",
        "platform": {
            "operating system": platform.platform(terse=True),
            "software": {"libraries": {"python": [f"atkay {result.version}"]}},
        },
        "research goal": {"evaluation": {"reported measures": list(result)}},
        "data": {
            "test collection": {"qrels": result.sources.get("truth", ""), "fingerprint": result.fingerprint["truth"]}
        },
        "atkay": {
            "dialect": result.dialect,
            "protocol": {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()},
            "numbers": {name: None if value != value else value for name, value in result.items()},
            "fingerprint": dict(result.fingerprint),
        },
    }
