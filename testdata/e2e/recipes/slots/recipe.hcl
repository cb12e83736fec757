recipe "slots" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ release = var.release })
  supports "debian" { id = "debian" }
}

variable "release" {
  type    = string
  default = "1"
}
variable "image" { type = string }
variable "ready" {
  type    = string
  default = "/run/served"
}

write_file_if_changed "release" {
  path    = "/etc/node-release"
  content = "${var.release}\n"
}

nspawn_machine "node" {
  slots      = ["node1", "node2"]
  rebuild_on = [var.release]
  rootfs { image = var.image }
  settings {
    exec    = { PrivateUsers = "no" }
    network = { VirtualEthernet = "no" }
  }
  before_boot {
    write_file_if_changed "release" {
      path    = "/etc/release"
      content = "${var.release} in ${self.name}\n"
    }
    systemd_unit "serving.service" {
      content = "[Service]\nExecStart=/usr/bin/dbus-daemon --session --nofork --nopidfile --address=unix:path=/run/served\n[Install]\nWantedBy=multi-user.target\n"
      enable  = true
    }
  }
  ready {
    unit    = "serving.service"
    timeout = "20s"
  }
  ready {
    file     = var.ready
    timeout  = "2s"
    interval = "200ms"
  }
  after_stop {
    run { argv = ["mkdir", "-p", "/run/stopped/${self.name}"] }
  }
}
