# A site without a way out: programs come from a mirror under digests that the
# site has checked, images from registries of its own, and the machine's root
# from a directory that the host's image brings. Nothing else is asked.

recipe "air_gapped" {
  language    = 1
  version     = "0.1.0"
  description = "Workers on Azure Container Linux 3 without a way to the internet"

  supports "azure_container_linux" {
    id             = "azurelinux"
    variant_id     = "azurecontainerlinux"
    version_id     = ">= 3.0, < 4.0"
    default_prefix = "/opt/hostler"
  }
}

variable "bootstrap_token" {
  type        = string
  sensitive   = true
  description = "Bootstrap token of the node"
}

variable "mirror" {
  type        = string
  default     = "https://mirror.example.com"
  description = "Where programs and images are mirrored"
  validation {
    condition     = can(regex("^https://[^/]+$", var.mirror))
    error_message = "Give the mirror's address without a path, such as \"https://mirror.example.com\"."
  }
}

variable "digests" {
  type = object({
    kubelet    = string
    kubectl    = string
    kube-proxy = string
    containerd = string
    runc       = string
    cni        = string
    crictl     = string
  })
  description = "SHA-256 digests of the programs, as the site has checked them"
}

variable "rootfs_image" {
  type        = string
  description = "Root file system of the machine in the host's image, such as \"oci-layout:/usr/share/machines/node\""
}

use "worker" {
  source  = "recipe:azure-container-linux/3/kubernetes-worker"
  version = "~> 1.0"
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("files/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = var.bootstrap_token
    rootfs_image       = var.rootfs_image
    sandbox_image      = "registry.example.com/pause:3.9"

    # Every registry is asked for at the mirror.
    registry_mirrors = { "_default" = [var.mirror] }

    # Laid out as the publishers' servers, each below a directory of its own.
    programs = {
      kubernetes = {
        base_url = "${var.mirror}/kubernetes"
        sha256   = { kubelet = var.digests.kubelet, kubectl = var.digests.kubectl, kube-proxy = var.digests.kube-proxy }
      }
      containerd = { base_url = "${var.mirror}/containerd", sha256 = var.digests.containerd }
      runc       = { base_url = "${var.mirror}/runc", sha256 = var.digests.runc }
      cni        = { base_url = "${var.mirror}/cni", sha256 = var.digests.cni }

      # Or wherever they are: {version} and {arch} are filled in.
      crictl = { url = "${var.mirror}/tools/crictl-{version}-{arch}.tar.gz", sha256 = var.digests.crictl }
    }
  }
}
