# A site over a shipped recipe: what is the same on all its nodes is written
# here, so that a node needs a token, and a pool at most. Beside the worker the
# site sets up time on the host and a file inside the machine.

recipe "overlay_site" {
  language    = 1
  version     = "0.1.0"
  description = "Workers of the site north, on Ubuntu 24.04"

  supports "ubuntu" {
    id         = "ubuntu"
    version_id = ">= 24.04, < 24.05"
  }
}

variable "bootstrap_token" {
  type        = string
  sensitive   = true
  description = "Bootstrap token of the node"
}

variable "pool" {
  type        = string
  default     = "general"
  description = "Pool of the node; it is a label, and a taint unless it is general"
  validation {
    condition     = contains(["general", "build", "database"], var.pool)
    error_message = "The site has the pools general, build and database."
  }
}

variable "rootfs_image" {
  type        = string
  description = "Root file system of the machine"
}

stage "time" {
  description = "The host's clock, before certificates are looked at"

  write_file_if_changed "chrony" {
    path             = "/etc/chrony/conf.d/north.conf"
    source           = "files/chrony.conf"
    replaces_foreign = true
  }
}

use "worker" {
  source  = "recipe:ubuntu/24.04/kubernetes-worker"
  version = "~> 1.0"
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("files/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = var.bootstrap_token
    rootfs_image       = var.rootfs_image
    labels             = { "example.com/site" = "north", "example.com/pool" = var.pool }
    taints             = var.pool == "general" ? [] : ["example.com/pool=${var.pool}:NoSchedule"]
    sysctl             = { "vm.max_map_count" = "262144" }
    kubelet            = { maxPods = 200, systemReserved = { cpu = "500m", memory = "1Gi" } }
    machine_files = {
      "/etc/profile.d/site.sh" = { content = "export SITE=north\n" }
    }
  }
}

output "root" {
  value       = use.worker.root
  description = "Where the machine's root is on the host"
}
