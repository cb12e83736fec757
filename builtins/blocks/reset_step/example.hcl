reset_step "network" {
  delete_link {
    name_range = "wg51820-51899"
    kind       = "wireguard"
  }
  flush_routes {
    tables = "51820-51899"
  }
  delete_nft_table {
    name         = "demo"
    missing_tool = "absent"
  }
  remove_path {
    path      = "/run/demo"
    recursive = true
  }
}
