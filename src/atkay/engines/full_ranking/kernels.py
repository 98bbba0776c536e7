"""The count as the tail of the matrix product, in Triton, for CUDA.

A program holds a block of users and walks over tiles of items. Of each tile it forms the scores, and for each of the
users' targets ``f = min(max((score - t) / (2 slack) + 1/2, 0), 1)``, which is 1 for a score clearly above the target's
``t``, 0 for one clearly below, and in between for one that is near. Two sums tell all: ``Σ f``, the count, and
``Σ f - Σ f²``, which is 0 where nothing is near. Where something is, nothing is counted, and one bit is set: the cell,
the items of a tile that have met in one sum, is scored again, exactly, by another kernel. Scores never leave the chip.

Vectors come in pieces of half precision, which the matrix units multiply fastest: one, which holds what bfloat16 and
tf32 have; or two, a number and its rest, for single precision. They are multiplied by powers of two, the items tile by
tile, so that half precision has the range for them.

Clamping to 0 and 1 is a free part of a multiply-add on the device, and all three operations run at full rate, where
comparisons and integer additions run at half of it. A tile's scores are added up in four cells, as the matrix units
leave them to the threads: so no thread has to ask another one before the end.
"""
# mypy: disable-error-code="assignment,no-untyped-def,no-untyped-call,untyped-decorator,misc,unreachable"
# ruff: noqa: RUF005 - the compiler knows tuples that are added up, and not those that are unpacked

from __future__ import annotations

import triton
import triton.language as tl

CELLS = 4
"""Cells of a tile. Items 0 and 1 are in the first, 2 and 3 in the second, 8 and 9 in the first again."""

TILES = 32
"""Tiles whose bits are in one word."""


@triton.jit
def _share(score, slope, offset, SATURATE: tl.constexpr):
    """Slope x score + offset, clamped to 0 and 1."""
    if SATURATE:
        return tl.inline_asm_elementwise(
            "fma.rn.sat.f32 $0, $1, $2, $3;",
            "=f,f,f,f",
            [score, slope, offset],
            dtype=tl.float32,
            is_pure=True,
            pack=1,
        )
    return tl.minimum(tl.maximum(score * slope + offset, 0.0), 1.0)


