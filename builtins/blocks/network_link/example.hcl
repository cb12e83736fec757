network_link "localdns" {
  kind      = "dummy"
  addresses = ["169.254.10.10/32", "169.254.10.11/32"]
}
