"""The language server: findings, what values are, and ways to silence, in an editor while somebody types.

Needs the extra ``jitlint[lsp]``; nothing else in jitlint imports this package.
"""
