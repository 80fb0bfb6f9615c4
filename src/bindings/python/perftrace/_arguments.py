# _arguments.py: from values of Python to packed arguments. SPDX-License-Identifier: MIT
"""No argument makes a call fail: what is no number, truth value, text or JSON becomes its repr, cut.

pack(args) gives the shape (keys and types, which belong to a call site) and the block of bytes.
"""
import functools
import itertools
import math
import operator
import os
import struct
import sys
import threading

from . import _library as lib

TEXT_MAX = 4000  # of a repr, of a JSON text; the library's own limit is string_max
_ITEMS_MAX = 200  # of a container; what lies behind is told by number
_VALUES_MAX = 2000  # of all containers of one argument: more would not fit into TEXT_MAX anyway
_BITS_MAX = 2000  # of an integer that is written with decimals, which takes long for large ones
SHAPES_MAX = 4096  # different keys and types of arguments that have call sites of their own

_int64 = struct.Struct("=q").pack
_uint64 = struct.Struct("=Q").pack
_double = struct.Struct("=d").pack
_NULL = _uint64(2**64 - 1)
_INTS = [struct.Struct(f"={n}q").pack for n in range(lib.MAX_ARGS + 1)]


def _before_fork():
    """What is loaded on first use is loaded: where another thread is just about it, the child would wait
    for that thread, which it has not, for ever."""
    if lib.is_active():
        import hashlib, json  # noqa: E401, F401


os.register_at_fork(before=_before_fork)


def _handlers():
    """The code of the handlers of signals that are written in Python."""
    signal = sys.modules.get("_signal")
    if signal is None or threading.current_thread() is not threading.main_thread():
        return  # handlers run elsewhere
    for number in range(1, signal.NSIG):
        handler = signal.getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        if callable(handler):
            if not hasattr(handler, "__code__"):
                handler = getattr(handler, "__func__", type(handler).__call__)
            yield getattr(handler, "__code__", None)


def interrupts(error):
    """Whether an exception that came up here is the program's own and passes: KeyboardInterrupt and
    its like, and what the handler of a signal raised that came in meanwhile (a time-out by alarm)."""
    if not isinstance(error, Exception):
        return True
    trace = error.__traceback__
    if isinstance(error, (RecursionError, MemoryError)) or trace is None or trace.tb_next is None:
        return False  # it came up in this very function, in no handler
    codes = set()
    while trace is not None:
        codes.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    return not codes.isdisjoint(_handlers())


def encode(text):
    """UTF-8 without NUL, which would end it; lone surrogates as U+FFFD."""
    data = text.encode("utf-8", "replace") if text.isascii() or _is_whole(text) else \
        text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode("utf-8")
    return data.replace(b"\0", b"\xef\xbf\xbd") if b"\0" in data else data


def _is_whole(text):
    try:
        text.encode("utf-8")
        return True
    except UnicodeEncodeError:
        return False


def clean(key):
    """A text that has only what a line can have."""
    return encode(key).decode()


def whole(value):
    """The whole number that something is (also one of numpy's, or a tensor), if it has 64 bits; else
    None."""
    try:
        number = int.__index__(operator.index(value))  # no class made of int, which may do anything
    except Exception as error:
        if interrupts(error):
            raise
        return None
    return number if -2**63 <= number < 2**63 else None


def flow_number(flow_id):
    """64 bits for an id of any kind: a number itself, else made of its text, the same in every process."""
    try:
        return int.__index__(operator.index(flow_id)) % 2**64
    except Exception as error:
        if interrupts(error):
            raise
        import hashlib  # for such ids only
        text = flow_id if type(flow_id) is str else describe(flow_id)
        return int.from_bytes(hashlib.blake2b(encode(text), digest_size=8).digest(), "big")


_CODES = {lib.I64: "q", lib.F64: "d", lib.BOOL: "Q"}


def packer(types):
    """A function that packs that many numbers of these types, and raises struct.error for an integer
    that is too large."""
    return struct.Struct("=" + "".join(_CODES[t] for t in types)).pack


def _text(text):
    data = encode(text)
    n = len(data)
    return _uint64(n) + data + bytes(8 - n % 8)


def describe(value):
    """The repr of anything, cut; what its type is where that fails."""
    kind = type(value)
    try:
        if kind.__module__.split(".")[0] == "torch" and hasattr(value, "shape"):
            # Not the values: they may lie on a device that is busy.
            return f"{kind.__name__}(shape={tuple(value.shape)}, dtype={value.dtype}, " \
                   f"device={value.device})"
        if isinstance(value, (bytes, bytearray)):
            value = value[:TEXT_MAX]
        text = _digits(value) if kind is int else repr(value)
    except Exception as error:
        if interrupts(error):
            raise
        return f"<{kind.__name__}: repr raises {type(error).__name__}>"
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


def _scalar(value):
    """The number that a numpy scalar or a tensor of one element on the processor holds; else
    None."""
    kind = type(value)
    package = kind.__module__.split(".")[0]
    try:
        if package == "numpy" and getattr(value, "shape", None) == ():
            return value.item()
        if package == "torch" and value.device.type == "cpu" and value.numel() == 1:
            return value.item()
    except Exception as error:
        if interrupts(error):
            raise
    return None


