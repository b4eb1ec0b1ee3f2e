" :make runs jitlint on the project and fills the quickfix list. Put this into after/ftplugin/python.vim.
setlocal makeprg=jitlint\ check\ -q\ --output-format\ concise
setlocal errorformat=%f:%l:%c:\ %m
