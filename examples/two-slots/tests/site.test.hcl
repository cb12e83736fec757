# What the worker does is tried beside the shipped recipes; here the plan tells
# that the site gets what it wants of it.
test "is planned as the site wants it" {
  host {
    os_release     = file("fixtures/os-release")
    executables    = ["machinectl", "/usr/sbin/nft"]
    kernel_modules = { overlay = true, br_netfilter = true }
    sysctl = {
      "net.bridge.bridge-nf-call-ip6tables"  = "0"
      "net.bridge.bridge-nf-call-iptables"   = "0"
      "net.ipv4.conf.all.src_valid_mark"     = "0"
      "net.ipv4.conf.default.rp_filter"      = "2"
      "net.ipv4.conf.default.src_valid_mark" = "0"
      "vm.panic_on_oom"                      = "0"
    }
    read_only = ["/usr"]
    url "https://dl.k8s.io/" {}
    url "https://github.com/" {}
    image "registry.example.com/node:1" {
      file "/var/lib/kubelet/kubeconfig" {
        content = "kind: Config\n"
      }
    }
    url "https://api.example.com:6443/readyz" {
      status = 401
    }
  }
  inputs = { kubernetes_version = "1.34.4", bootstrap_token = "abcdef.0123456789abcdef", rootfs_image = "registry.example.com/node:1" }

  run "plan" {
    assert {
      condition = run.actions["use.worker.use.worker.mount.bpf[\"kube2\"]"] == "create"
      message   = "the second slot is not prepared"
    }
  }
}
