interpreter_install "hostler" {
  boot_inputs = ["/etc/hostler/inputs.hcl"]
  credentials = { bootstrap_token = "/etc/hostler/credentials/bootstrap_token" }
}
