test "comes up, and goes without a trace" {
  host {
    executables = ["apt-get", "machinectl", "/usr/sbin/nft"]
    image "registry.example.com/worker:1" {}
    file "/etc/sysctl.d/10-theirs.conf" {
      content = "kernel.panic = 1\n"
    }
  }
  inputs = { rootfs_image = "registry.example.com/worker:1", nameservers = ["192.0.2.53"] }

  run "apply" {
    expect_changed = ["nspawn_machine.worker", "sysctl.worker", "nft_ruleset.flush"]
    assert {
      condition = host_file("/var/lib/machines/worker1/etc/resolv.conf").content == "nameserver 192.0.2.53\n"
      message   = "the machine has other name servers"
    }
  }
  run "ensure" {
    expect_unchanged = true
  }
  run "reset" {
    assert {
      condition = !file_exists("/etc/systemd/nspawn/worker1.nspawn") && !machine_registered("worker1")
      message   = "the machine is left"
    }
  }
}

test "kernel parameters that are left to the host" {
  host {
    executables = ["apt-get", "machinectl", "/usr/sbin/nft"]
    image "registry.example.com/worker:1" {}
  }
  inputs = { rootfs_image = "registry.example.com/worker:1", sysctl = { "kernel.panic" = null, "vm.swappiness" = "1" } }

  run "apply" {
    assert {
      condition = !strcontains(host_file("/etc/sysctl.d/99-hostler-worker.conf").content, "kernel.panic =") && strcontains(host_file("/etc/sysctl.d/99-hostler-worker.conf").content, "vm.swappiness = 1")
      message   = "the parameters are others"
    }
  }
}
