nspawn_machine "kube1" {
  rootfs {
    image = "registry.example.com/machines/debian@sha256:5c2d6a2b1f4d9c5e8b7a3f0e1d2c4b6a8f9e0d1c2b3a4f5e6d7c8b9a0f1e2d3c"
  }

  settings {
    exec           = { Capability = "all", PrivateUsers = "no" }
    network        = { VirtualEthernet = "no" }
    files          = { BindReadOnly = ["/lib/modules"] }
    bind_if_exists = ["/dev/kvm"]
  }

  service {
    unit    = { StartLimitIntervalSec = "0" }
    service = { Restart = "on-failure", RestartSec = "10s" }
  }

  before_boot {
    write_file_if_changed "hostname" {
      path    = "/etc/hostname"
      content = "worker\n"
    }
  }

  ready {
    unit    = "multi-user.target"
    timeout = "2m"
  }
}
