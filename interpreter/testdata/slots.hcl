# A machine in two slots, with things on the host beside it.

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
variable "image" {
  type    = string
  default = "/srv/one.tar"
}
variable "ready" {
  type    = string
  default = "/etc/inner.conf"
}

write_file_if_changed "host" {
  path    = "/etc/agent.conf"
  content = "release=${var.release}\n"
}

write_file_if_changed "release" {
  path    = "/etc/agent.d/${var.release}"
  content = "here\n"
}

nspawn_machine "node" {
  slots      = ["kube1", "kube2"]
  rebuild_on = [var.release]
  rootfs {
    image    = var.image
    platform = "linux/amd64"
  }
  settings {
    exec  = { PrivateUsers = "no" }
    files = { Bind = ["/run/bpffs/${self.name}:/sys/fs/bpf"] }
  }
  service {
    service = { Environment = "RELEASE=${var.release}" }
  }
  before_boot {
    write_file_if_changed "hostname" {
      path    = "/etc/hostname"
      content = "${self.name}\n"
    }
  }
  after_boot {
    write_file_if_changed "inner" {
      path    = "/etc/inner.conf"
      content = "release=${var.release}\n"
    }
    systemd_unit "inner.service" {
      content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
      enable  = true
      state   = "started"
    }
    restart_on_change "inner.service" {
      watch = [write_file_if_changed.inner, systemd_unit["inner.service"]]
    }
  }
  ready {
    file    = var.ready
    timeout = "5s"
  }
  after_stop {
    remove_path {
      path      = "/run/bpffs/${self.name}"
      recursive = true
    }
    run { argv = ["stopped", self.name] }
  }
}