@triton.jit
def _add(values, total, square):
    """Add values to a total and their squares to another, in one chain: as multiply-adds, which a tree is not."""
    rows: tl.constexpr = values.shape[0]
    cells: tl.constexpr = values.shape[1]
    size: tl.constexpr = values.shape[2]
    if size == 1:
        one = tl.reshape(values, (rows, cells))
        return total + one, tl.fma(one, one, square)
    else:
        first, second = tl.split(tl.reshape(values, (rows, cells, size // 2, 2)))
        total, square = _add(first, total, square)
        return _add(second, total, square)


@triton.jit
def _by_cell(values, CELLS: tl.constexpr):
    """Sums over the cells of a tile, and sums of squares."""
    apart = tl.reshape(values, (values.shape[0], values.shape[1] // (2 * CELLS), CELLS, 2))
    apart = tl.reshape(tl.permute(apart, (0, 2, 1, 3)), (values.shape[0], CELLS, values.shape[1] // CELLS))
    none = tl.zeros((values.shape[0], CELLS), tl.float32)
    return _add(apart, none, none)


@triton.jit
def _load(vectors, row, k, n_rows, inside, PIECE: tl.constexpr, D: tl.constexpr):
    """A piece of some vectors: their components k, with 0 beyond the last one."""
    there = vectors + (tl.full((), PIECE, tl.int64) * n_rows + row)[:, None] * D + k[None, :]
    return tl.load(there, mask=inside[:, None] & (k < D)[None, :], other=0.0)


@triton.jit
def _multiply(user, user_rest, item, item_rest, score, PIECES: tl.constexpr):
    """Add the products of users and items to their scores. Rests times rests, 2^-22 at most, are part of the slack."""
    if PIECES == 2:
        score = tl.dot(user_rest, tl.trans(item), score)
        score = tl.dot(user, tl.trans(item_rest), score)
    return tl.dot(user, tl.trans(item), score)


@triton.jit
def _scores(
    user, user_rest, users, row, n_users, items, tile, n_tiles,
    PIECES: tl.constexpr, D: tl.constexpr, K: tl.constexpr, ITEMS: tl.constexpr,
):  # fmt: skip
    """Scores of a tile; the users are at hand where their vectors fit in one go."""
    k = tl.arange(0, K)
    place = tl.arange(0, ITEMS)
    item = tile * ITEMS + place
    score = tl.zeros((row.shape[0], ITEMS), tl.float32)
    if D <= K:
        main = _load(items, item, k, n_tiles * ITEMS, place >= 0, 0, D)
        rest = _load(items, item, k, n_tiles * ITEMS, place >= 0, PIECES - 1, D)
        return _multiply(user, user_rest, main, rest, score, PIECES)
    for depth in range(0, D, K):
        user = _load(users, row, depth + k, n_users, row < n_users, 0, D)
        user_rest = _load(users, row, depth + k, n_users, row < n_users, PIECES - 1, D)
        main = _load(items, item, depth + k, n_tiles * ITEMS, place >= 0, 0, D)
        rest = _load(items, item, depth + k, n_tiles * ITEMS, place >= 0, PIECES - 1, D)
        score = _multiply(user, user_rest, main, rest, score, PIECES)
    return score


@triton.jit(do_not_specialize=["n_users", "n_tiles", "tiles"])
def count(
    users,
    items,
    threshold,
    slope,
    steepness,
    above,
    doubts,
    n_users,
    n_tiles,
    tiles,
    TARGETS: tl.constexpr,
    PIECES: tl.constexpr,
    D: tl.constexpr,
    K: tl.constexpr,
    USERS: tl.constexpr,
    ITEMS: tl.constexpr,
    CELLS: tl.constexpr,
    TILES: tl.constexpr,
    SATURATE: tl.constexpr,
    LIMIT: tl.constexpr,
):
    """Count for each user and each of its targets the items that score above, but for the cells that are in doubt."""
    # Neighbouring programs have the same items and different users: what one reads the others find in the cache.
    row = tl.program_id(0) * USERS + tl.arange(0, USERS)
    there = row < n_users
    k = tl.arange(0, K)
    cell = tl.arange(0, CELLS)
    user = _load(users, row, k, n_users, there, 0, D)
    user_rest = _load(users, row, k, n_users, there, PIECES - 1, D)
    t = ()
    counted = ()
    words = ()
    for j in tl.static_range(TARGETS):
        t = t + (tl.load(threshold + row.to(tl.int64) * TARGETS + j, mask=there, other=float("inf")),)
        counted = counted + (tl.zeros((USERS, CELLS), tl.float32),)
        words = words + (tl.zeros((USERS, CELLS), tl.int32),)
    first = tl.program_id(1) * tiles
    last = tl.minimum(first + tiles, n_tiles)
    for tile in range(first, last):
        score = _scores(user, user_rest, users, row, n_users, items, tile, n_tiles, PIECES, D, K, ITEMS)
        steep = tl.load(slope + tile)
        steep_t = tl.load(steepness + tile)
        bit = 1 << (tile % TILES)
        more = ()
        marked = ()
        for j in tl.static_range(TARGETS):
            share = _share(score, steep, tl.fma(-t[j], steep_t, 0.5)[:, None], SATURATE)
            total, square = _by_cell(share, CELLS)
            clear = total - square <= LIMIT
            # Adding and subtracting 1.5 x 2^23 rounds to a whole number, at full rate.
            whole = (total + 12582912.0) - 12582912.0
            more = more + (counted[j] + tl.where(clear, whole, 0.0),)
            marked = marked + (words[j] | tl.where(clear, 0, bit),)
        counted = more
        words = marked
        if (tile % TILES == TILES - 1) | (tile == last - 1):
            fresh = ()
            for j in tl.static_range(TARGETS):
                word = (tl.full((), 1, tl.int64) * (tile // TILES) * n_users + row) * TARGETS + j
                tl.store(doubts + word[:, None] * CELLS + cell[None, :], words[j], mask=there[:, None])
                fresh = fresh + (tl.zeros((USERS, CELLS), tl.int32),)
            words = fresh
    for j in tl.static_range(TARGETS):
        more = tl.sum(counted[j].to(tl.int32), 1)
        tl.atomic_add(above + row.to(tl.int64) * TARGETS + j, more, mask=there)


@triton.jit
def _folded(values, SIZE: tl.constexpr):
    """The sum of each row of a power of two, the second half added to the first until one is left."""
    if SIZE == 1:
        return tl.reshape(values, (values.shape[0],))
    else:
        return _folded(tl.sum(tl.reshape(values, (values.shape[0], 2, SIZE // 2)), 1), SIZE // 2)


@triton.jit
def _products(user, item, inside, PIECE: tl.constexpr, SIZE: tl.constexpr, D: tl.constexpr, LANES: tl.constexpr):
    """A piece of the lanes: products of components, in double precision."""
    lane = PIECE * SIZE + tl.arange(0, SIZE)
    total = tl.zeros((inside.shape[0], SIZE), tl.float64)
    for first in range(0, D, LANES):
        depth = (first + lane)[None, :]
        a = tl.load(user[:, None] + depth, mask=depth < D, other=0.0).to(tl.float32).to(tl.float64)
        b = tl.load(item[:, None] + depth, mask=inside[:, None] & (depth < D), other=0.0).to(tl.float32).to(tl.float64)
        total += a * b
    return total


@triton.jit
def _pieces(
    user, item, inside, PIECE: tl.constexpr, LEFT: tl.constexpr, SIZE: tl.constexpr, D: tl.constexpr,
    LANES: tl.constexpr,
):  # fmt: skip
    """The size of a piece after merging: itself and the one added to it."""
    if LEFT * SIZE == LANES:
        return _products(user, item, inside, PIECE, SIZE, D, LANES)
    else:
        return _pieces(user, item, inside, PIECE, 2 * LEFT, SIZE, D, LANES) + _pieces(
            user, item, inside, PIECE + LEFT, 2 * LEFT, SIZE, D, LANES
        )


@triton.jit
def _exact(user, item, inside, D: tl.constexpr, LANES: tl.constexpr):
    """Scores of pairs, given where their vectors begin, in double precision; added in the order of ``exact``.

    ``user`` has one place for all pairs, or one for each. Pieces of 16 lanes are added where they are: only the last 16
    have to be sent from thread to thread.
    """
    SIZE: tl.constexpr = 16 if LANES > 16 else LANES
    return _folded(_pieces(user, item, inside, 0, 1, SIZE, D, LANES), SIZE)


@triton.jit
def own_scores(users, items, user, item, own, n_targets, D: tl.constexpr, LANES: tl.constexpr, PAIRS: tl.constexpr):
    """The exact score of each target."""
    target = tl.program_id(0) * PAIRS + tl.arange(0, PAIRS)
    inside = target < n_targets
    of_user = users + tl.load(user + target, mask=inside, other=0) * D
    of_item = items + tl.load(item + target, mask=inside, other=0) * D
    tl.store(own + target, _exact(of_user, of_item, inside, D, LANES), mask=inside)


@triton.jit
def _exponent(length):
    """The exponent of a number that is 1/2 to 1 times a power of two; 0 of 0."""
    return tl.where(length > 0, (length.to(tl.int64, bitcast=True) >> 52) - 1022, 0)


@triton.jit
def _power(exponent):
    """Two to a power, in double precision."""
    return ((1023 + exponent.to(tl.int64)) << 52).to(tl.float64, bitcast=True)


@triton.jit
def _cut(here, pieces, row, k, n_rows, inside, exponent, LENGTH: tl.constexpr, PIECES: tl.constexpr, D: tl.constexpr):
    """Write components k of vectors in pieces: what half precision holds, and what it holds of the rest."""
    there = inside[:, None] & (k < D)[None, :]
    part = tl.load(here[:, None] + k[None, :], mask=there, other=0.0).to(tl.float32).to(tl.float64)
    part = (part * _power(LENGTH - exponent)[:, None]).to(tl.float32)
    for piece in tl.static_range(PIECES):
        held = part.to(tl.float16)
        at = (tl.full((), piece, tl.int64) * n_rows + row)[:, None] * D + k[None, :]
        tl.store(pieces + at, held, mask=there)
        part -= held.to(tl.float32)


@triton.jit
def _back(most, FAR: tl.constexpr):
    """The exponent that brings the longest items back into the range of single precision, if they are far from it."""
    exponent = _exponent(most)
    return tl.where(tl.abs(exponent) < FAR, 0, -exponent)


@triton.jit(do_not_specialize=["n_rows", "first_item", "last_item"])
def scale(
    users,
    lengths,
    user,
    target,
    target_item,
    own,
    most,
    scaled,
    threshold,
    missing,
    n_rows,
    first_item,
    last_item,
    FAR: tl.constexpr,
    LENGTH: tl.constexpr,
    PIECES: tl.constexpr,
    TARGETS: tl.constexpr,
    WIDTH: tl.constexpr,
    D: tl.constexpr,
    LANES: tl.constexpr,
    ROWS: tl.constexpr,
):
    """The rows' users in pieces, about 2 to the LENGTH long, and the scores of their targets; how many are to be found.

    Scores are those of users about 1 long and of items within the range of single precision.
    """
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < n_rows
    who = tl.load(user + row, mask=inside, other=0)
    here = users + who * D
    lane = tl.arange(0, LANES)
    length = tl.load(lengths + who, mask=inside, other=0.0)
    exponent = _exponent(length)
    for first in range(0, D, LANES):
        _cut(here, scaled, row, first + lane, n_rows, inside, exponent, LENGTH, PIECES, D)
    nth = tl.arange(0, WIDTH)[None, :]
    room = inside[:, None] & (nth < TARGETS)
    goal = tl.load(target + row[:, None] * TARGETS + nth, mask=room, other=-1)
    # A user without a direction scores all items alike: there is nothing to count, and everything would be near.
    some = (goal >= 0) & (length > 0)[:, None]
    score = tl.load(own + goal, mask=some, other=0.0) * _power(_back(tl.load(most), FAR) - exponent)[:, None]
    tl.store(threshold + row[:, None] * TARGETS + nth, tl.where(some, score, float("inf")).to(tl.float32), mask=room)
    item = tl.load(target_item + goal, mask=some, other=-1)
    inside = ((item >= first_item) & (item < last_item)).to(tl.int32)
    tl.atomic_add(missing, tl.sum(tl.sum(inside, 1), 0))


@triton.jit
def _tell(score, item, inside, mine, its):
    """How many items score above a target, how many as high, and how many of these have a lower index."""
    above = tl.sum((inside & (score > mine)).to(tl.int32), 0)
    equal = tl.sum((inside & (score == mine)).to(tl.int32), 0)
    before = tl.sum((inside & (score == mine) & (item < its)).to(tl.int32), 0)
    return above, equal, before


@triton.jit(do_not_specialize=["n_words", "n_cells", "first_item"])
def settle(
    doubts,
    users,
    items,
    user,
    target,
    target_item,
    own,
    counts,
    missing,
    n_words,
    n_cells,
    first_item,
    TARGETS: tl.constexpr,
    D: tl.constexpr,
    LANES: tl.constexpr,
    ITEMS: tl.constexpr,
    CELLS: tl.constexpr,
    TILES: tl.constexpr,
    WORDS: tl.constexpr,
):
    """Score the items of each cell in doubt exactly, and count them; a target that is found is missing no more."""
    begin = tl.program_id(0).to(tl.int64) * WORDS
    place = tl.arange(0, WORDS)
    word = tl.load(doubts + begin + place, mask=begin + place < n_words, other=0)
    which = tl.max(tl.where(word != 0, place, -1), 0)
    while which >= 0:
        bits = tl.sum(tl.where(place == which, word, 0), 0)
        each = tl.arange(0, TILES)
        bit = tl.max(tl.where(((bits >> each) & 1) != 0, each, -1), 0)
        word = tl.where(place == which, word & ~(1 << bit), word)
        at = begin + which
        cell = (at // CELLS) % n_cells
        tile = at // CELLS // n_cells * TILES + bit
        nth = tl.arange(0, ITEMS // CELLS)
        item = first_item + tile * ITEMS + (nth // 2) * (2 * CELLS) + (at % CELLS) * 2 + nth % 2
        goal = tl.load(target + cell)
        inside = item >= 0
        of_user = users + tl.load(user + cell // TARGETS) * D + tl.arange(0, 1)
        its = tl.load(target_item + goal)
        score = _exact(of_user, items + item * D, inside, D, LANES)
        above, equal, before = _tell(score, item, inside, tl.load(own + goal), its)
        itself = tl.sum((item == its).to(tl.int32), 0)
        tl.atomic_add(counts + cell, above, mask=above > 0)
        tl.atomic_add(counts + n_cells + cell, equal, mask=equal > 0)
        tl.atomic_add(counts + n_cells + n_cells + cell, before, mask=before > 0)
        tl.atomic_add(missing, -itself, mask=itself > 0)
        which = tl.max(tl.where(word != 0, place, -1), 0)


@triton.jit(do_not_specialize=["first_item", "last_item"])
def compare(
    users,
    items,
    first_target,
    target_item,
    own,
    start,
    listed,
    counts,
    n_targets,
    first_item,
    last_item,
    D: tl.constexpr,
    LANES: tl.constexpr,
    PAIRS: tl.constexpr,
    LISTED: tl.constexpr,
):
    """Count single items against all targets of a user: listed ones are subtracted, a range is added."""
    user = tl.program_id(0).to(tl.int64)
    begin = tl.load(first_target + user)
    end = tl.load(first_target + user + 1)
    if begin < end:
        first = first_item.to(tl.int64)
        last = last_item.to(tl.int64)
        if LISTED:
            first = tl.load(start + user)
            last = tl.load(start + user + 1)
        for block in range(first, last, PAIRS):
            item = block + tl.arange(0, PAIRS)
            inside = item < last
            sign = 1
            if LISTED:
                item = tl.load(listed + item, mask=inside, other=0)
                sign = -1
            score = _exact(users + user * D + tl.arange(0, 1), items + item * D, inside, D, LANES)
            for goal in range(begin, end):
                its = tl.load(target_item + goal)
                above, equal, before = _tell(score, item, inside, tl.load(own + goal), its)
                tl.atomic_add(counts + goal, sign * above.to(tl.int64), mask=above > 0)
                tl.atomic_add(counts + n_targets + goal, sign * equal.to(tl.int64), mask=equal > 0)
                tl.atomic_add(counts + n_targets + n_targets + goal, sign * before.to(tl.int64), mask=before > 0)


@triton.jit
def longest(items, norms, D: tl.constexpr, LANES: tl.constexpr, ITEMS: tl.constexpr):
    """The length of the longest vector of each tile of items."""
    item = tl.program_id(0).to(tl.int64) * ITEMS + tl.arange(0, ITEMS)
    lane = tl.arange(0, LANES)
    total = tl.zeros((ITEMS,), tl.float64)
    for first in range(0, D, LANES):
        depth = first + lane
        here = (item >= 0)[:, None] & (depth < D)[None, :]
        part = tl.load(items + item[:, None] * D + depth[None, :], mask=here, other=0.0).to(tl.float32).to(tl.float64)
        total += tl.sum(part * part, 1)
    tl.store(norms + tl.program_id(0), tl.sqrt(tl.max(total, 0)))


@triton.jit(do_not_specialize=["n_items"])
def cut(
    items,
    longest_of,
    pieces,
    n_items,
    LENGTH: tl.constexpr,
    PIECES: tl.constexpr,
    D: tl.constexpr,
    LANES: tl.constexpr,
    ITEMS: tl.constexpr,
):
    """The items in pieces; the longest vector of each tile is then about 2 to the LENGTH long."""
    item = tl.program_id(0).to(tl.int64) * ITEMS + tl.arange(0, ITEMS)
    exponent = _exponent(tl.load(longest_of + tl.program_id(0) + tl.zeros((ITEMS,), tl.int32)))
    for first in range(0, D, LANES):
        k = first + tl.arange(0, LANES)
        _cut(items + item * D, pieces, item, k, n_items, item >= 0, exponent, LENGTH, PIECES, D)


@triton.jit
def probe(
    users,
    items,
    lengths,
    longest_of,
    user_pieces,
    item_pieces,
    off,
    n_users,
    n_tiles,
    LENGTH: tl.constexpr,
    PIECES: tl.constexpr,
    D: tl.constexpr,
    K: tl.constexpr,
    USERS: tl.constexpr,
    ITEMS: tl.constexpr,
):
    """How far scores are off at most, as a share of the product of both vectors' lengths."""
    row = tl.arange(0, USERS)
    tile = tl.program_id(0)
    main = _load(user_pieces, row, tl.arange(0, K), n_users, row < n_users, 0, D)
    rest = _load(user_pieces, row, tl.arange(0, K), n_users, row < n_users, PIECES - 1, D)
    score = _scores(main, rest, user_pieces, row, n_users, item_pieces, tile, n_tiles, PIECES, D, K, ITEMS)
    item = tile * ITEMS + tl.arange(0, ITEMS)
    exact = tl.zeros((USERS, ITEMS), tl.float64)
    for depth in range(D):
        a = tl.load(users + row * D + depth, mask=row < n_users, other=0.0).to(tl.float32).to(tl.float64)
        b = tl.load(items + item * D + depth).to(tl.float32).to(tl.float64)
        exact += a[:, None] * b[None, :]
    length = tl.load(lengths + row, mask=row < n_users, other=1.0)
    most = tl.load(longest_of + tile)
    back = score.to(tl.float64) * _power(_exponent(length) - LENGTH)[:, None] * _power(_exponent(most) - LENGTH)
    apart = tl.max(tl.abs(back - exact), 1) / (length * most)
    tl.atomic_max(off, tl.max(apart, 0).to(tl.float32))


@triton.jit(do_not_specialize=["n_tiles"])
def slopes(
    longest_of,
    most,
    slope,
    steepness,
    n_tiles,
    slack,
    FAR: tl.constexpr,
    TINY: tl.constexpr,
    STEEP: tl.constexpr,
    LENGTH: tl.constexpr,
    SIZE: tl.constexpr,
):
    """What scores of each tile are multiplied by, as the product gives them, and what those of the targets are."""
    tile = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    length = tl.load(longest_of + tile, mask=tile < n_tiles, other=0.0)
    back = _back(tl.load(most), FAR)
    steep = (STEEP / (length * slack * _power(back) + TINY)).to(tl.float32)
    tl.store(steepness + tile, steep, mask=tile < n_tiles)
    # Where all scores are 0 any slope will do, but for one that is infinite.
    as_given = tl.where(length > 0, steep.to(tl.float64) * _power(back + _exponent(length) - 2 * LENGTH), 0.0)
    tl.store(slope + tile, as_given.to(tl.float32), mask=tile < n_tiles)
