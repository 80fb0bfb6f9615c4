# build_backend.py: makes the wheel. SPDX-License-Identifier: MIT
"""A build backend (PEP 517) for a package without compiled parts. The wheel finds the library by
PERFTRACE_LIBRARY or where the system looks; libperftrace.so.0 beside the package goes into it."""
import base64
import hashlib
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "perftrace"
SUMMARY = "Tracing for programs that train models on many ranks, over libperftrace"


def _version():
    with open(os.path.join(HERE, NAME, "__init__.py"), encoding="utf-8") as file:
        return re.search(r'^__version__ = "(.*)"$', file.read(), re.M).group(1)


def _metadata():
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {_version()}\nSummary: {SUMMARY}\n"
            "License: MIT\nRequires-Python: >=3.9\n").encode()


def _wheel_info():
    return b"Wheel-Version: 1.0\nGenerator: perftrace\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def _package_files():
    for folder, folders, names in os.walk(os.path.join(HERE, NAME)):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".typed", ".so.0")):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    yield os.path.relpath(path, HERE).replace(os.sep, "/"), file.read()


def _write_wheel(directory, files):
    info = f"{NAME}-{_version()}.dist-info"
    entries = list(files) + [(f"{info}/METADATA", _metadata()), (f"{info}/WHEEL", _wheel_info())]
    record = []
    wheel = f"{NAME}-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in entries:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
            out.writestr(path, data)
        record.append(f"{info}/RECORD,,")
        out.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, _package_files())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, [(f"{NAME}.pth", (HERE + "\n").encode())])


def build_sdist(sdist_directory, config_settings=None):
    base = f"{NAME}-{_version()}"
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as out:
        for name in ("pyproject.toml", "build_backend.py"):
            out.add(os.path.join(HERE, name), f"{base}/{name}")
        for path, _ in _package_files():
            out.add(os.path.join(HERE, path), f"{base}/{path}")
    return base + ".tar.gz"
