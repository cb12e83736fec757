command "keys" {
  argv    = ["ssh-keygen", "-q", "-N", "", "-t", "ed25519", "-f", "/etc/demo/key"]
  creates = "/etc/demo/key"
}
