-- What somebody does in Neovim, and sees: run by test_in_editors.py, in the folder of a project; the answer goes to the file $ANSWER.
-- $SNIPPET is the file with what docs/editors.md says should be in init.lua.

if not vim.lsp.config then -- before Neovim 0.11: a stand-in that starts the same client
  local configurations = {}
  vim.lsp.config = function(name, configuration)
    configurations[name] = configuration
  end
  vim.lsp.enable = function(name)
    local configuration = configurations[name]
    local client
    vim.api.nvim_create_autocmd("FileType", {
      pattern = configuration.filetypes,
      callback = function(event)
        client = client
          or vim.lsp.start_client({
            name = name,
            cmd = configuration.cmd,
            root_dir = vim.fn.getcwd(),
            workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = "project" } },
            init_options = configuration.init_options,
          })
        vim.lsp.buf_attach_client(event.buf, client)
      end,
    })
  end
end

local function wait(what, condition)
  assert(vim.wait(60000, condition, 20), "waited in vain for " .. what)
end

local function open(name)
  vim.cmd("edit " .. name)
  local buffer = vim.api.nvim_get_current_buf()
  wait("a client of " .. name, function()
    return #vim.tbl_values(vim.lsp.buf_get_clients(buffer)) > 0
  end)
  return buffer
end

local function findings(buffer, count)
  wait(count .. " findings", function()
    return #vim.diagnostic.get(buffer) == count
  end)
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(buffer)) do
    local told = each.user_data.lsp
    local related = {}
    for _, step in ipairs(told.relatedInformation or {}) do
      local file = vim.fn.fnamemodify(vim.uri_to_fname(step.location.uri), ":t")
      table.insert(related, { file, step.location.range.start.line + 1, step.message })
    end
    table.insert(found, {
      code = told.code or each.code,
      line = each.lnum + 1,
      column = each.col + 1,
      severity = vim.diagnostic.severity[each.severity],
      source = each.source,
      related = related,
    })
  end
  return found
end

local function text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return text(vim.api.nvim_win_get_buf(window))
    end
  end
end

local function play()
  vim.lsp.buf_get_clients = vim.lsp.get_clients and function(buffer)
    return vim.lsp.get_clients({ bufnr = buffer })
  end or vim.lsp.buf_get_clients
  dofile(vim.env.SNIPPET)
  local seen = {}

  local caller = open("train.py")
  seen.caller = findings(caller, 1)
  vim.api.nvim_win_set_cursor(0, { 6, 12 })
  vim.lsp.buf.hover()
  wait("a hover", floating)
  seen.hover = floating()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })

  local helper = open("sizes.py")
  vim.api.nvim_buf_set_lines(helper, 1, 2, false, { "    return x.shape[0]" })
  seen.without = findings(caller, 0)
  vim.cmd("silent undo")
  seen.again = findings(caller, 1)

  local fill = open("fill.py")
  seen.fill = findings(fill, 1)
  seen.titles = {}
  vim.ui.select = function(items, options, choose)
    for _, item in ipairs(items) do
      local title = options.format_item(item)
      table.insert(seen.titles, title)
      if vim.startswith(title, "Fix JIT401") then
        choose(item, 1)
      end
    end
  end
  vim.api.nvim_win_set_cursor(0, { seen.fill[1].line, 5 })
  local before = text(fill)
  vim.lsp.buf.code_action()
  wait("an edit", function()
    return text(fill) ~= before
  end)
  seen.fixed = text(fill)
  findings(fill, 0)
  return seen
end

local done, seen = xpcall(play, debug.traceback)
local json = vim.json and vim.json.encode or vim.fn.json_encode
local answer = done and { problem = vim.NIL, seen = seen } or { problem = seen }
vim.fn.writefile({ json(answer) }, vim.env.ANSWER)
vim.cmd("qall!")
