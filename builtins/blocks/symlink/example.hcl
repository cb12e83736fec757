symlink "current" {
  path   = "/opt/demo/current"
  target = "releases/1.4.0"
}
