# An installation with an identity, for the tests of ownership.
recipe "owned" {
  language    = 1
  version     = "1.0.0"
  description = "Files, a unit, an original, and what a service leaves behind"
  supports "debian" { id = "debian" }

  fingerprint = fingerprint({
    name    = var.name
    version = trimprefix(var.release, "v")
    image   = artifact_identity(var.image)
    server  = var.server
  })
}

variable "name" {
  type    = string
  default = "node"
}

variable "release" {
  type    = string
  default = "v1.34.4"
}

variable "image" {
  type    = string
  default = "https://images.example.com/rootfs.tar.gz?signature=one"
}

variable "server" {
  type    = string
  default = "https://api.example.com:6443"
}

variable "label" {
  type        = string
  default     = "a=1"
  description = "Outside of the identity"
}

reset_step "leftovers" {
  remove_path {
    path      = "/run/owned"
    recursive = true
  }
  delete_nft_table {
    name         = "owned"
    missing_tool = "absent"
  }
}

write_file_if_changed "config" {
  path    = "/etc/owned/config"
  content = "server = ${var.server}\nlabel = ${var.label}\n"
}

write_file_if_changed "tool" {
  path   = "${host.prefix}/bin/owned-tool"
  source = "files/tool"
  mode   = "0755"
}

write_file_if_changed "motd" {
  path             = "/etc/motd"
  content          = "owned\n"
  replaces_foreign = true
}

systemd_unit "owned.service" {
  content = <<-EOT
    [Unit]
    Description=A service of the recipe
    [Service]
    Type=notify
    NotifyAccess=all
    RuntimeDirectory=owned
    ExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep infinity'
    [Install]
    WantedBy=multi-user.target
  EOT
  enable  = true
  state   = "started"
  restart = "never"
}
