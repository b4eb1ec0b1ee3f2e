;;; eglot.el --- What somebody does in Emacs, and sees  -*- lexical-binding: t -*-

;; Run by test_in_editors.py, in the folder of a project; the answer goes to the file $ANSWER. $SNIPPET is the file with what
;; docs/editors.md says should be in init.el. Nobody is idle where Emacs is not interactive: changes are sent by hand.

(require 'cl-lib)
(require 'json)
(load (getenv "SNIPPET") nil t)
(require 'eglot)
(setq eglot-autoreconnect nil
      eglot-sync-connect 60
      eglot-connect-timeout 60
      python-indent-guess-indent-offset nil)

(defun seen-wait (what condition)
  "The value of CONDITION, as soon as it is not nil; an error that names WHAT after a minute."
  (let ((end (+ (float-time) 60)) found)
    (while (not (setq found (funcall condition)))
      (when (> (float-time) end) (error "Waited in vain for %s" what))
      (accept-process-output nil 0.02))
    found))

(defun seen-open (name)
  "A buffer that visits the file NAME, with a server."
  (switch-to-buffer (find-file-noselect name))
  (unless (eglot-current-server)
    (apply #'eglot--connect (eglot--guess-contact)))
  (seen-wait "a server" #'eglot-managed-p)
  (current-buffer))

(defun seen-findings (buffer count)
  "The findings that BUFFER shows, as soon as there are COUNT."
  (with-current-buffer buffer
    (seen-wait (format "%d findings in %s" count buffer)
               (lambda () (flymake-start) (= (length (flymake-diagnostics)) count)))
    (vconcat
     (mapcar (lambda (each)
               (list :line (line-number-at-pos (flymake-diagnostic-beg each))
                     :marked (buffer-substring-no-properties (flymake-diagnostic-beg each)
                                                             (flymake-diagnostic-end each))
                     :text (flymake-diagnostic-text each)))
             (flymake-diagnostics)))))

(defun seen-change (from to)
  "Put TO in the place of FROM, and tell the server."
  (goto-char (point-min))
  (search-forward from)
  (replace-match to t t)
  (eglot--signal-textDocument/didChange))

(defun seen-play ()
  "What is seen."
  (let (hover titles caller without again fill)
    (let ((train (seen-open "train.py")))
      (setq caller (seen-findings train 1))
      (goto-char (point-min))
      (search-forward "size(x")
      (backward-char)
      (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover (substring-no-properties text))))
      (seen-wait "a hover" (lambda () hover))
      (seen-open "sizes.py")
      (seen-change "x.sum()" "x.shape[0]")
      (setq without (seen-findings train 0))
      (seen-change "x.shape[0]" "x.sum()")
      (setq again (seen-findings train 1)))
    (let ((buffer (seen-open "fill.py")))
      (setq fill (seen-findings buffer 1))
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_ choices &rest _)
                   (setq titles (all-completions "" choices))
                   (cl-find "Fix JIT401" titles :test (lambda (start title) (string-prefix-p start title))))))
        (let ((finding (with-current-buffer buffer (car (flymake-diagnostics))))
              (last-nonmenu-event t)) ; the keyboard, not a menu
          (eglot-code-actions (flymake-diagnostic-beg finding) (flymake-diagnostic-end finding) nil t)))
      (eglot--signal-textDocument/didChange)
      (seen-findings buffer 0)
      (list :caller caller :hover hover :without without :again again :fill fill :titles (vconcat titles)
            :fixed (buffer-substring-no-properties (point-min) (point-max))))))

(let* ((problem nil)
       (seen (condition-case error (seen-play) (error (setq problem (format "%S" error)) nil))))
  (with-temp-file (getenv "ANSWER")
    (insert (json-encode (list :problem problem :seen seen))))
  (ignore-errors (eglot-shutdown-all)))

;;; eglot.el ends here
