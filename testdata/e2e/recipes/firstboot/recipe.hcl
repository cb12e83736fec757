# What a new host is given at its first boot, small: files and a service on the
# host, a machine with a service in it, and hostler itself.

recipe "firstboot" {
  language    = 1
  version     = "1.0.0"
  description = "A host with a machine, from its first boot on"

  supports "debian" {
    id         = "debian"
    version_id = ">= 12, < 13"
  }

  supports "azure_container_linux" {
    id         = "azurelinux"
    variant_id = "azurecontainerlinux"
    version_id = ">= 3.0, < 4.0"
  }

  fingerprint = fingerprint({
    image = artifact_identity(var.image)
    site  = var.site
  })
}

variable "image" {
  type        = string
  description = "Root file system of the machine"
}

variable "site" {
  type        = string
  description = "What the host is called"
}

variable "token" {
  type        = string
  sensitive   = true
  description = "What the service authenticates itself with"
}

require_capability "nspawn" {
  executables = ["systemd-nspawn", "machinectl"]
  packages    = { apt = ["systemd-container"] }
}

stage "host" {
  write_file_if_changed "settings" {
    path    = "/etc/site/settings.json"
    content = jsonencode({ site = var.site })
  }

  write_file_if_changed "token" {
    path    = "/etc/site/token"
    content = var.token
    mode    = "0600"
  }

  write_file_if_changed "asset" {
    path   = "/etc/site/asset.bin"
    source = "files/asset.bin"
  }

  systemd_unit "site.service" {
    content = <<-EOT
      [Unit]
      Description=Service of the site

      [Service]
      ExecStart=/usr/bin/sleep infinity

      [Install]
      WantedBy=multi-user.target
    EOT
    enable  = true
    state   = "started"
  }

  restart_on_change "site.service" {
    watch = [write_file_if_changed.settings, write_file_if_changed.token, systemd_unit["site.service"]]
  }
}

stage "machine" {
  nspawn_machine "node1" {
    rootfs { image = var.image }

    settings {
      exec    = { PrivateUsers = "no" }
      network = { VirtualEthernet = "no" }
    }

    before_boot {
      write_file_if_changed "greeting" {
        path    = "/etc/greeting"
        content = "hello from ${var.site}\n"
      }
    }

    after_boot {
      systemd_unit "greeter.service" {
        content = <<-EOT
          [Service]
          ExecStart=/bin/sh -c "cat /etc/greeting; exec sleep infinity"

          [Install]
          WantedBy=multi-user.target
        EOT
        enable  = true
        state   = "started"
      }

      restart_on_change "greeter.service" {
        watch = [systemd_unit["greeter.service"]]
      }
    }

    ready {
      unit    = "greeter.service"
      timeout = "30s"
    }
  }
}

stage "interpreter" {
  interpreter_install "hostler" {
    boot_inputs = ["/etc/hostler/inputs.hcl"]
  }
}
