# A build host in a machine of its own: uses the shipped nspawn worker and adds
# what the site wants, on the host and around the machine.

recipe "build_host" {
  language    = 1
  version     = "0.1.0"
  description = "A build machine on Debian 12, with its own limits and a cache directory"

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }

  fingerprint = fingerprint({ image = artifact_identity(var.image) })
}

variable "image" {
  type        = string
  description = "Root file system of the build machine"
}

variable "memory" {
  type        = string
  default     = "8G"
  description = "Memory limit of the build machine, as systemd writes it"
}

stage "cache" {
  directory "cache" {
    path = "/var/cache/build-host"
    mode = "0755"
  }
}

use "worker" {
  source = "recipe:debian/12/nspawn-worker"
  inputs = {
    machine      = "build1"
    rootfs_image = var.image
    nameservers  = ["192.0.2.53"]
    sysctl       = { "vm.swappiness" = "1" }
  }
}

systemd_unit "systemd-nspawn@build1.service" {
  drop_in "20-limits.conf" {
    content = "[Service]\nMemoryMax=${var.memory}\nCPUWeight=50\n"
  }
}
