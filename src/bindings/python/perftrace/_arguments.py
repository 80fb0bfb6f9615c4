# _arguments.py: from values of Python to packed arguments. SPDX-License-Identifier: MIT
"""No argument makes a call fail: what is no number, truth value, text or JSON becomes its repr, cut.

pack(args) gives the shape (keys and types, which belong to a call site) and the block of bytes.
"""
import math
import struct

from . import _library as lib

TEXT_MAX = 4000  # of a repr, of a JSON text; the library's own limit is string_max
_ITEMS_MAX = 200  # of a container; what lies behind is told by number

_int64 = struct.Struct("=q").pack
_uint64 = struct.Struct("=Q").pack
_double = struct.Struct("=d").pack
_NULL = _uint64(2**64 - 1)
_INTS = [struct.Struct(f"={n}q").pack for n in range(lib.MAX_ARGS + 1)]


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
        text = repr(value)
    except Exception as error:
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
    except Exception:
        pass
    return None


def plain(value, depth=0):
    """Something that json.dumps takes and that is strict JSON."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value if kind is not str else encode(value).decode()
    if kind is int:
        return value if abs(value) < 2**63 else str(value)
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if depth > 16:
        return describe(value)
    if isinstance(value, dict):
        items = list(value.items())
        out = {_key(k): plain(v, depth + 1) for k, v in items[:_ITEMS_MAX]}
        if len(items) > _ITEMS_MAX:
            out["…"] = f"{len(items) - _ITEMS_MAX} more"
        return out
    if isinstance(value, (list, tuple, set, frozenset)):
        items = list(value)
        out = [plain(v, depth + 1) for v in items[:_ITEMS_MAX]]
        if len(items) > _ITEMS_MAX:
            out.append(f"… {len(items) - _ITEMS_MAX} more")
        return out
    scalar = _scalar(value)
    if scalar is not None and scalar is not value:
        return plain(scalar, depth + 1)
    for base in (bool, int, float, str):  # enums and other classes made of them
        if isinstance(value, base):
            return plain(base(value), depth + 1)
    return describe(value)


def _key(key):
    try:
        return encode(key if type(key) is str else str(key)).decode()
    except Exception:
        return describe(key)


def _pack_one(value):
    kind = type(value)
    if kind is int:
        if -2**63 <= value < 2**63:
            return lib.I64, _int64(value)
        return (lib.U64, _uint64(value)) if 0 < value < 2**64 else (lib.STR, _text(str(value)))
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
        kind, block = _pack_one(value)
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


def pack(args):
    """(keys, types, block) of a mapping, which is not changed; of anything else one argument called
    args. Does not raise."""
    try:
        if type(args) is dict:
            values = args.values()
            n = len(args)
            if n <= lib.MAX_ARGS and {int}.issuperset(map(type, values)) and \
                    {str}.issuperset(map(type, args)):
                try:
                    return tuple(args), _ALL_INTS[n], _INTS[n](*values)
                except struct.error:
                    pass  # more than 64 bits
            return _pack_any(args)
        return _pack_any(dict(args) if hasattr(args, "keys") else {"args": args})
    except Exception as error:
        return _pack_any({"args": f"<{type(args).__name__}: {type(error).__name__}>"})
