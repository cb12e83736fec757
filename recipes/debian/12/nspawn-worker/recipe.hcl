# A worker in a systemd-nspawn machine on a Debian 12 host: the host is
# prepared, the machine's root comes from an OCI image, and what the site wants
# to run inside is a unit that the image ships or a recipe that uses this one.

recipe "nspawn_worker" {
  language    = 1
  version     = "1.1.0"
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
  validation {
    condition     = can(regex("^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$", var.machine))
    error_message = "A machine's name has letters, digits, dashes and dots, such as \"worker1\"."
  }
}

variable "rootfs_image" {
  type        = string
  description = "Root file system: a registry reference, oci-layout:PATH[:TAG], or an https URL of a tar archive"
}

variable "rootfs_sha256" {
  type        = string
  default     = null
  description = "SHA-256 digest of the archive, where rootfs_image is one"
}

variable "nameservers" {
  type        = list(string)
  default     = []
  description = "Name servers inside the machine; none: it gets a copy of the host's resolv.conf at each start"
}

variable "devices" {
  type        = list(string)
  default     = ["/dev/kvm"]
  description = "Devices of the host, or patterns of them, that the machine gets where they exist"
}

variable "sysctl" {
  type        = map(string)
  default     = {}
  description = "Kernel parameters beside or in place of those that a worker needs; null leaves one as it is on the host"
}

variable "free_bytes" {
  type        = number
  default     = 1073741824
  description = "Space that must be free below /var/lib/machines, in bytes; 1 GiB"
}

variable "interpreter" {
  type        = bool
  default     = true
  description = "Whether hostler itself is installed and looks at the host at every boot"
}

locals {
  sysctl = { for key, value in merge({
    "kernel.keys.root_maxkeys" = "1000000"
    "kernel.panic"             = "10"
    "kernel.panic_on_oops"     = "1"
    "net.ipv4.ip_forward"      = "1"
    "vm.overcommit_memory"     = "1"
  }, var.sysctl) : key => value if value != null }
}

# A first boot without a shell is not silent where Hyper-V or Azure reads this.
status_sink "hyperv" {
  hyperv_kvp {}
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
    bytes = var.free_bytes
  }
}

stage "host" {
  description = "Kernel parameters, firewall flush and package hardening"

  sysctl "worker" {
    when   = length(local.sysctl) > 0
    path   = "/etc/sysctl.d/99-hostler-worker.conf"
    values = local.sysctl
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
    name           = var.machine
    failure_reason = "MachineStartFailed"

    rootfs {
      image          = var.rootfs_image
      sha256         = var.rootfs_sha256
      failure_reason = "RootFSFailed"
    }

    settings {
      exec = {
        Capability       = "all"
        PrivateUsers     = "no"
        ResolvConf       = length(var.nameservers) > 0 ? "off" : "replace-host"
        SystemCallFilter = "@keyring bpf"
      }
      network                  = { VirtualEthernet = "no" }
      bind_if_exists           = var.devices
      bind_read_only_if_exists = ["/lib/modules"]
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
        content = join("", [for server in var.nameservers : "nameserver ${server}\n"])
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
      unit           = "multi-user.target"
      timeout        = "2m"
      failure_reason = "MachineNotReady"
    }
  }
}

stage "interpreter" {
  description = "hostler itself, which looks at the host at every boot"

  interpreter_install "hostler" {
    when = var.interpreter
  }
}

output "root" {
  value       = nspawn_machine.worker.root
  description = "Where the machine's root is on the host"
}
