-- Put this into ~/.config/nvim/lsp/hostler.lua (Neovim 0.11 and newer), and
--   vim.lsp.enable("hostler")
-- into init.lua.
return {
  cmd = { "hostler", "lsp" },
  filetypes = { "hcl" },
  root_markers = { "recipe.hcl", ".hostler-lint.hcl", ".git" },
}
