recipe "prepared" {
  language    = 1
  version     = "1.0.0"
  description = "A host made ready, with every block that changes more than files"
  supports "debian" { id = "debian" }
  fingerprint = fingerprint({})
}

variable "token" {
  type      = string
  sensitive = true
}

# What else would run containers is out of the way.
systemd_unit "docker.socket" {
  state = "stopped"
  mask  = true
}
systemd_unit "conflicting" {
  for_each        = ["docker.service", "containerd.service", "kubelet.service"]
  name            = each.key
  state           = "stopped"
  mask            = true
  on_stop_failure = "warn"
}
write_file_if_changed "docker" {
  path             = "/etc/docker/daemon.json"
  content          = jsonencode({ iptables = false })
  merge            = "json"
  replaces_foreign = true
}

sysctl "kubernetes" {
  path = "/etc/sysctl.d/99-kubernetes.conf"
  values = {
    "net.ipv4.ip_forward"              = 1
    "net.ipv4.conf.all.rp_filter"      = 0
    "net.ipv6.conf.all.forwarding"     = 1
    "net.ipv4.conf.all.src_valid_mark" = 1
    "net.ipv4.ping_group_range"        = "0 1000"
  }
}
kernel_module "overlay" {}

edit_lines "login" {
  path = "/etc/login.defs"
  comment { match = "ENCRYPT_METHOD\\s.*" }
  replace {
    match = "UMASK\\s+(\\d+)"
    with  = "UMASK  027"
  }
  ensure { line = "FAIL_DELAY 5" }
}

accounts "agent" {
  path = "/etc/sysusers.d/agent.conf"
  group "metrics" {}
  user "agent" {
    groups = ["metrics", "adm"]
    home   = "/var/lib/agent"
  }
}
tmpfiles "agent" {
  path = "/etc/tmpfiles.d/agent.conf"
  entry {
    type  = "d"
    path  = "/run/agent"
    mode  = "0750"
    owner = "agent"
    group = "metrics"
  }
  entry {
    type     = "L"
    path     = "/run/agent/config"
    argument = "/etc/agent"
  }
}
directory "home" {
  path  = "/var/lib/agent"
  owner = "agent"
  group = "metrics"
}
credential "registry-token" { value = var.token }

mount "scratch" {
  what    = "tmpfs"
  where   = "/var/scratch"
  type    = "tmpfs"
  options = ["size=1M", "nosuid"]
}
mount "bpf" {
  what        = "bpf"
  where       = "/run/bpffs/kube1"
  type        = "bpf"
  required_by = ["systemd-nspawn@kube1.service"]
}

network_link "localdns" {
  kind      = "bridge"
  addresses = ["169.254.10.10/32", "fd00:10::1/128"]
}
ip_rule "marked" {
  table    = 51850
  priority = 100
  mark     = "0x100/0xff00"
}
ip_route "four" {
  table = 51850
  to    = "10.244.0.0/16"
  link  = "localdns"
}
ip_route "six" {
  table = 51850
  to    = "fd00:244::/64"
  link  = "localdns"
}
ip_route "unreachable" {
  table = 51850
  to    = "10.245.0.0/16"
  type  = "unreachable"
}
ip_rule "former" {
  table = 12346
  state = "absent"
}
ip_route "former" {
  table = 12346
  state = "absent"
}
