"""The concrete syntax that libcst gives, to IR; and from IR back to places in the text. The only home of libcst.

It takes every version of Python's grammar whichever runs, keeps comments, and knows exactly where everything stands.
"""
