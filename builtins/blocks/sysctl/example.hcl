sysctl "forwarding" {
  path = "/etc/sysctl.d/90-demo.conf"
  values = {
    "net.ipv4.ip_forward" = 1
    "vm.swappiness"       = 10
  }
}
