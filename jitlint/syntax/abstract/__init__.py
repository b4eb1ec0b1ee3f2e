"""The abstract syntax that Python's own parser gives, to IR.

It knows no layout, no parentheses and no comments, and what it accepts depends on the version of Python that runs; it
parses twelve times as fast as a parser that keeps all of that. Its origins are those of `jitlint.syntax.concrete`,
number for number: what it cannot place can be asked for there.
"""
