edit_lines "sshd" {
  path = "/etc/ssh/sshd_config"

  comment {
    match = "\\s*X11Forwarding\\s+yes"
  }
  ensure {
    line  = "MaxAuthTries 3"
    match = "#?\\s*MaxAuthTries\\s.*"
  }
}
