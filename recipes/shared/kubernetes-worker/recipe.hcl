# A Kubernetes worker in a systemd-nspawn machine: what all images share. The
# recipes per image (azure-container-linux/3/kubernetes-worker and its siblings)
# use this one and say which hosts they support; make generate copies the
# variables into them. It prepares the host, unpacks the machine's root, puts the Kubernetes, CRI and CNI programs and their
# configuration into it, starts it, and waits until the kubelet has its identity.

recipe "kubernetes_worker_shared" {
  language    = 1
  version     = "1.0.0"
  description = "What the Kubernetes workers of all images share; use the one of your image"
  interpreter = ">= 0.1.0"

  supports "azure_container_linux" {
    id         = "azurelinux"
    version_id = ">= 3.0, < 4.0"
  }
  supports "flatcar" { id = "flatcar" }
  supports "fedora_coreos" {
    id         = "fedora"
    variant_id = "coreos"
  }
  supports "ubuntu" {
    id         = "ubuntu"
    version_id = ">= 24.04, < 24.05"
  }
  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }

  # A change of one of these is another node. Tokens, certificates, labels,
  # taints and download locations are not among them.
  fingerprint = fingerprint({
    kubernetes_version = trimprefix(var.kubernetes_version, "v")
    rootfs_image       = artifact_identity(var.rootfs_image)
    api_server         = "https://${trimprefix(trimsuffix(var.api_server, "/"), "https://")}"
    machine            = var.machines[0]
    node_name          = var.node_name
  })
}

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

