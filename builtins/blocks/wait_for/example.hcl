wait_for "socket" {
  file     = "/run/demo/demo.sock"
  timeout  = "1m"
  interval = "1s"
}
