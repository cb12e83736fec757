kernel_module "br_netfilter" {}

kernel_module "overlay" {
  boot = false
}
