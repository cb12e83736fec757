# Release 2 of the recipe beside it.
recipe "crash" {
  language    = 1
  version     = "2.0.0"
  description = "Whatever is interrupted is finished or undone"
  supports "debian" { id = "debian" }
  fingerprint = fingerprint({ machine = var.image != "" })
}

variable "image" {
  type        = string
  default     = ""
  description = "Image of a machine; none without it"
}

require_capability "etc" {
  writable = "/etc/crash"
}

# What a running service leaves behind goes after the service has gone.
reset_step "leftovers" {
  remove_path {
    path      = "/run/crash"
    recursive = true
  }
}

stage "files" {
  directory "state" {
    path = "/var/lib/crash/state"
    mode = "0700"
  }

  write_file_if_changed "config" {
    path    = "/etc/crash/config"
    content = "release = 2\n${join("", [for i in range(1000) : "line ${i} of release 2\n"])}"
  }

  write_file_if_changed "same" {
    path    = "/etc/crash/same"
    content = "the same in both releases\n"
  }

  write_file_if_changed "added" {
    path    = "/etc/crash/only-2/deep/down/here.conf"
    content = "only in release 2\n"
  }

  write_file_if_changed "secret" {
    path    = "/etc/crash/secret"
    mode    = "0600"
    content = "not for all\n"
  }

  write_file_if_changed "motd" {
    path             = "/etc/motd"
    content          = "release 2\n"
    replaces_foreign = true
  }

  write_file_if_changed "merged" {
    path    = "/etc/foreign.json"
    merge   = "json"
    content = jsonencode({ release = 2, nested = { ours = true } })
  }

  write_file_if_changed "tool" {
    path   = "/usr/local/bin/crash-tool"
    source = "files/tool"
    mode   = "0755"
  }

  symlink "current" {
    path   = "/opt/crash/current"
    target = "releases/2"
  }

  absent "tree" {
    path = "/etc/foreign.d"
  }

  command "made" {
    argv    = ["mkdir", "-p", "/run/crash/made"]
    creates = "/run/crash/made"
  }
}

stage "units" {
  # Keeps what it was started with, so that a lost restart shows.
  systemd_unit "crash-main.service" {
    content = <<-EOT
      [Unit]
      Description=Main service of release 2
      [Service]
      ExecStartPre=/usr/bin/mkdir -p /run/crash
      ExecStartPre=/usr/bin/cp /etc/crash/config /run/crash/config-in-use
      Type=notify
      NotifyAccess=all
      ExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep infinity'
      [Install]
      WantedBy=multi-user.target
    EOT

    drop_in "10-release.conf" {
      content = "[Service]\nEnvironment=RELEASE=2\n"
    }
    enable = true
    state  = "started"
  }

  systemd_unit "foreign-extended.service" {
    drop_in "50-crash.conf" {
      content = "[Service]\nEnvironment=EXTENDED=2\n"
    }
    state = "started"
  }

  restart_on_change "crash-main.service" {
    watch = [write_file_if_changed.config, systemd_unit["crash-main.service"]]
  }

  restart_on_change "foreign-extended.service" {
    watch = [systemd_unit["foreign-extended.service"]]
  }
}

stage "machine" {
  when = var.image != ""

  nspawn_machine "crashbox" {
    rootfs { image = var.image }

    settings {
      exec    = { PrivateUsers = "no" }
      network = { VirtualEthernet = "no" }
    }

    before_boot {
      write_file_if_changed "inside" {
        path    = "/etc/inside"
        content = "release 2\n"
      }
    }

    after_boot {
      write_file_if_changed "later" {
        path    = "/etc/later"
        content = "release 2\n"
      }
    }

    ready {
      unit = "multi-user.target"
    }
  }
}
