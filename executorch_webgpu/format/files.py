"""Files as memory: mapped, never copied, and let go of at close."""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import weakref
from pathlib import Path

from executorch_webgpu.errors import InvalidArgument, InvalidProgram, InvalidType, NotFound

Source = str | os.PathLike[str] | bytes | bytearray | memoryview


class MappedFile:
    """A file's bytes. Views of it stay valid until ``close``; arrays over them should be dropped before."""

    def __init__(self, source: Source, what: str = "program") -> None:
        """Open a path, or take bytes.

        Raises:
            NotFound: There is no such file.
            InvalidProgram: It cannot be read or is empty.
            InvalidArgument: It is a folder, or no path that a file can have.
            InvalidType: It is neither a path nor bytes.
        """
        self._map: mmap.mmap | None = None
        self._views: list[memoryview] = []
        if isinstance(source, bytes | bytearray | memoryview):
            self.name = f"<{what} of {len(source)} bytes>"
            self.path: Path | None = None
            view = memoryview(source)
            if not view.c_contiguous:
                raise InvalidArgument("the bytes of a program must be contiguous")
            self.view = (view.cast("B") if view.nbytes else memoryview(b"")).toreadonly()
        else:
            try:
                self.path = Path(source)
            except TypeError:
                raise InvalidType(f"expected the path or the bytes of a {what}, not {type(source).__name__}") from None
            self.name = str(source)
            self.view = self._open(what)

    def _open(self, what: str) -> memoryview:
        assert self.path is not None
        try:
            with self.path.open("rb") as file:
                if not os.fstat(file.fileno()).st_size:
                    raise InvalidProgram(f"{self.name}: the file is empty; expected a {what}")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{self.name}: no such file") from None
        except IsADirectoryError:
            raise InvalidArgument(f"{self.name or 'the empty path'} is a folder; expected a {what} file") from None
        except OSError as error:
            raise InvalidProgram(f"{self.name}: the file cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise InvalidArgument(f"{self.name!r} is no path: {error}") from None
        _mapped_files.add(self)
        return memoryview(self._map)

    def advise(self, advice: int) -> None:
        """Tell the system how the pages are used, if the file is mapped."""
        if self._map is not None:
            with contextlib.suppress(OSError, ValueError):
                self._map.madvise(advice)

    def slice(self, start: int, size: int) -> memoryview:
        """Return a view that ``close`` releases; the range must have been checked."""
        view = self.view[start : start + size]
        self.register(view)
        return view

    def owns(self, view: memoryview) -> bool:
        """Return whether a view is one of this mapping."""
        return self._map is not None and view.obj is self._map

    def register(self, view: memoryview) -> None:
        """Take a view that ``close`` is to release."""
        self._views.append(view)

    def narrow(self, start: int, size: int) -> None:
        """Make the view a part of itself: a program that lies inside another file."""
        self._views.append(self.view)
        self.view = self.view[start : start + size]

    def close(self) -> None:
        """Release all views and unmap the file."""
        if self._map is None:
            self._views = []
            return
        views, self._views = [*self._views, self.view], []
        if not _let_go(views, self._map):
            # Arrays in reference cycles may still hold a view; what an outsider holds is unmapped when it lets go.
            gc.collect()
            _let_go(views, self._map)
        self._map = None


# The files whose pages may count as memory of this process.
_mapped_files: weakref.WeakSet[MappedFile] = weakref.WeakSet()


def part_of(view: memoryview, start: int, size: int) -> memoryview:
    """Return a part of a view; closing the file that the view belongs to releases the part too."""
    part = view[start : start + size]
    for file in tuple(_mapped_files):
        if file.owns(view):
            file.register(part)
    return part


def trim_mappings() -> None:
    """Give back the memory of mapped pages; they are read again from the file when they are next touched.

    Mapped pages that were read count as memory of the process until then. Does nothing where mmap has no madvise.
    """
    advice = getattr(mmap, "MADV_DONTNEED", None)
    if advice is not None:
        for file in tuple(_mapped_files):
            file.advise(advice)


def _let_go(views: list[memoryview], mapped: mmap.mmap) -> bool:
    for view in views:
        with contextlib.suppress(BufferError):
            view.release()
    try:
        mapped.close()
    except BufferError:
        return False
    return True
