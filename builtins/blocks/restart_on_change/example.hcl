write_file_if_changed "sshd_config" {
  path             = "/etc/ssh/sshd_config.d/50-recipe.conf"
  content          = "PermitRootLogin no\n"
  replaces_foreign = true
}

restart_on_change "ssh.service" {
  watch    = [write_file_if_changed.sshd_config]
  action   = "reload"
  validate = ["sshd", "-t"]
}
