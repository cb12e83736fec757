# A Kubernetes worker on Azure Container Linux 3. The image manages its own
# software: nothing is ever installed, /usr is read-only, and hostler lives in
# /opt/hostler. systemd-nspawn, nft and curl come with the image.

recipe "kubernetes_worker" {
  language    = 1
  version     = "1.0.0"
  description = "Kubernetes worker in a systemd-nspawn machine on Azure Container Linux 3"
  interpreter = ">= 0.1.0"

  supports "azure_container_linux" {
    id             = "azurelinux"
    variant_id     = "azurecontainerlinux"
    version_id     = ">= 3.0, < 4.0"
    default_prefix = "/opt/hostler"
  }
  supports "azure_container_linux_by_its_likeness" {
    id             = "azurelinux"
    id_like        = "flatcar"
    version_id     = ">= 3.0, < 4.0"
    default_prefix = "/opt/hostler"
  }
}

# From here on all images are the same: the variables of recipe:shared/kubernetes-worker, handed on to it.

# --- the cluster ---

variable "kubernetes_version" {
  type        = string
  description = "Version of Kubernetes, such as \"1.34.4\"; 1.27 is the oldest"
  validation {
    condition     = can(regex("^v?1\\.[0-9]+\\.[0-9]+$", var.kubernetes_version)) && try(tonumber(split(".", var.kubernetes_version)[1]), 0) >= 27
    error_message = "Give a version of three numbers, such as \"1.34.4\", and not one older than 1.27: the kubelet is configured by a file that older ones do not read."
  }
}

variable "api_server" {
  type        = string
  description = "Address of the API server, such as \"https://api.example.com:6443\""
  validation {
    condition     = can(regex("^(https://)?[A-Za-z0-9.:\\[\\]-]+/?$", var.api_server))
    error_message = "Give host and port of the API server, such as \"https://api.example.com:6443\"; nothing but https is spoken."
  }
}

variable "ca_certificate" {
  type        = string
  description = "Certificate of the cluster's CA: PEM text, or that in base64 as it stands in a kubeconfig"
  validation {
    condition     = strcontains(try(base64decode(var.ca_certificate), var.ca_certificate), "-----BEGIN CERTIFICATE-----")
    error_message = "Give the CA's certificate as PEM text that begins with -----BEGIN CERTIFICATE-----, or that text in base64."
  }
}

variable "cluster_dns" {
  type        = string
  description = "Address of the cluster's DNS service, such as \"10.96.0.10\""
  validation {
    condition     = can(regex("^([0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*)$", var.cluster_dns))
    error_message = "Give the IP address of the service kube-dns, such as \"10.96.0.10\"."
  }
}

variable "cluster_domain" {
  type        = string
  default     = "cluster.local"
  description = "Domain of the cluster's services"
}

variable "bootstrap_token" {
  type        = string
  sensitive   = true
  description = "Bootstrap token, ID.SECRET, which is used until the kubelet has a certificate; not needed with exec_credential"
  validation {
    condition     = can(regex("^[a-z0-9]{6}\\.[a-z0-9]{16}$", var.bootstrap_token))
    error_message = "A bootstrap token is six letters or digits, a dot, and sixteen letters or digits, as \"kubeadm token create\" prints it."
  }
}

variable "exec_credential" {
  type = object({
    command     = string
    args        = optional(list(string), [])
    env         = optional(map(string), {})
    api_version = optional(string, "client.authentication.k8s.io/v1")
  })
  default     = null
  description = "Program inside the machine that gives the kubelet its credentials, as in a kubeconfig, in place of the token. Write no secret here: plans show it"
  validation {
    condition     = var.exec_credential == null || startswith(try(var.exec_credential.command, "/"), "/")
    error_message = "Give the program's absolute path inside the machine, such as \"/usr/local/bin/node-credential\"."
  }
}

# --- the node ---

variable "node_name" {
  type        = string
  default     = null
  description = "Name of the node; none: the host's name in lower case"
  validation {
    condition     = var.node_name == null || can(regex("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", var.node_name))
    error_message = "A node's name has letters in lower case, digits, dashes and dots, such as \"worker-1.example.com\"."
  }
}

