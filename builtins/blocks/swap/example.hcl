swap "off" {}