locals {
  version    = trimprefix(var.kubernetes_version, "v")
  api_server = "https://${trimprefix(trimsuffix(var.api_server, "/"), "https://")}"
  ca         = "${trimspace(try(base64decode(var.ca_certificate), var.ca_certificate))}\n"
  node_name  = coalesce(var.node_name, lower(host.hostname))

  # /proc/sys is read-only inside the machine: the kubelet and pods find there
  # what is set here.
  sysctl = { for key, value in merge({
    "kernel.keys.root_maxbytes"            = "25000000"
    "kernel.keys.root_maxkeys"             = "1000000"
    "kernel.panic"                         = "10"
    "kernel.panic_on_oops"                 = "1"
    "net.bridge.bridge-nf-call-ip6tables"  = "1"
    "net.bridge.bridge-nf-call-iptables"   = "1"
    "net.ipv4.conf.all.rp_filter"          = "0"
    "net.ipv4.conf.all.src_valid_mark"     = "1"
    "net.ipv4.conf.default.rp_filter"      = "0"
    "net.ipv4.conf.default.src_valid_mark" = "1"
    "net.ipv4.ip_forward"                  = "1"
    "vm.overcommit_memory"                 = "1"
    "vm.panic_on_oom"                      = "0"
  }, var.sysctl) : key => value if value != null }

  # Programs: address, and where its checksum stands.
  kubernetes_url = coalesce(var.programs.kubernetes.url, "${var.programs.kubernetes.base_url}/v{version}/bin/linux/{arch}/{name}")
  containerd_url = coalesce(var.programs.containerd.url, "${var.programs.containerd.base_url}/v{version}/containerd-{version}-linux-{arch}.tar.gz")
  runc_url       = coalesce(var.programs.runc.url, "${var.programs.runc.base_url}/v{version}/runc.{arch}")
  cni_url        = coalesce(var.programs.cni.url, "${var.programs.cni.base_url}/v{version}/cni-plugins-linux-{arch}-v{version}.tgz")
  crictl_url     = coalesce(var.programs.crictl.url, "${var.programs.crictl.base_url}/v{version}/crictl-v{version}-linux-{arch}.tar.gz")
  crictl_version = coalesce(var.programs.crictl.version, "${semver_minor(local.version)}.0")

  url = {
    kubelet    = replace(replace(replace(local.kubernetes_url, "{version}", local.version), "{arch}", host.arch), "{name}", "kubelet")
    kubectl    = replace(replace(replace(local.kubernetes_url, "{version}", local.version), "{arch}", host.arch), "{name}", "kubectl")
    kube-proxy = replace(replace(replace(local.kubernetes_url, "{version}", local.version), "{arch}", host.arch), "{name}", "kube-proxy")
    containerd = replace(replace(replace(local.containerd_url, "{version}", var.programs.containerd.version), "{arch}", host.arch), "{name}", "containerd")
    runc       = replace(replace(replace(local.runc_url, "{version}", var.programs.runc.version), "{arch}", host.arch), "{name}", "runc")
    cni        = replace(replace(replace(local.cni_url, "{version}", var.programs.cni.version), "{arch}", host.arch), "{name}", "cni-plugins")
    crictl     = replace(replace(replace(local.crictl_url, "{version}", local.crictl_version), "{arch}", host.arch), "{name}", "crictl")
  }

  containerd_configuration = deepmerge({
    version   = 2
    oom_score = 0
    imports   = ["/etc/containerd/conf.d/*.toml"]
    metrics   = { address = "0.0.0.0:10257" }
    plugins = {
      "io.containerd.grpc.v1.cri" = {
        sandbox_image               = var.sandbox_image
        max_concurrent_downloads    = 6
        image_pull_progress_timeout = "5m0s"
        enable_cdi                  = var.nvidia ? true : null
        cdi_spec_dirs               = var.nvidia ? ["/etc/cdi", "/var/run/cdi"] : null
        cni                         = { bin_dir = "/opt/cni/bin", conf_dir = "/etc/cni/net.d" }
        registry = {
          config_path = "/etc/containerd/certs.d"
          headers     = { X-Meta-Source-Client = ["hostler/kubelet"] }
        }
        containerd = {
          default_runtime_name = var.nvidia ? "nvidia" : "runc"
          runtimes = {
            runc = {
              runtime_type = "io.containerd.runc.v2"
              options      = { BinaryName = "/usr/local/bin/runc", NoNewKeyring = true, SystemdCgroup = var.cgroup_driver == "systemd" }
            }
            untrusted = {
              runtime_type = "io.containerd.runc.v2"
              options      = { BinaryName = "/usr/local/bin/runc", NoNewKeyring = true, SystemdCgroup = var.cgroup_driver == "systemd" }
            }
            nvidia = var.nvidia ? {
              runtime_type = "io.containerd.runc.v2"
              options      = { BinaryName = "/usr/bin/nvidia-container-runtime", NoNewKeyring = true, SystemdCgroup = var.cgroup_driver == "systemd" }
            } : null
          }
        }
      }
    }
  }, var.containerd)

  # What ties the kubelet to this machine wins over the site's overlay.
  kubelet_configuration = deepmerge({
    address                        = "0.0.0.0"
    authentication                 = { anonymous = { enabled = false }, webhook = { enabled = true } }
    authorization                  = { mode = "Webhook" }
    cgroupDriver                   = var.cgroup_driver
    cgroupsPerQOS                  = true
    clusterDomain                  = var.cluster_domain
    enableServer                   = true
    enforceNodeAllocatable         = ["pods"]
    eventRecordQPS                 = 0
    nodeStatusUpdateFrequency      = "10s"
    podPidsLimit                   = -1
    protectKernelDefaults          = true
    readOnlyPort                   = 0
    resolvConf                     = "/etc/resolv.conf"
    rotateCertificates             = true
    runtimeRequestTimeout          = "15m"
    staticPodPath                  = "/etc/kubernetes/manifests"
    streamingConnectionIdleTimeout = "4h"
    tlsCipherSuites = [
      "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
      "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
      "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
      "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
      "TLS_RSA_WITH_AES_256_GCM_SHA384",
      "TLS_RSA_WITH_AES_128_GCM_SHA256",
    ]
    volumePluginDir = "/etc/kubernetes/volumeplugins"
    }, var.kubelet, {
    apiVersion               = "kubelet.config.k8s.io/v1beta1"
    kind                     = "KubeletConfiguration"
    clusterDNS               = [var.cluster_dns]
    containerRuntimeEndpoint = "unix:///run/containerd/containerd.sock"
    authentication           = { x509 = { clientCAFile = "/etc/kubernetes/pki/apiserver-client-ca.crt" } }
  })

  kubeconfig_cluster = {
    name    = "cluster"
    cluster = { server = local.api_server, certificate-authority = "/etc/kubernetes/pki/apiserver-client-ca.crt" }
  }
  kubeconfig_context = { name = "kubelet", context = { cluster = "cluster", user = "kubelet" } }

  kubeconfig_flags = join(" ", compact([
    var.exec_credential == null ? "--bootstrap-kubeconfig=/var/lib/kubelet/bootstrap-kubeconfig" : "",
    "--kubeconfig=/var/lib/kubelet/kubeconfig",
  ]))

  # Sorted, so that the same labels are the same bytes: a change of them
  # restarts the kubelet.
  node_flags = join(" ", compact([
    "--hostname-override=${local.node_name}",
    var.node_ip == null ? "" : "--node-ip=${var.node_ip}",
    length(var.labels) == 0 ? "" : "--node-labels=${join(",", [for key in sort(keys(var.labels)) : "${key}=${var.labels[key]}"])}",
    length(var.taints) == 0 ? "" : "--register-with-taints=${join(",", sort(var.taints))}",
    var.image_credential_provider == null ? "" : "--image-credential-provider-config=${var.image_credential_provider.config_path}",
    var.image_credential_provider == null ? "" : "--image-credential-provider-bin-dir=${var.image_credential_provider.bin_dir}",
  ]))

  nvidia_libraries = var.nvidia ? [for pair in setproduct(var.nvidia_library_directories, [
    "libnvidia-*.so*", "libcuda*.so*", "libEGL_nvidia*.so*", "libGLX_nvidia*.so*", "libGLESv2_nvidia*.so*", "libnvcuvid*.so*", "libnvoptix*.so*",
  ]) : "${pair[0]}/${pair[1]}"] : []
}

