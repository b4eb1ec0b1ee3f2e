"""The whole program: abstract interpretation from the roots (layer: ``link``).

The modules of this package call each other in circles, as an expression may call a function whose statements
evaluate expressions. Importing the entry point here loads them in one order, whichever is asked for first.
"""

from jitlint.link.program import Analysis, ModuleInput, Options, analyse

__all__ = ["Analysis", "ModuleInput", "Options", "analyse"]
