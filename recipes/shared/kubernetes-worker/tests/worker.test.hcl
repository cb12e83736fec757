# What is tried with every image stands beside the recipes of the images.
laws {
  except = ["crash-converges"]
}

host "fresh" {
  os_release     = file("fixtures/os-release")
  hostname       = "node-1"
  executables    = ["machinectl", "/usr/sbin/nft", "apt-get"]
  kernel_modules = { overlay = false, br_netfilter = false }
  sysctl = {
    "net.bridge.bridge-nf-call-ip6tables"  = "0"
    "net.bridge.bridge-nf-call-iptables"   = "0"
    "net.ipv4.conf.all.src_valid_mark"     = "0"
    "net.ipv4.conf.default.rp_filter"      = "2"
    "net.ipv4.conf.default.src_valid_mark" = "0"
    "vm.panic_on_oom"                      = "0"
  }
  unit "docker.service" {
    state   = "running"
    enabled = true
  }
  # What the image brings need not be downloaded; the kubeconfig stands for a
  # kubelet that has registered.
  image "registry.example.com/node:1" {
    executables = ["/usr/local/bin/containerd", "/usr/local/bin/kubelet"]
    file "/var/lib/kubelet/kubeconfig" {
      content = "kind: Config\n"
    }
  }
  url "https://api.example.com:6443/readyz" {
    status = 401
  }
}

test "credentials of a program, and no token" {
  host "fresh" {}
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("fixtures/ca.crt")
    cluster_dns        = "10.96.0.10"
    rootfs_image       = "registry.example.com/node:1"
    labels             = { "example.com/pool" = "general" }
    exec_credential    = { command = "/usr/local/bin/login", args = ["--node"] }
    programs = {
      kubernetes = { install = false }
      containerd = { install = false }
      runc       = { install = false }
      cni        = { install = false }
      crictl     = { install = false }
    }
  }

  run "apply" {
    assert {
      condition = strcontains(host_file("/var/lib/machines/kube1/var/lib/kubelet/kubeconfig").content, "/usr/local/bin/login")
      message   = "the kubeconfig does not name the program"
    }
    assert {
      condition = !file_exists("/var/lib/machines/kube1/var/lib/kubelet/bootstrap-kubeconfig")
      message   = "there is a token"
    }
  }
}

test "two slots, one machine" {
  host "fresh" {}
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("fixtures/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = "abcdef.0123456789abcdef"
    rootfs_image       = "registry.example.com/node:1"
    labels             = { "example.com/pool" = "general" }
    machines           = ["kube1", "kube2"]
    programs = {
      kubernetes = { install = false }
      containerd = { install = false }
      runc       = { install = false }
      cni        = { install = false }
      crictl     = { install = false }
    }
  }

  run "apply" {
    assert {
      condition = machine_registered("kube1") && !machine_registered("kube2") && file_exists("/etc/systemd/nspawn/kube2.nspawn")
      message   = "the slots are not as they should be"
    }
  }
}

test "a GPU of the host" {
  host "fresh" {
    file "/dev/nvidia0" {}
    file "/usr/lib64/libcuda.so.1" {}
  }
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("fixtures/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = "abcdef.0123456789abcdef"
    rootfs_image       = "registry.example.com/node:1"
    labels             = { "example.com/pool" = "general" }
    nvidia             = true
    programs = {
      kubernetes = { install = false }
      containerd = { install = false }
      runc       = { install = false }
      cni        = { install = false }
      crictl     = { install = false }
    }
  }

  run "apply" {
    assert {
      condition = strcontains(host_file("/etc/systemd/nspawn/kube1.nspawn").content, "BindReadOnly=/usr/lib64/libcuda.so.1")
      message   = "the driver's library is not bound"
    }
    assert {
      condition = strcontains(host_file("/var/lib/machines/kube1/etc/containerd/config.toml").content, "default_runtime_name = \"nvidia\"")
      message   = "the runtime is another one"
    }
  }
}

test "programs under digests of the site" {
  host "fresh" {
    url "https://mirror.example.com/runc-1.5.0" {
      content = "runc"
    }
  }
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("fixtures/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = "abcdef.0123456789abcdef"
    rootfs_image       = "registry.example.com/node:1"
    labels             = { "example.com/pool" = "general" }
    programs = {
      kubernetes = { install = false }
      containerd = { install = false }
      runc       = { url = "https://mirror.example.com/runc-{version}", sha256 = sha256("runc") }
      cni        = { install = false }
      crictl     = { install = false }
    }
  }

  run "apply" {
    assert {
      condition = host_file("/var/lib/machines/kube1/usr/local/bin/runc").content == "runc" && host_file("/var/lib/machines/kube1/usr/local/bin/runc").mode == "0755"
      message   = "runc is another one"
    }
  }
}

test "a taken port" {
  host "fresh" {
    listener "0.0.0.0:10250" {
      executable = "/usr/bin/other"
    }
  }
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("fixtures/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = "abcdef.0123456789abcdef"
    rootfs_image       = "registry.example.com/node:1"
    labels             = { "example.com/pool" = "general" }
    programs = {
      kubernetes = { install = false }
      containerd = { install = false }
      runc       = { install = false }
      cni        = { install = false }
      crictl     = { install = false }
    }
  }

  run "apply" {
    expect_failure = "10250"
  }
}

test "another cluster is another node" {
  host "fresh" {}
  inputs = {
    kubernetes_version = "1.34.4"
    api_server         = "https://api.example.com:6443"
    ca_certificate     = file("fixtures/ca.crt")
    cluster_dns        = "10.96.0.10"
    bootstrap_token    = "abcdef.0123456789abcdef"
    rootfs_image       = "registry.example.com/node:1"
    labels             = { "example.com/pool" = "general" }
    programs = {
      kubernetes = { install = false }
      containerd = { install = false }
      runc       = { install = false }
      cni        = { install = false }
      crictl     = { install = false }
    }
  }

  run "apply" {}
  run "apply" {
    inputs         = { kubernetes_version = "1.35.0" }
    expect_failure = "reset"
  }
}
