;;; flycheck-jitlint.el --- jitlint in Emacs  -*- lexical-binding: t -*-

(require 'flycheck)

(flycheck-define-checker python-jitlint
  "Finds code that JAX will refuse to trace."
  :command ("jitlint" "check" "-q" "--output-format" "concise" "--context" "."
            "--stdin-filename" source-original "-")
  :standard-input t
  :working-directory flycheck-python-find-project-root
  :error-patterns
  ((error line-start (file-name) ":" line ":" column ": " (id (+ (any "A-Z0-9"))) " " (message) line-end))
  :modes (python-mode python-ts-mode))

(add-to-list 'flycheck-checkers 'python-jitlint t)

;;; flycheck-jitlint.el ends here
