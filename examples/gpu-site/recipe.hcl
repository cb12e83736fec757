# Nodes with NVIDIA GPUs: the driver is the host's, its libraries and devices are
# bound into the machine, and containers get them through the runtime. The
# machine's image brings nvidia-container-runtime and nvidia-ctk.

recipe "gpu_site" {
  language    = 1
  version     = "0.1.0"
  description = "GPU workers on Ubuntu 24.04, with the host's NVIDIA driver"

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

variable "gpu" {
  type        = string
  description = "Model of the GPUs, a label of the node, such as \"h100\""
  validation {
    condition     = can(regex("^[a-z0-9]+$", var.gpu))
    error_message = "Give the model in lower case, such as \"h100\"."
  }
}

variable "rootfs_image" {
  type        = string
  description = "Root file system of the machine, with NVIDIA's container toolkit in it"
}

# Without the driver the node would register, and run no pod that wants a GPU.
require_capability "driver" {
  executable = "nvidia-smi"
}

# The mount's source must be there before the machine starts.
stage "models" {
  directory "models" {
    path = "/var/lib/models"
    mode = "0755"
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
    nvidia             = true
    labels             = { "example.com/gpu" = var.gpu }
    taints             = ["nvidia.com/gpu=present:NoSchedule"]

    # Large models are read from a disk of the host.
    mounts = [{ source = "/var/lib/models", read_only = true }]
  }
}