def _digits(number):
    """Of an integer: decimals, or hexadecimal ones where those would take long."""
    if number.bit_length() <= _BITS_MAX:
        return str(number)
    text = hex(number)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


def _some(items, left):
    """The first items of a container, as many as may still be taken; left is their number, in a list."""
    some = list(itertools.islice(items, min(_ITEMS_MAX, left[0])))
    left[0] -= len(some)
    return some


def plain(value, depth=0, left=None):
    """Something that json.dumps takes and that is strict JSON."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return encode(value if len(value) <= TEXT_MAX else f"{value[:TEXT_MAX]}…").decode()
    if kind is int:
        return value if abs(value) < 2**63 else _digits(value)
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if depth > 16:
        return describe(value)
    if left is None:
        left = [_VALUES_MAX]
    if isinstance(value, dict):
        items = _some(value.items(), left)
        out = dict(zip(unlike(_key(k) for k, _ in items),
                       [plain(v, depth + 1, left) for _, v in items]))
        if len(value) > len(items):
            out["…"] = f"{len(value) - len(items)} more"
        return out
    if isinstance(value, (list, tuple, set, frozenset)):
        items = _some(value, left)
        out = [plain(v, depth + 1, left) for v in items]
        if len(value) > len(items):
            out.append(f"… {len(value) - len(items)} more")
        return out
    scalar = _scalar(value)
    if scalar is not None and scalar is not value:
        return plain(scalar, depth + 1, left)
    for base in (bool, int, float, str):  # enums and other classes made of them
        if isinstance(value, base):
            return plain(base(value), depth + 1, left)
    return describe(value)


def unlike(keys):
    """Keys of which no two are the same, as 1 and "1" are once both are texts: a number is put
    behind."""
    taken = set()
    for key in keys:
        first, n = key, 1
        while key in taken:
            n += 1
            key = f"{first} ({n})"
        taken.add(key)
        yield key


def _key(key):
    try:
        return encode(key if type(key) is str else str(key)).decode()
    except Exception as error:
        if interrupts(error):
            raise
        return describe(key)


def _pack_one(value):
    kind = type(value)
    if kind is int:
        if -2**63 <= value < 2**63:
            return lib.I64, _int64(value)
        return (lib.U64, _uint64(value)) if 0 < value < 2**64 else (lib.STR, _text(_digits(value)))
    if kind is float:
        return lib.F64, _double(value)
    if kind is str:
        return lib.STR, _text(value)
    if kind is bool:
        return lib.BOOL, _uint64(value)
    if value is None:
        return lib.STR, _NULL
    made = plain(value)
    return _json(made) if type(made) in (dict, list) else _pack_one(made)


def _json(made):
    import json  # for containers only: it takes a while to load
    text = json.dumps(made, ensure_ascii=False, allow_nan=False)
    # Half a JSON text is none: then a text, which may be cut.
    return lib.JSON if len(text) <= TEXT_MAX and text.isascii() or \
        len(encode(text)) <= TEXT_MAX else lib.STR, _text(text)


def _pack_any(args):
    keys, types, blocks = [], [], []
    items = list(args.items())
    rest = items[lib.MAX_ARGS - 1:] if len(items) > lib.MAX_ARGS else []
    for key, value in items[:len(items) - len(rest)]:
        try:
            kind, block = _pack_one(value)
        except Exception as error:  # a container whose methods fail
            if interrupts(error):
                raise
            kind, block = lib.STR, _text(f"<{type(value).__name__}: {type(error).__name__}>")
        keys.append(_key(key))
        types.append(kind)
        blocks.append(block)
    if rest:
        kind, block = _json(plain(dict(rest)))
        keys.append("more_args")
        types.append(kind)
        blocks.append(block)
    return tuple(keys), tuple(types), b"".join(blocks)


_ALL_INTS = [(lib.I64,) * n for n in range(lib.MAX_ARGS + 1)]


_shapes = set()


def has_shape(keys, types):
    """Whether arguments of these keys and types have call sites of their own: a program that makes keys
    up as it goes would make ever more."""
    shape = keys, types
    if shape in _shapes:
        return True
    if len(_shapes) >= SHAPES_MAX:
        return False
    _shapes.add(shape)
    return True


def _pack_mapping(args):
    if type(args) is not dict:
        return _pack_any(dict(args) if hasattr(args, "keys") else {"args": args})
    values = args.values()
    n = len(args)
    if n <= lib.MAX_ARGS and {int}.issuperset(map(type, values)) and \
            {str}.issuperset(map(type, args)):
        try:
            return tuple(args), _ALL_INTS[n], _INTS[n](*values)
        except struct.error:
            pass  # more than 64 bits
    return _pack_any(args)


def pack(args):
    """(keys, types, block) of a mapping, which is not changed; of anything else one argument called
    args. Does not raise."""
    try:
        packed = _pack_mapping(args)
        if has_shape(packed[0], packed[1]):
            return packed
        kind, block = _json(plain(dict(args) if hasattr(args, "keys") else args))
        return ("args",), (kind,), block
    except Exception as error:
        if interrupts(error):
            raise
        return _pack_any({"args": f"<{type(args).__name__}: {type(error).__name__}>"})