variable "node_ip" {
  type        = string
  default     = null
  description = "Address of the node, or one of each family with a comma between; none: the kubelet finds it"
  validation {
    condition     = var.node_ip == null || can(regex("^[0-9A-Fa-f.:]+(,[0-9A-Fa-f.:]+)?$", var.node_ip))
    error_message = "Give an IP address, or an IPv4 and an IPv6 address with a comma between."
  }
}

variable "labels" {
  type        = map(string)
  default     = {}
  description = "Labels with which the node registers"
  validation {
    condition = alltrue([for key, value in var.labels :
      can(regex("^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$", key)) &&
      can(regex("^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$", value))
    ])
    error_message = "A label is \"name\" or \"prefix/name\" with a value of at most 63 letters, digits, dashes, underscores and dots, such as { \"example.com/pool\" = \"gpu\" }."
  }
}

variable "taints" {
  type        = list(string)
  default     = []
  description = "Taints with which the node registers, each \"key=value:Effect\""
  validation {
    condition     = alltrue([for taint in var.taints : can(regex("^[A-Za-z0-9][-A-Za-z0-9_./]*(=[-A-Za-z0-9_.]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$", taint))])
    error_message = "Write a taint as \"key=value:Effect\"; the effect is NoSchedule, PreferNoSchedule or NoExecute."
  }
}

variable "kubelet" {
  type        = any
  default     = {}
  description = "KubeletConfiguration that is laid over the recipe's, deep; null takes a field away"
}

variable "image_credential_provider" {
  type        = object({ config_path = string, bin_dir = string })
  default     = null
  description = "Credential provider for images: its configuration and the directory of its programs, inside the machine"
}

variable "cgroup_driver" {
  type        = string
  default     = "systemd"
  description = "Who makes cgroups for pods: \"systemd\", or \"cgroupfs\" where only cgroup v1 is to be had"
  validation {
    condition     = contains(["systemd", "cgroupfs"], var.cgroup_driver)
    error_message = "The cgroup driver is \"systemd\" or \"cgroupfs\"."
  }
}

# --- the machine ---

variable "rootfs_image" {
  type        = string
  description = "Root file system of the machine, with systemd in it: a registry reference, oci-layout:PATH[:TAG], or an https URL of a tar archive"
}

variable "rootfs_sha256" {
  type        = string
  default     = null
  description = "SHA-256 digest of the archive, where rootfs_image is one"
}

variable "machines" {
  type        = list(string)
  default     = ["kube1"]
  description = "Name of the machine; with two names, such as [\"kube1\", \"kube2\"], a repave builds one while the other runs"
  validation {
    condition     = length(var.machines) > 0
    error_message = "Name at least one machine, such as [\"kube1\"]."
  }
}

variable "nameservers" {
  type        = list(string)
  default     = []
  description = "Name servers inside the machine; none: it gets a copy of the host's resolv.conf at each start"
}

variable "devices" {
  type        = list(string)
  default     = ["/dev/kvm", "/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*", "/dev/kfd", "/dev/infiniband/*"]
  description = "Devices of the host, or patterns of them, that the machine gets where they exist"
}

variable "device_classes" {
  type        = list(string)
  default     = ["char-ipvtap", "char-macvtap"]
  description = "Classes of devices that may be used in the machine, as DeviceAllow= of systemd names them"
}

variable "mounts" {
  type        = list(object({ source = string, target = optional(string), read_only = optional(bool, false) }))
  default     = []
  description = "Directories of the host that the machine gets; the target is the source where it is left out"
  validation {
    condition     = alltrue([for m in var.mounts : can(regex("^/[^:\\s]*$", m.source)) && can(regex("^/[^:\\s]*$", coalesce(m.target, m.source)))])
    error_message = "Source and target of a mount are absolute paths without blanks and colons."
  }
}

variable "nvidia" {
  type        = bool
  default     = false
  description = "Whether containers use NVIDIA's runtime: the driver's libraries of the host are bound in, and its devices are described for containerd"
}

