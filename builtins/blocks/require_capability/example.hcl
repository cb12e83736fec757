require_capability "nft" {
  executable = "nft"
  packages   = { apt = "nftables", dnf = "nftables", tdnf = "nftables" }
}

require_capability "space" {
  free_space {
    path  = "/var/lib/machines"
    bytes = 10737418240
  }
}

require_capability "api" {
  reachable = "https://api.example.com:6443/livez"
  severity  = "warning"
}
