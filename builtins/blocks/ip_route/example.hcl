ip_route "pods" {
  table = 51850
  to    = "10.244.0.0/16"
  via   = "192.0.2.1"
}

ip_route "former" {
  table = 12345
  state = "absent"
}