variable "nvidia_library_directories" {
  type        = list(string)
  default     = ["/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/opt/nvidia/lib64"]
  description = "Directories of the host in which the driver's libraries are looked for"
}

variable "nspawn" {
  type = object({
    exec    = optional(map(list(string)), {})
    unit    = optional(map(list(string)), {})
    service = optional(map(list(string)), {})
  })
  default     = {}
  description = "Directives beside or in place of the recipe's: exec in the machine's settings, unit and service in the drop-in of its unit"
}

variable "machine_files" {
  type        = map(object({ content = string, mode = optional(string, "0644") }))
  default     = {}
  description = "More files inside the machine, by path"
}

variable "machine_units" {
  type        = map(string)
  default     = {}
  description = "More units inside the machine that are enabled: their text by their name"
}

# --- container runtime ---

variable "containerd" {
  type        = any
  default     = {}
  description = "Configuration of containerd (version 2) that is laid over the recipe's, deep; null takes a key away"
}

variable "sandbox_image" {
  type        = string
  default     = "mcr.microsoft.com/oss/v2/kubernetes/pause:3.9"
  description = "Image of the container that holds a pod together"
}

variable "registry_mirrors" {
  type        = map(list(string))
  default     = {}
  description = "Mirrors by registry, asked in order before it; \"_default\" stands for all registries"
  validation {
    condition     = alltrue(flatten([for mirrors in values(var.registry_mirrors) : [for url in mirrors : can(regex("^https?://[^\\s\"]+$", url))]]))
    error_message = "Write mirrors as URLs, such as { \"docker.io\" = [\"https://mirror.example.com\"] }."
  }
}

# --- programs ---

variable "programs" {
  type = object({
    kubernetes = optional(object({
      install  = optional(bool, true)
      binaries = optional(list(string), ["kubelet", "kubectl", "kube-proxy"])
      base_url = optional(string, "https://dl.k8s.io")
      url      = optional(string)
      sha256   = optional(map(string), {})
    }), {})
    containerd = optional(object({
      install  = optional(bool, true)
      version  = optional(string, "2.1.8")
      base_url = optional(string, "https://github.com/containerd/containerd/releases/download")
      url      = optional(string)
      sha256   = optional(string)
    }), {})
    runc = optional(object({
      install  = optional(bool, true)
      version  = optional(string, "1.5.0")
      base_url = optional(string, "https://github.com/opencontainers/runc/releases/download")
      url      = optional(string)
      sha256   = optional(string)
    }), {})
    cni = optional(object({
      install  = optional(bool, true)
      version  = optional(string, "1.5.1")
      base_url = optional(string, "https://github.com/containernetworking/plugins/releases/download")
      url      = optional(string)
      sha256   = optional(string)
      plugins = optional(list(string), [
        "bandwidth", "bridge", "dhcp", "dummy", "firewall", "host-device", "host-local", "ipvlan", "loopback",
        "macvlan", "portmap", "ptp", "sbr", "static", "tap", "tuning", "vlan", "vrf",
      ])
    }), {})
    crictl = optional(object({
      install  = optional(bool, true)
      version  = optional(string)
      base_url = optional(string, "https://github.com/kubernetes-sigs/cri-tools/releases/download")
      url      = optional(string)
      sha256   = optional(string)
    }), {})
  })
  default     = {}
  description = "Where the programs come from. base_url is a mirror laid out as the publisher's; url says the whole address, with {version}, {arch} and {name} in it. Without sha256 the publisher's checksum file beside it is taken. install = false: the image brings it"
  validation {
    condition     = alltrue([for name in ["bridge", "host-local", "loopback"] : contains(var.programs.cni.plugins, name)])
    error_message = "The CNI plugins bridge, host-local and loopback are always needed; leave them in programs.cni.plugins."
  }
  validation {
    condition     = contains(var.programs.kubernetes.binaries, "kubelet") && length(setsubtract(var.programs.kubernetes.binaries, ["kubelet", "kubectl", "kube-proxy"])) == 0
    error_message = "programs.kubernetes.binaries has the kubelet, and kubectl and kube-proxy where they are wanted."
  }
}

# --- the host ---

