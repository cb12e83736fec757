# Every core block, with foreign things on the host that must come back.

recipe "rich" {
  language    = 1
  version     = "1.0.0"
  fingerprint = fingerprint({ id = var.id })
  supports "debian" { id = "debian" }
}

variable "id" {
  type    = string
  default = "a"
}
variable "level" {
  type    = string
  default = "info"
}
variable "token" {
  type      = string
  default   = null
  sensitive = true
}

require_capability "sh" {
  executable = "sh"
}

reset_step "leftovers" {
  remove_path {
    path      = "/var/lib/agent"
    recursive = true
  }
}

stage "files" {
  directory "conf" {
    path = "/etc/agent"
    mode = "0750"
  }
  write_file_if_changed "config" {
    path    = "/etc/agent/agent.conf"
    content = "level=${var.level}\n"
    mode    = "0640"
  }
  write_file_if_changed "part" {
    for_each       = ["one", "two"]
    path           = "/etc/agent/parts.d/${each.key}.conf"
    content        = "part=${each.key}\n"
    directory_mode = "0700"
  }
  write_file_if_changed "token" {
    when    = var.token != null
    path    = "/etc/agent/token"
    content = var.token
    mode    = "0600"
  }
  write_file_if_changed "motd" {
    path             = "/etc/motd"
    content          = "agent here\n"
    replaces_foreign = true
  }
  write_file_if_changed "daemon" {
    path    = "/etc/daemon.json"
    content = jsonencode({ agent = true })
    merge   = "json"
  }
  symlink "current" {
    path   = "/opt/agent/current"
    target = "../v1"
  }
  absent "old" {
    path = "/etc/cron.d/old"
  }
  command "cache" {
    argv    = ["mkcache"]
    creates = "/var/lib/agent/cache"
  }
}

stage "units" {
  systemd_unit "agent.service" {
    content = "[Service]\nExecStart=/usr/bin/sleep infinity\nEnvironment=LEVEL=${var.level}\n[Install]\nWantedBy=multi-user.target\n"
    enable  = true
    state   = "started"
  }
  systemd_unit "ssh.service" {
    drop_in "10-agent.conf" { content = "[Service]\nNice=5\n" }
    state = "started"
  }
  systemd_unit "noise.service" {
    state  = "stopped"
    enable = false
    mask   = true
  }
  restart_on_change "agent.service" {
    watch = [write_file_if_changed.config, write_file_if_changed.part, write_file_if_changed.token, systemd_unit["agent.service"]]
  }
  restart_on_change "ssh.service" {
    watch = [systemd_unit["ssh.service"]]
  }
}

stage "machine" {
  nspawn_machine "kube1" {
    rootfs {
      image    = "/srv/one.tar"
      platform = "linux/amd64"
    }
    settings {
      exec = { PrivateUsers = "no" }
    }
    service {
      service = { Restart = "on-failure" }
    }
    before_boot {
      write_file_if_changed "hostname" {
        path    = "/etc/hostname"
        content = "worker\n"
      }
      systemd_unit "early.service" {
        content = "[Service]\nExecStart=/usr/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
        enable  = true
      }
    }
    after_boot {
      write_file_if_changed "inner" {
        path    = "/etc/inner/inner.conf"
        content = "level=${var.level}\n"
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
      unit = "inner.service"
    }
  }
}
