# _sites.py: call sites, made on first use and kept. SPDX-License-Identifier: MIT
"""A site is a small number of the library's. There are as many as there are different pairs of name
and category and shapes of arguments; beyond a few thousand names (a program makes them up as it
goes), sites have no name and the name goes with each event."""
import ctypes

from . import _library as lib
from ._arguments import clean, encode, interrupts, unlike

NAMES_MAX = 4096
CATEGORIES_MAX = 1024
_KEY_MAX = 16000  # characters, which are 64000 bytes at most: the library cuts beyond, and twins came of it
_NO_SHAPE = ((), ())

_numbers = {}  # (kind, name or None, category, keys, types): number
_names = set()  # that have sites of their own
_categories = set()


def category_of(category):
    """AReaL's rule: what is no text, or blank, is misc; the library knows the aliases. Past the first
    thousand of them each is misc: categories are for filters, not for what differs from call to call."""
    if category is None:
        return "misc"
    if type(category) is not str:
        try:
            category = category.value  # Category, or another enum of texts
        except Exception as error:
            if interrupts(error):
                raise
            return "misc"
        if type(category) is not str:
            return "misc"
    if category in _categories:
        return category
    if not category.strip() or len(_categories) >= CATEGORIES_MAX:
        return "misc"
    _categories.add(category)
    return category


def may_keep(name, category):
    """Whether what belongs to a name and category as they were given may be kept under them: not objects
    of any kind, of which there may be any number."""
    if type(name) is not str or category is None or type(category) is str:
        return type(name) is str and (category is None or category_of(category) == category)
    try:
        return issubclass(type(category), str) and bool(category_of(category) == category)
    except Exception as error:  # a class made of str may do anything
        if interrupts(error):
            raise
        return False


def name_of(name):
    if type(name) is str:
        return name
    try:
        return str(name)
    except Exception as error:
        if interrupts(error):
            raise
        return f"<{type(name).__name__}>"


def _make(kind, name, category, keys, types):
    names = unlike(clean(key[:_KEY_MAX]) for key in keys)
    args = (lib.Arg * len(keys))(*[(encode(k), t) for k, t in zip(names, types)]) if keys else None
    shown, category_text = None if name is None else encode(name), encode(category)
    try:
        number = lib.bound_site(kind, shown, category_text, len(keys),
                                ctypes.addressof(args) if keys else None)
    except ctypes.ArgumentError as error:  # what ctypes makes of it where a recursion ends
        raise RecursionError(str(error)) from None
    if number < 0:
        # For want of memory: events of the site are not recorded, calls are refused.
        return number
    _numbers[kind, name, category, keys, types] = number
    return number


def has_name(name):
    """Whether events of the name have sites of their own."""
    if name in _names:
        return True
    if len(_names) >= NAMES_MAX:
        return False
    _names.add(name)
    return True


def site(kind, name, category, keys=(), types=()):
    """The number of a site. name None: named at each event. Negative without memory."""
    number = _numbers.get((kind, name, category, keys, types))
    return number if number is not None else _make(kind, name, category, keys, types)
