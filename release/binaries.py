"""Binaries: what a shared library of Linux, macOS or Windows is built for, exports and needs, read from its headers."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

MACHINES = {
    **{62: "x86_64", 183: "aarch64"},  # ELF
    **{0x01000007: "x86_64", 0x0100000C: "aarch64"},  # Mach-O
    **{0x8664: "x86_64", 0xAA64: "aarch64"},  # PE
}
ELF_DYNAMIC, ELF_SYMBOLS = 6, 11
MACHO_LIBRARY, MACHO_SIGNATURE, MACHO_VERSION, MACHO_EXPORTS = 0x0C, 0x1D, 0x32, (0x80000022, 0x80000033)


class Binary(NamedTuple):
    """``system`` as :data:`sys.platform` calls it; ``at_least`` is the version of glibc or macOS that it asks for."""

    system: str
    machine: str
    exports: frozenset[str]
    needs: frozenset[str]
    at_least: tuple[int, ...] = ()
    signed: bool = False


def read_binary(data: bytes) -> Binary:
    if data[:4] == b"\x7fELF":
        return _elf(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _macho(data)
    if data[:2] == b"MZ":
        return _pe(data)
    raise ValueError("neither ELF nor Mach-O nor PE, or not of 64 bits")


def _elf(data: bytes) -> Binary:
    (machine,) = struct.unpack_from("<H", data, 0x12)
    (table,), (width, count) = struct.unpack_from("<Q", data, 0x28), struct.unpack_from("<HH", data, 0x3A)
    # Of each section: its type, where it starts, how long it is, and the section of its names.
    sections = [struct.unpack_from("<4xI16xQQI", data, table + width * n) for n in range(count)]
    exports, needs, names = set(), set(), b""
    for kind, start, size, link in sections:
        if kind not in (ELF_DYNAMIC, ELF_SYMBOLS):
            continue
        _, at, length, _ = sections[link]
        names = data[at : at + length]
        if kind == ELF_DYNAMIC:
            entries = struct.iter_unpack("<QQ", data[start : start + size])
            needs |= {_text(names, value) for tag, value in entries if tag == 1}
        else:
            symbols = struct.iter_unpack("<IBBHQQ", data[start : start + size])
            exports |= {_text(names, name) for name, info, _, section, _, _ in symbols if section and info >> 4}
    versions = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", names)]
    return Binary("linux", MACHINES[machine], frozenset(exports), frozenset(needs), max(versions, default=()))


def _macho(data: bytes) -> Binary:
    machine, commands = struct.unpack_from("<4xI8xI", data)
    exports: set[str] = set()
    at_least: tuple[int, ...] = ()
    needs, signed, at = set(), False, 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == MACHO_LIBRARY:
            needs.add(_text(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        elif command == MACHO_VERSION:
            (version,) = struct.unpack_from("<I", data, at + 12)
            at_least = version >> 16, version >> 8 & 255
        elif command in MACHO_EXPORTS:
            start, length = struct.unpack_from("<II", data, at + (40 if command == MACHO_EXPORTS[0] else 8))
            exports |= set(_trie(data[start : start + length], 0, ""))
        signed = signed or command == MACHO_SIGNATURE
        at += size
    return Binary("darwin", MACHINES[machine], frozenset(exports), frozenset(needs), at_least, signed)


def _trie(data: bytes, at: int, name: str) -> list[str]:
    """The names at and below a node: its own data, then its children, each with the next letters and its place."""
    own, at = _number(data, at)
    found = [name.removeprefix("_")] if own else []
    at += own
    for _ in range(data[at]):
        letters = _text(data, at + 1)
        child, at = _number(data, at + 1 + len(letters) + 1)
        at -= 1  # the byte before the next child
        found += _trie(data, child, name + letters)
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of 7 bits, the lowest first, and where it ends."""
    number, shift = 0, 0
    while True:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return number, at


def _pe(data: bytes) -> Binary:
    (header,) = struct.unpack_from("<I", data, 0x3C)
    machine, count, options = struct.unpack_from("<HH12xH", data, header + 4)
    exported, _, imported = struct.unpack_from("<III", data, header + 24 + 112)
    table = header + 24 + options
    # Of each section: where it starts in memory, how long it is in the file, and where it starts there.
    sections = [struct.unpack_from("<4xIII", data, table + 40 * n + 8) for n in range(count)]

    def place(address: int) -> int:
        offset: int = next(file - memory for memory, size, file in sections if 0 <= address - memory < size)
        return address + offset

    names, start = struct.unpack_from("<I4xI", data, place(exported) + 24)
    exports = {_text(data, place(name)) for (name,) in struct.iter_unpack("<I", data[place(start) :][: 4 * names])}
    needs, at = set(), place(imported)
    while name := struct.unpack_from("<I", data, at + 12)[0]:
        needs.add(_text(data, place(name)))
        at += 20
    return Binary("win32", MACHINES[machine], frozenset(exports), frozenset(needs))


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()
