write_file_if_changed "demo_config" {
  path    = "/etc/demo.conf"
  content = "port = 8080\n"
}

systemd_unit "demo.service" {
  content = <<-EOT
    [Unit]
    Description=Demonstration
    After=network.target

    [Service]
    ExecStart=/usr/bin/sleep infinity

    [Install]
    WantedBy=multi-user.target
  EOT

  drop_in "10-limits.conf" {
    content = "[Service]\nLimitNOFILE=65536\n"
  }

  enable = true
  state  = "started"
}

restart_on_change "demo.service" {
  watch = [write_file_if_changed.demo_config, systemd_unit["demo.service"]]
}

# A unit that the image brought is put out of the way, and comes back on reset.
systemd_unit "docker.service" {
  mask            = true
  state           = "stopped"
  on_stop_failure = "warn"
}