# --- what happens is told, from the first requirement on ---

status_sink "hyperv" {
  when    = var.status.hyperv
  timeout = var.status.timeout
  hyperv_kvp {}
}

status_sink "console" {
  when    = var.status.console
  timeout = var.status.timeout
  console {}
}

status_sink "file" {
  when    = var.status.file != null
  timeout = var.status.timeout
  file { path = var.status.file }
}

status_sink "metrics" {
  when    = var.status.metrics != null
  timeout = var.status.timeout
  metrics { directory = var.status.metrics }
}

status_sink "webhook" {
  when    = var.status.webhook != null
  timeout = var.status.timeout
  webhook {
    url            = var.status.webhook.url
    token          = var.status_token
    token_file     = var.status.webhook.token_file
    ca_certificate = var.status.webhook.ca_certificate
  }
}

status_sink "condition" {
  when    = var.status.condition != null
  timeout = var.status.timeout
  kubernetes {
    server         = local.api_server
    ca_certificate = local.ca
    object         = replace(var.status.condition.object, "{node}", local.node_name)
    condition      = var.status.condition.type
    create         = var.status.condition.create == null ? null : replace(jsonencode(var.status.condition.create), "{node}", local.node_name)
    token          = var.status.condition.token_file == null ? var.bootstrap_token : null
    token_file     = var.status.condition.token_file
  }
}

# --- what must hold before anything is changed ---

require_capability "nspawn" {
  executables = ["systemd-nspawn", "machinectl"]
  packages    = { apt = ["systemd-container"], dnf = ["systemd-container"], tdnf = ["systemd-container"] }
}

require_capability "nft" {
  executable = "nft"
  packages   = { apt = ["nftables"], dnf = ["nftables"], tdnf = ["nftables"] }
}

require_capability "sysctl_writable" {
  writable = "/etc/sysctl.d"
}

require_capability "units_writable" {
  writable = "/etc/systemd/system"
}

require_capability "machines_writable" {
  writable = "/var/lib/machines"
}

require_capability "space" {
  free_space {
    path  = "/var/lib"
    bytes = var.free_bytes
  }
}

require_capability "cgroup" {
  cgroup   = "v2"
  severity = var.cgroup_driver == "systemd" ? "error" : "warning"
}

require_capability "no_swap" {
  no_swap  = true
  severity = "warning"
}

require_capability "docker" {
  unit_inactive = "docker.service"
  severity      = "warning"
}

require_capability "host_containerd" {
  unit_inactive = "containerd.service"
  severity      = "warning"
}

require_capability "host_kubelet" {
  unit_inactive = "kubelet.service"
  severity      = "warning"
}

require_capability "kubelet_port" {
  free_address = "0.0.0.0:10250"
  owner        = "node"
}

require_capability "containerd_metrics_port" {
  free_address = "0.0.0.0:10257"
  owner        = "node"
}

require_capability "api_server" {
  reachable      = "${local.api_server}/readyz"
  ca_certificate = local.ca
}

require_capability "rootfs_image" {
  image  = var.rootfs_image
  sha256 = var.rootfs_sha256
}

