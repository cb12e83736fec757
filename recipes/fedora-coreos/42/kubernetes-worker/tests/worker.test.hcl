# Steps are those of all images; that a crash anywhere converges is tried with
# azure-container-linux/3/kubernetes-worker.
laws {
  except = ["crash-converges"]
}

host "fresh" {
  os_release     = file("fixtures/os-release")
  hostname       = "node-1"
  executables    = ["machinectl", "/usr/sbin/nft"]
  kernel_modules = { overlay = false, br_netfilter = false }
  sysctl = {
    "net.bridge.bridge-nf-call-ip6tables"  = "0"
    "net.bridge.bridge-nf-call-iptables"   = "0"
    "net.ipv4.conf.all.src_valid_mark"     = "0"
    "net.ipv4.conf.default.rp_filter"      = "2"
    "net.ipv4.conf.default.src_valid_mark" = "0"
    "vm.panic_on_oom"                      = "0"
  }
  symlink "/usr/local" {
    target = "../var/usrlocal"
  }
  directory "/var/usrlocal/bin" {}
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

test "comes up on a fresh host, and goes without a trace" {
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

  run "apply" {
    assert {
      condition = machine_registered("kube1") && unit_state("docker.service").active != "active"
      message   = "the machine does not run, or docker does"
    }
    assert {
      condition = host_file("/var/lib/machines/kube1/etc/hostname").content == "node-1\n"
      message   = "the node has another name"
    }
    assert {
      condition = host_file("/usr/local/bin/hostler").kind == "symlink"
      message   = "hostler is not installed below /usr/local"
    }
  }
  run "ensure" {
    expect_unchanged = true
  }
  run "reset" {
    assert {
      condition = !file_exists("/etc/systemd/nspawn/kube1.nspawn") && !file_exists("/var/lib/machines/kube1") && !machine_registered("kube1")
      message   = "the machine is left"
    }
  }
}

test "another label restarts the kubelet and nothing else" {
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
    inputs         = { labels = { "example.com/pool" = "build" } }
    expect_changed = ["use.worker.nspawn_machine.node.systemd_unit.kubelet_node"]
    assert {
      condition = [for job in run.jobs : job if startswith(job, "restart")] == ["restart kubelet.service"]
      message   = "restarted were ${join(", ", run.jobs)}"
    }
  }
}

test "what the image lacks is named, and nothing is installed" {
  host {
    os_release  = file("fixtures/os-release")
    executables = ["machinectl"]
    url "https://api.example.com:6443/readyz" {
      status = 401
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
    expect_failure = "system extension"
  }
}