variable "sysctl" {
  type        = map(string)
  default     = {}
  description = "Kernel parameters beside or in place of those that a worker needs; null leaves one as it is on the host"
}

variable "kernel_modules" {
  type        = list(string)
  default     = ["overlay", "br_netfilter"]
  description = "Kernel modules that are loaded now and at boot"
}

variable "swap_off" {
  type        = bool
  default     = true
  description = "Whether swap is turned off; the kubelet refuses to start with swap unless its configuration allows it"
}

variable "apt_hardening" {
  type        = bool
  default     = false
  description = "Whether unattended upgrades and needrestart of Debian and Ubuntu are kept from restarting the machine"
}

variable "free_bytes" {
  type        = number
  default     = 8589934592
  description = "Space that must be free below /var/lib, in bytes; 8 GiB"
}

# --- what happens is told ---

variable "status" {
  type = object({
    timeout = optional(string, "5s")
    hyperv  = optional(bool, true)
    console = optional(bool, false)
    file    = optional(string)
    metrics = optional(string)
    webhook = optional(object({
      url            = string
      token_file     = optional(string)
      ca_certificate = optional(string)
    }))
    condition = optional(object({
      object     = string
      type       = optional(string, "HostReady")
      create     = optional(any)
      token_file = optional(string)
    }))
  })
  default     = {}
  description = "Where the status of runs is told: Hyper-V and Azure, the console, a file and a directory of metrics below /run, a webhook, a condition of an object of the cluster. In condition, {node} is the node's name, and the bootstrap token is used where there is no token_file"
}

variable "status_token" {
  type        = string
  sensitive   = true
  default     = null
  description = "Bearer token for status.webhook"
}

# --- the interpreter ---

variable "boot_inputs" {
  type        = list(string)
  default     = []
  description = "Files on the host with inputs that the boot unit passes, weakest first, such as [\"/etc/hostler/inputs.hcl\"]"
}

variable "boot_credentials" {
  type        = map(string)
  default     = {}
  description = "Files on the host with values of sensitive variables that the boot unit loads as credentials, such as { bootstrap_token = \"/etc/hostler/credentials/bootstrap_token\" }"
}

variable "daemon" {
  type        = bool
  default     = true
  description = "Whether hostler's daemon keeps a complete installation as it is"
}

use "worker" {
  source  = "recipe:shared/kubernetes-worker"
  version = "~> 1.0"
  inputs = {
    kubernetes_version         = var.kubernetes_version
    api_server                 = var.api_server
    ca_certificate             = var.ca_certificate
    cluster_dns                = var.cluster_dns
    cluster_domain             = var.cluster_domain
    bootstrap_token            = var.bootstrap_token
    exec_credential            = var.exec_credential
    node_name                  = var.node_name
    node_ip                    = var.node_ip
    labels                     = var.labels
    taints                     = var.taints
    kubelet                    = var.kubelet
    image_credential_provider  = var.image_credential_provider
    cgroup_driver              = var.cgroup_driver
    rootfs_image               = var.rootfs_image
    rootfs_sha256              = var.rootfs_sha256
    machines                   = var.machines
    nameservers                = var.nameservers
    devices                    = var.devices
    device_classes             = var.device_classes
    mounts                     = var.mounts
    nvidia                     = var.nvidia
    nvidia_library_directories = var.nvidia_library_directories
    nspawn                     = var.nspawn
    machine_files              = var.machine_files
    machine_units              = var.machine_units
    containerd                 = var.containerd
    sandbox_image              = var.sandbox_image
    registry_mirrors           = var.registry_mirrors
    programs                   = var.programs
    sysctl                     = var.sysctl
    kernel_modules             = var.kernel_modules
    swap_off                   = var.swap_off
    apt_hardening              = var.apt_hardening
    free_bytes                 = var.free_bytes
    status                     = var.status
    status_token               = var.status_token
    boot_inputs                = var.boot_inputs
    boot_credentials           = var.boot_credentials
    daemon                     = var.daemon
  }
}

output "root" {
  value       = use.worker.root
  description = "Where the machine's root is on the host"
}

output "machine" {
  value       = use.worker.machine
  description = "Name of the machine that runs or is being built"
}
