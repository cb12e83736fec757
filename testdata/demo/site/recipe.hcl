# What the demo applies: a kernel parameter, a service with its configuration,
# a file of the host that is replaced, and a machine whose root comes from an
# OCI image.

recipe "demo" {
  language    = 1
  version     = "1.0.0"
  description = "A small site on a Debian host"

  supports "debian" {
    id         = "debian"
    version_id = ">= 12"
  }

  fingerprint = fingerprint({ site = var.site })
}

variable "site" {
  type    = string
  default = "demo"
}

variable "tuning" {
  type        = bool
  default     = true
  description = "Whether kernel parameters are set"
}

require_capability "nspawn" {
  executable = "systemd-nspawn"
}

stage "host" {
  write_file_if_changed "motd" {
    path             = "/etc/motd"
    replaces_foreign = true
    content          = "This host serves ${var.site}.\n"
  }

  write_file_if_changed "tuning" {
    when    = var.tuning
    path    = "/etc/sysctl.d/50-demo.conf"
    content = "vm.swappiness = 1\n"
  }

  write_file_if_changed "settings" {
    path    = "/etc/demo/settings.json"
    mode    = "0640"
    content = "${jsonencode({ site = var.site, port = 8080 })}\n"
  }

  systemd_unit "demo.service" {
    source = "files/demo.service"
    enable = true
    state  = "started"
  }

  restart_on_change "demo.service" {
    watch = [write_file_if_changed.settings, systemd_unit["demo.service"]]
  }
}

stage "machine" {
  nspawn_machine "worker" {
    rootfs { image = "oci-layout:/srv/worker-image" }

    settings {
      exec    = { PrivateUsers = "no" }
      network = { VirtualEthernet = "no" }
    }

    before_boot {
      write_file_if_changed "hostname" {
        path    = "/etc/hostname"
        content = "worker\n"
      }

      systemd_unit "worker.service" {
        enable = true
      }
    }
  }
}