require_capability "kubernetes_programs" {
  when      = var.programs.kubernetes.install
  reachable = local.url["kubelet"]
}

require_capability "containerd_program" {
  when      = var.programs.containerd.install
  reachable = local.url["containerd"]
}

require_capability "runc_program" {
  when      = var.programs.runc.install
  reachable = local.url["runc"]
}

require_capability "cni_programs" {
  when      = var.programs.cni.install
  reachable = local.url["cni"]
}

require_capability "crictl_program" {
  when      = var.programs.crictl.install
  reachable = local.url["crictl"]
}

stage "preparing-host" {
  description = "Packages, kernel parameters, firewall flush, and what would be in the way"

  kernel_module "module" {
    for_each = var.kernel_modules
    name     = each.key
  }

  sysctl "kubernetes" {
    when   = length(local.sysctl) > 0
    path   = "/etc/sysctl.d/99-hostler-kubernetes.conf"
    values = local.sysctl
  }

  # The machine shares the host's network: a flush while it runs would take away
  # what kube-proxy and the CNI plugins wrote, so it comes at boot, before the
  # machine and after the host's own firewall.
  nft_ruleset "flush" {
    path     = "/etc/hostler/nftables-flush.nft"
    content  = "flush ruleset\n"
    machines = var.machines
  }

  # The socket first: it would start the service again.
  systemd_unit "docker.socket" {
    mask            = true
    state           = "stopped"
    on_stop_failure = "warn"
  }

  systemd_unit "docker.service" {
    mask            = true
    state           = "stopped"
    on_stop_failure = "warn"
  }

  # Should docker be unmasked one day, it leaves the node's rules alone.
  write_file_if_changed "docker" {
    path    = "/etc/docker/daemon.json"
    merge   = "json"
    content = "${jsonencode({ iptables = false })}\n"
  }

  systemd_unit "containerd.service" {
    mask            = true
    state           = "stopped"
    on_stop_failure = "warn"
  }

  systemd_unit "kubelet.service" {
    mask            = true
    state           = "stopped"
    on_stop_failure = "warn"
  }

  swap "off" {
    when = var.swap_off
  }

  # An upgrade of these would restart machined, and with it the machine.
  write_file_if_changed "apt_upgrades" {
    when    = var.apt_hardening
    path    = "/etc/apt/apt.conf.d/99-hostler-no-restart-systemd"
    content = <<-EOT
      Unattended-Upgrade::Package-Blacklist {
        "systemd";
        "systemd-container";
        "systemd-sysv";
        "libsystemd0";
        "libcap2";
        "libcap2-bin";
        "libpam-cap";
      };
    EOT
  }

  write_file_if_changed "needrestart" {
    when    = var.apt_hardening
    path    = "/etc/needrestart/conf.d/99-hostler.conf"
    content = "$nrconf{restart} = 'l';\n"
  }
}

