# Two slots: a repave to another image or version of Kubernetes builds the idle
# machine while the other one runs, and moves over when it is ready. The pods'
# data is on the host and outlives both machines.

recipe "two_slots" {
  language    = 1
  version     = "0.1.0"
  description = "Workers on Flatcar that are repaved from one slot to the other"

  supports "flatcar" {
    id             = "flatcar"
    version_id     = ">= 4081, < 5000"
    default_prefix = "/opt/hostler"
  }
}

variable "bootstrap_token" {
  type        = string
  sensitive   = true
  description = "Bootstrap token of the node"
}

variable "kubernetes_version" {
  type        = string
  default     = "1.34.4"
  description = "Version of Kubernetes; another one is a repave"
}

variable "rootfs_image" {
  type        = string
  description = "Root file system of the machine; another one is a repave"
}

locals {
  slots = ["kube1", "kube2"]
}

stage "data" {
  description = "What outlives the machines"

  directory "volumes" {
    path = "/var/lib/volumes"
    mode = "0711"
  }
}

use "worker" {
  source  = "recipe:flatcar/4/kubernetes-worker"
  version = "~> 1.0"
  inputs = {
    kubernetes_version = var.kubernetes_version
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("files/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = var.bootstrap_token
    rootfs_image       = var.rootfs_image
    machines           = local.slots
    mounts             = [{ source = "/var/lib/volumes" }]
  }
}

output "machine" {
  value       = use.worker.machine
  description = "The slot that runs or is being built"
}
