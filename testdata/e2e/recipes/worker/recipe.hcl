# A worker as it is installed in the field, small: units, drop-ins and the nft
# flush on the host, a machine with a containerd-like and a kubelet-like service
# in it, and a unit on the host at the end.

recipe "worker" {
  language    = 1
  version     = "1.0.0"
  description = "A worker in a systemd-nspawn machine, for tests"

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }

  fingerprint = fingerprint({ rootfs_image = artifact_identity(var.image) })
}

variable "image" {
  type        = string
  description = "Root file system of the machine"
}

variable "containerd" {
  type        = string
  default     = "level = \"info\""
  description = "The configuration of the containerd-like service"
}

variable "labels" {
  type        = map(string)
  default     = { pool = "a" }
  description = "Labels of the node, in the configuration of the kubelet-like service"
}

variable "pause" {
  type        = bool
  default     = false
  description = "Sleep before the services are restarted: time to be killed in"
}

variable "ready_file" {
  type        = string
  default     = "/var/lib/kubelet/kubeconfig"
  description = "What must be there for the machine to be ready"
}

variable "ready_timeout" {
  type    = string
  default = "60s"
}

require_capability "nspawn" {
  executables = ["systemd-nspawn", "nft"]
}

require_capability "port" {
  free_address = "0.0.0.0:10250"
  owner        = "kube1"
}

stage "host" {
  write_file_if_changed "sysctl" {
    path    = "/etc/sysctl.d/99-worker.conf"
    content = "net.ipv4.ip_forward = 1\n"
  }

  # A flush while the machine runs would take its rules away.
  nft_ruleset "flush" {
    path     = "/etc/hostler/nftables-flush.nft"
    content  = "flush ruleset\n"
    unit     = "worker-nft-flush.service"
    machines = ["kube1"]
  }

  systemd_unit "systemd-journald.service" {
    drop_in "10-worker.conf" {
      content = "[Service]\nLogRateLimitIntervalSec=30s\n"
    }
  }
}

stage "machine" {
  nspawn_machine "kube1" {
    rootfs { image = var.image }

    settings {
      exec           = { Capability = "all", PrivateUsers = "no", SystemCallFilter = "@keyring bpf" }
      network        = { VirtualEthernet = "no" }
      files          = { BindReadOnly = ["/etc/hostler"] }
      bind_if_exists = ["/dev/kvm", "/dev/nvidia*"]
    }

    service {
      unit = { StartLimitIntervalSec = "0" }
      service = {
        Restart      = "on-failure"
        RestartSec   = "10s"
        ExecStartPre = ["-/usr/bin/machinectl terminate ${self.name}", "/usr/bin/mkdir -p /run/bpffs/${self.name}"]
        Environment  = "SYSTEMD_NSPAWN_API_VFS_WRITABLE=network"
      }
    }

    before_boot {
      write_file_if_changed "hostname" {
        path    = "/etc/hostname"
        content = "kube1\n"
      }

      systemd_unit "systemd-resolved.service" {
        mask = true
      }

      write_file_if_changed "containerd" {
        path    = "/etc/containerd/config.toml"
        content = "${var.containerd}\n"
      }

      write_file_if_changed "kubelet" {
        path    = "/var/lib/kubelet/config.yaml"
        content = yamlencode({ kind = "KubeletConfiguration", labels = var.labels })
      }

      systemd_unit "kubelet.service" {
        drop_in "20-node-config.conf" {
          content = "[Service]\nEnvironment=NODE_POOL=${lookup(var.labels, "pool", "none")}\n"
        }
      }
    }

    after_boot {
      command "pause" {
        when = var.pause
        argv = ["sleep", "120"]
      }

      systemd_unit "containerd" {
        name   = "containerd.service"
        enable = true
        state  = "started"
      }

      systemd_unit "kubelet" {
        name   = "kubelet.service"
        enable = true
        state  = "started"
      }

      restart_on_change "containerd.service" {
        watch = [write_file_if_changed.containerd]
      }

      restart_on_change "kubelet.service" {
        watch = [write_file_if_changed.kubelet, systemd_unit["kubelet.service"]]
      }

      wait_for "socket" {
        file    = "/run/containerd/containerd.sock"
        timeout = "20s"
      }

      command "seed" {
        argv    = ["/usr/local/bin/seed", "/var/lib/seeded"]
        creates = "/var/lib/seeded"
      }
    }

    ready {
      unit    = "multi-user.target"
      timeout = "60s"
    }

    ready {
      file     = var.ready_file
      timeout  = var.ready_timeout
      interval = "500ms"
      on_timeout = [
        ["systemctl", "status", "kubelet.service", "--no-pager"],
        ["journalctl", "--unit=kubelet.service", "--lines=5", "--no-pager"],
      ]
    }
  }
}

stage "daemon" {
  systemd_unit "worker-daemon.service" {
    content = <<-EOT
      [Unit]
      Description=Daemon of the worker
      After=systemd-nspawn@kube1.service

      [Service]
      ExecStart=/usr/bin/sleep infinity

      [Install]
      WantedBy=multi-user.target
    EOT
    enable  = true
    state   = "started"
    restart = "never"
  }
}

reset_step "leftovers" {
  remove_path {
    path      = "/run/bpffs"
    recursive = true
  }
}

output "root" {
  value = nspawn_machine.kube1.root
}
