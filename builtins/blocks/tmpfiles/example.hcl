tmpfiles "demo" {
  path = "/etc/tmpfiles.d/demo.conf"

  entry {
    type = "d"
    path = "/run/demo"
    mode = "0750"
  }
  entry {
    type     = "L"
    path     = "/run/demo/config"
    argument = "/etc/demo"
  }
}
