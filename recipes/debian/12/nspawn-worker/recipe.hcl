# A worker in a systemd-nspawn machine on a Debian 12 host: the host is
# prepared, the machine's root comes from an OCI image, and what the site wants
# to run inside is a unit that the image ships or a recipe that uses this one.

recipe "nspawn_worker" {
  language    = 1
  version     = "1.0.0"
  description = "A systemd-nspawn machine from an OCI image on Debian 12"
  interpreter = ">= 0.1.0"

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }

  fingerprint = fingerprint({
    machine      = var.machine
    rootfs_image = artifact_identity(var.rootfs_image)
  })
}

variable "machine" {
  type        = string
  default     = "worker1"
  description = "Name of the machine, and of its directory below /var/lib/machines"
}

variable "rootfs_image" {
  type        = string
  description = "Root file system: a registry reference, oci-layout:PATH[:tag], or an https URL of a tar archive"
}

variable "nameservers" {
  type        = list(string)
  default     = []
  description = "Name servers inside the machine; none: the host's resolv.conf is bound into it"
}

variable "sysctl" {
  type        = map(string)
  default     = {}
  description = "Kernel parameters beside those that a worker needs"
}

locals {
  sysctl = merge({
    "net.ipv4.ip_forward"      = "1"
    "vm.overcommit_memory"     = "1"
    "kernel.panic"             = "10"
    "kernel.panic_on_oops"     = "1"
    "kernel.keys.root_maxkeys" = "1000000"
  }, var.sysctl)
  resolv_conf = join("", [for s in var.nameservers : "nameserver ${s}\n"])
}

require_capability "nspawn" {
  executables = ["systemd-nspawn", "machinectl"]
  packages    = { apt = ["systemd-container"] }
}

require_capability "nft" {
  executable = "nft"
  packages   = { apt = ["nftables"] }
}

require_capability "machines_writable" {
  writable = "/var/lib/machines"
}

require_capability "space" {
  free_space {
    path  = "/var/lib/machines"
    bytes = 1073741824
  }
}

stage "host" {
  description = "Kernel parameters, firewall flush and package hardening"

  write_file_if_changed "sysctl" {
    path        = "/etc/sysctl.d/99-hostler-worker.conf"
    content     = join("", [for key in sort(keys(local.sysctl)) : "${key} = ${local.sysctl[key]}\n"])
    description = "Kernel parameters a worker needs; read at boot by systemd-sysctl"
  }

  # needrestart would bounce systemd-machined, and with it the machine.
  write_file_if_changed "no_restart_systemd" {
    path    = "/etc/apt/apt.conf.d/99-hostler-no-restart-systemd"
    content = <<-EOT
      Unattended-Upgrade::Package-Blacklist {
        "systemd";
        "systemd-container";
        "systemd-sysv";
        "libsystemd0";
      };
    EOT
  }

  write_file_if_changed "needrestart" {
    path    = "/etc/needrestart/conf.d/99-hostler.conf"
    content = "$nrconf{restart} = 'l';\n"
  }

  # The machine shares the host's network: a flush while it runs would take its
  # rules away, so it happens at boot, before the machine and after firewalls.
  nft_ruleset "flush" {
    path     = "/etc/hostler/nftables-flush.nft"
    content  = "flush ruleset\n"
    machines = [var.machine]
  }
}

stage "machine" {
  description = "The machine, from its image to its readiness"

  nspawn_machine "worker" {
    name = var.machine

    rootfs { image = var.rootfs_image }

    settings {
      exec    = { Capability = "all", PrivateUsers = "no", SystemCallFilter = "@keyring bpf" }
      network = { VirtualEthernet = "no" }
      files   = { BindReadOnly = ["/lib/modules"] }
    }

    service {
      unit    = { StartLimitIntervalSec = "0" }
      service = { Restart = "on-failure", RestartSec = "10s" }
    }

    before_boot {
      write_file_if_changed "hostname" {
        path    = "/etc/hostname"
        content = "${var.machine}\n"
      }

      write_file_if_changed "resolv_conf" {
        when    = length(var.nameservers) > 0
        path    = "/etc/resolv.conf"
        content = local.resolv_conf
      }

      write_file_if_changed "kmsg" {
        path    = "/etc/tmpfiles.d/kmsg.conf"
        content = "L /dev/kmsg - - - - /dev/console\n"
      }

      systemd_unit "systemd-resolved.service" {
        mask = true
      }
    }

    ready {
      unit    = "multi-user.target"
      timeout = "2m"
    }
  }
}

output "root" {
  value       = nspawn_machine.worker.root
  description = "Where the machine's root is on the host"
}
