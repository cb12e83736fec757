write_file_if_changed "sshd" {
  path     = "/etc/ssh/sshd_config.d/10-demo.conf"
  content  = "PasswordAuthentication no\n"
  mode     = "0600"
  validate = ["sshd", "-t", "-f", "{}"]
}

write_file_if_changed "docker" {
  path    = "/etc/docker/daemon.json"
  merge   = "json"
  content = jsonencode({ "log-driver" = "journald" })
}
