"""The names that Python defines everywhere, as abstract values (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import STR, Ext, Value

_FUNCTIONS: Final = """
abs aiter all anext any ascii bin breakpoint callable chr compile delattr dir divmod eval exec filter format getattr
globals hasattr hash hex id input isinstance issubclass iter len locals map max min next oct open ord pow print repr
reversed round setattr sorted sum vars zip __import__ exit quit copyright credits help license display
"""
_TYPES: Final = """
bool bytearray bytes classmethod complex dict enumerate float frozenset int list memoryview object property range
set slice staticmethod str super tuple type
"""
_EXCEPTIONS: Final = """
ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError Exception ExceptionGroup
FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning
IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError
PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning
RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit
TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError
UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
"""

EXCEPTIONS: Final = frozenset(_EXCEPTIONS.split())
"""Names of the exception classes, without ``builtins.``."""

BUILTINS: Final[dict[str, Value]] = {
    **{name: Ext(f"builtins.{name}") for name in (*_FUNCTIONS.split(), *_TYPES.split(), *sorted(EXCEPTIONS))},
    "NotImplemented": Ext("builtins.NotImplemented"),
    "Ellipsis": Ext("builtins.Ellipsis"),
    "__name__": STR,
    "__file__": STR,
    "__doc__": STR,
}
"""Name to value. The constants None, True and False are literals, not names."""
