test "the machine has its limits" {
  host {
    executables = ["apt-get", "machinectl", "/usr/sbin/nft"]
    image "registry.example.com/build:1" {}
  }
  inputs = { image = "registry.example.com/build:1", memory = "4G" }

  run "apply" {
    assert {
      condition = strcontains(host_file("/etc/systemd/system/systemd-nspawn@build1.service.d/20-limits.conf").content, "MemoryMax=4G")
      message   = "the limit is another one"
    }
  }
  run "ensure" {
    expect_unchanged = true
  }
}