stage "node" {
  description = "The machine with its programs and services, until the kubelet has its identity"

  # Programs of the eBPF kind live on while the machine is started anew.
  mount "bpf" {
    for_each    = var.machines
    what        = "bpf"
    where       = "/run/bpffs/${each.key}"
    type        = "bpf"
    required_by = ["systemd-nspawn@${each.key}.service"]
  }

  # Keys that workloads make on the host; on reset they go after the machine.
  reset_step "wireguard_keys" {
    remove_path { path = "/etc/wireguard/server.priv" }
    remove_path { path = "/etc/wireguard/server.pub" }
  }

  nspawn_machine "node" {
    name           = length(var.machines) == 1 ? var.machines[0] : null
    slots          = length(var.machines) > 1 ? var.machines : null
    failure_reason = "MachineStartFailed"

    rootfs {
      image          = var.rootfs_image
      sha256         = var.rootfs_sha256
      failure_reason = "RootFSFailed"
    }

    settings {
      exec = merge({
        Capability       = ["all"]
        PrivateUsers     = ["no"]
        SystemCallFilter = ["@keyring @mount bpf perf_event_open"]
        ResolvConf       = [length(var.nameservers) > 0 ? "off" : "replace-host"]
      }, var.nspawn.exec)
      network = { VirtualEthernet = "no" }
      files = {
        Bind = concat(
          ["/run/bpffs/${self.name}:/sys/fs/bpf"],
          [for m in var.mounts : "${m.source}:${coalesce(m.target, m.source)}" if !m.read_only],
        )
        BindReadOnly = [for m in var.mounts : "${m.source}:${coalesce(m.target, m.source)}" if m.read_only]
      }
      bind_if_exists           = var.devices
      bind_read_only_if_exists = concat(["/lib/modules"], local.nvidia_libraries)
    }

    service {
      unit = merge({ StartLimitIntervalSec = ["0"] }, var.nspawn.unit)
      service = merge({
        Restart      = ["on-failure"]
        RestartSec   = ["10s"]
        ExecStartPre = ["-/usr/bin/machinectl terminate ${self.name}"]
        Environment  = ["SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1", "SYSTEMD_NSPAWN_API_VFS_WRITABLE=network"]
        DeviceAllow  = [for class in var.device_classes : "${class} rwm"]
      }, var.nspawn.service)
    }

    before_boot {
      stage "programs" {
        description = "Kubernetes, container runtime and network plugins"

        download "kubernetes" {
          for_each       = var.programs.kubernetes.install ? var.programs.kubernetes.binaries : []
          url            = local.url[each.key]
          sha256         = lookup(var.programs.kubernetes.sha256, each.key, null)
          sha256_url     = lookup(var.programs.kubernetes.sha256, each.key, null) == null ? "${local.url[each.key]}.sha256" : null
          path           = "/usr/local/bin/${each.key}"
          mode           = "0755"
          failure_reason = "ProgramsFailed"
        }

        download "crictl" {
          when           = var.programs.crictl.install
          url            = local.url["crictl"]
          sha256         = var.programs.crictl.sha256
          sha256_url     = var.programs.crictl.sha256 == null ? "${local.url["crictl"]}.sha256" : null
          members        = { "crictl" = "/usr/local/bin/crictl" }
          mode           = "0755"
          failure_reason = "ProgramsFailed"
        }

        download "containerd" {
          when       = var.programs.containerd.install
          url        = local.url["containerd"]
          sha256     = var.programs.containerd.sha256
          sha256_url = var.programs.containerd.sha256 == null ? "${local.url["containerd"]}.sha256sum" : null
          members = {
            "bin/containerd"              = "/usr/local/bin/containerd"
            "bin/containerd-shim-runc-v2" = "/usr/local/bin/containerd-shim-runc-v2"
            "bin/containerd-stress"       = "/usr/local/bin/containerd-stress"
            "bin/ctr"                     = "/usr/local/bin/ctr"
          }
          mode           = "0755"
          failure_reason = "ProgramsFailed"
        }

        download "runc" {
          when           = var.programs.runc.install
          url            = local.url["runc"]
          sha256         = var.programs.runc.sha256
          sha256_url     = var.programs.runc.sha256 == null ? replace(local.url["runc"], "/[^/]+$/", "runc.sha256sum") : null
          path           = "/usr/local/bin/runc"
          mode           = "0755"
          failure_reason = "ProgramsFailed"
        }

        download "cni" {
          when           = var.programs.cni.install
          url            = local.url["cni"]
          sha256         = var.programs.cni.sha256
          sha256_url     = var.programs.cni.sha256 == null ? "${local.url["cni"]}.sha256" : null
          members        = { for name in var.programs.cni.plugins : name => "/opt/cni/bin/${name}" }
          mode           = "0755"
          failure_reason = "ProgramsFailed"
        }
      }

      stage "system" {
        description = "The machine's own system: names, modules, and units that have no place in it"

        write_file_if_changed "hostname" {
          path    = "/etc/hostname"
          content = "${local.node_name}\n"
        }

        write_file_if_changed "resolv_conf" {
          when    = length(var.nameservers) > 0
          path    = "/etc/resolv.conf"
          content = join("", [for server in var.nameservers : "nameserver ${server}\n"])
        }

        # The kubelet watches the kernel's log; without the device it does not start.
        write_file_if_changed "kmsg" {
          path    = "/etc/tmpfiles.d/kmsg.conf"
          content = "L /dev/kmsg - - - - /dev/console\n"
        }

        write_file_if_changed "modules" {
          path    = "/etc/modules-load.d/kubernetes.conf"
          content = "overlay\nbr_netfilter\n"
        }

        # The network is the host's, and so are name resolution, firewall and devices.
        systemd_unit "off" {
          for_each = [
            "systemd-resolved.service", "iptables.service", "ip6tables.service", "nftables.service",
            "systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket",
          ]
          name = each.key
          mask = true
        }

        write_file_if_changed "more" {
          for_each = var.machine_files
          path     = each.key
          content  = each.value.content
          mode     = each.value.mode
        }

        systemd_unit "more" {
          for_each = var.machine_units
          name     = each.key
          content  = each.value
          enable   = true
        }
      }

      stage "containerd" {
        description = "Configuration of the container runtime"

        write_file_if_changed "containerd" {
          path    = "/etc/containerd/config.toml"
          content = tomlencode(local.containerd_configuration)
        }

        write_file_if_changed "mirror" {
          for_each = var.registry_mirrors
          path     = "/etc/containerd/certs.d/${each.key}/hosts.toml"
          content  = join("\n", [for url in each.value : "[host.\"${url}\"]\ncapabilities = [\"pull\", \"resolve\"]\n"])
        }

        systemd_unit "containerd.service" {
          content = <<-EOT
            [Unit]
            Description=containerd container runtime
            After=network.target local-fs.target

            [Service]
            Type=notify
            ExecStartPre=-/sbin/modprobe overlay
            ExecStart=/usr/local/bin/containerd
            Delegate=yes
            KillMode=process
            Restart=always
            RestartSec=1
            RestartSteps=10
            RestartMaxDelaySec=60
            LimitNPROC=infinity
            LimitCORE=infinity
            LimitNOFILE=infinity
            TasksMax=infinity
            OOMScoreAdjust=-999

            [Install]
            WantedBy=multi-user.target
          EOT
        }

        # Libraries of the driver are the host's, and may be others at each start.
        write_file_if_changed "nvidia_libraries" {
          when    = var.nvidia
          path    = "/etc/ld.so.conf.d/hostler-nvidia.conf"
          content = join("", [for dir in var.nvidia_library_directories : "${dir}\n"])
        }

        systemd_unit "hostler-nvidia.service" {
          when    = var.nvidia
          content = <<-EOT
            [Unit]
            Description=Describe the NVIDIA devices for container runtimes
            Before=containerd.service

            [Service]
            Type=oneshot
            RemainAfterExit=yes
            ExecStart=/sbin/ldconfig
            ExecStart=/usr/bin/nvidia-ctk cdi generate --output /etc/cdi/nvidia.yaml --disable-hook all --enable-hook create-symlinks --enable-hook update-ldcache
          EOT
        }

        systemd_unit "containerd_nvidia" {
          when = var.nvidia
          name = "containerd.service"
          drop_in "10-nvidia.conf" {
            content = "[Unit]\nWants=hostler-nvidia.service\nAfter=hostler-nvidia.service\n"
          }
        }
      }

      stage "kubelet" {
        description = "Configuration and credentials of the kubelet"

        directory "manifests" {
          path = "/etc/kubernetes/manifests"
          mode = "0700"
        }

        write_file_if_changed "ca" {
          path    = "/etc/kubernetes/pki/apiserver-client-ca.crt"
          content = local.ca
        }

        write_file_if_changed "kubelet" {
          path    = "/var/lib/kubelet/config.yaml"
          content = yamlencode(local.kubelet_configuration)
        }

        write_file_if_changed "bootstrap_kubeconfig" {
          when = var.exec_credential == null
          path = "/var/lib/kubelet/bootstrap-kubeconfig"
          mode = "0600"
          content = yamlencode({
            apiVersion      = "v1"
            kind            = "Config"
            clusters        = [local.kubeconfig_cluster]
            contexts        = [local.kubeconfig_context]
            current-context = "kubelet"
            users           = [{ name = "kubelet", user = { token = var.bootstrap_token } }]
          })
        }

        write_file_if_changed "kubeconfig" {
          when = var.exec_credential != null
          path = "/var/lib/kubelet/kubeconfig"
          mode = "0600"
          content = yamlencode({
            apiVersion      = "v1"
            kind            = "Config"
            clusters        = [local.kubeconfig_cluster]
            contexts        = [local.kubeconfig_context]
            current-context = "kubelet"
            users = [{ name = "kubelet", user = { exec = {
              apiVersion      = try(var.exec_credential.api_version, null)
              command         = try(var.exec_credential.command, null)
              args            = try(var.exec_credential.args, null)
              env             = [for name, value in try(var.exec_credential.env, {}) : { name = name, value = value }]
              interactiveMode = "Never"
            } } }]
          })
        }

        systemd_unit "kubelet.service" {
          content = <<-EOT
            [Unit]
            Description=kubelet, the node agent of Kubernetes
            ConditionPathExists=/usr/local/bin/kubelet
            Wants=network-online.target containerd.service
            After=network-online.target containerd.service

            [Service]
            ExecStart=/usr/local/bin/kubelet --config=/var/lib/kubelet/config.yaml $KUBELET_NODE_CONFIG_ARGS $KUBELET_TUNING_ARGS $KUBELET_KUBECONFIG_ARGS $KUBELET_EXTRA_ARGS
            Restart=always
            RestartSec=1
            RestartSteps=10
            RestartMaxDelaySec=60
            SuccessExitStatus=143

            [Install]
            WantedBy=multi-user.target
          EOT

          drop_in "10-kubeconfig.conf" {
            content = "[Service]\nEnvironment=\"KUBELET_KUBECONFIG_ARGS=${local.kubeconfig_flags}\"\n"
          }

          drop_in "50-env-file.conf" {
            content = "[Service]\nEnvironmentFile=-/etc/default/kubelet\n"
          }
        }

        # Apart from the unit: an image that is being built has no name yet.
        systemd_unit "kubelet_node" {
          name = "kubelet.service"
          drop_in "20-node-config.conf" {
            content = "[Service]\nEnvironment=\"KUBELET_NODE_CONFIG_ARGS=${local.node_flags}\"\n"
          }
        }
      }
    }

    after_boot {
      systemd_unit "containerd_runs" {
        name           = "containerd.service"
        enable         = true
        state          = "started"
        failure_reason = "ContainerdFailed"
      }

      restart_on_change "containerd.service" {
        failure_reason = "ContainerdFailed"
        watch = [
          write_file_if_changed.containerd,
          systemd_unit["containerd.service"],
          systemd_unit.containerd_nvidia,
          download.containerd,
          download.runc,
        ]
      }

      systemd_unit "kubelet_runs" {
        name           = "kubelet.service"
        enable         = true
        state          = "started"
        failure_reason = "KubeletBootstrapFailed"
      }

      restart_on_change "kubelet.service" {
        failure_reason = "KubeletBootstrapFailed"
        watch = [
          write_file_if_changed.ca,
          write_file_if_changed.kubelet,
          write_file_if_changed.bootstrap_kubeconfig,
          write_file_if_changed.kubeconfig,
          systemd_unit["kubelet.service"],
          systemd_unit.kubelet_node,
          download.kubernetes,
        ]
      }
    }

    ready {
      unit           = "kubelet.service"
      timeout        = "60s"
      failure_reason = "KubeletBootstrapFailed"
    }

    # It is there when the API server has signed the kubelet's certificate.
    ready {
      file           = "/var/lib/kubelet/kubeconfig"
      timeout        = "2m"
      interval       = "2s"
      failure_reason = "KubeletBootstrapFailed"
      on_timeout = [
        ["systemctl", "status", "kubelet.service", "--no-pager"],
        ["journalctl", "--unit=kubelet.service", "--lines=80", "--no-pager"],
      ]
    }

    # Links, rules and routes that network plugins leave in the host's network.
    after_stop {
      reset_step "network" {
        delete_link {
          name_range = "wg51820-51899"
          kind       = "wireguard"
        }
        delete_link {
          name = "geneve0"
          kind = "geneve"
        }
        delete_link {
          name = "vxlan0"
          kind = "vxlan"
        }
        delete_link {
          name = "ipip0"
          kind = "ipip"
        }
        delete_link {
          name = "unbounded0"
          kind = "dummy"
        }
        delete_link {
          name = "cbr0"
          kind = "bridge"
        }
        delete_rules { tables = "51820-51899" }
        flush_routes { tables = "51820-51899" }
      }
    }
  }
}

stage "installing-daemon" {
  description = "hostler itself, which looks at the host at every boot"

  interpreter_install "hostler" {
    boot_inputs = var.boot_inputs
    credentials = var.boot_credentials
    daemon      = var.daemon
  }
}

output "root" {
  value       = nspawn_machine.node.root
  description = "Where the machine's root is on the host"
}

output "machine" {
  value       = nspawn_machine.node.name
  description = "Name of the machine that runs or is being built"
}
