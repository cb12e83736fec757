directory "state" {
  path  = "/var/lib/demo"
  mode  = "0750"
  owner = "root"
}
