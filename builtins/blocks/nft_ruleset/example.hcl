nft_ruleset "flush" {
  path     = "/etc/hostler/machines-flush.nft"
  content  = "flush ruleset\n"
  machines = ["kube1", "kube2"]
}
