absent "default_site" {
  path = "/etc/demo/conf.d/00-default.conf"
}
