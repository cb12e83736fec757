# A site's agent: a configuration file, a unit, and a restart exactly when one
# of them changed. Shows for_each, drop-ins, JSON from values, and foreign
# files that are put back.

recipe "metrics_site" {
  language    = 1
  version     = "0.2.0"
  description = "Metrics agent with its configuration and a tuned journal"

  supports "debian" {
    id         = "debian"
    version_id = ">= 12"
  }
  supports "ubuntu" {
    id         = "ubuntu"
    version_id = ">= 22.04"
  }

  fingerprint = fingerprint({ site = var.site })
}

variable "site" {
  type        = string
  description = "Name of the site; it labels every metric"
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]*$", var.site))
    error_message = "A site is a word in lower case, such as \"west-2\"."
  }
}

variable "listen" {
  type    = string
  default = "127.0.0.1:9100"
}

variable "collectors" {
  type    = map(object({ interval = optional(string, "15s"), enabled = optional(bool, true) }))
  default = { cpu = {}, disk = { interval = "60s" } }
}

variable "token" {
  type        = string
  default     = null
  sensitive   = true
  description = "Bearer token for remote writes"
}

locals {
  config = {
    site       = var.site
    listen     = var.listen
    collectors = { for name, c in var.collectors : name => c.interval if c.enabled }
  }
}

require_capability "journald" {
  executable = "journalctl"
}

stage "agent" {
  description = "The agent's files and its unit"

  directory "config" {
    path = "/etc/metrics-agent"
    mode = "0750"
  }

  write_file_if_changed "config" {
    path    = "/etc/metrics-agent/config.json"
    mode    = "0640"
    content = "${jsonencode(local.config)}\n"
  }

  write_file_if_changed "collector" {
    for_each = var.collectors
    path     = "/etc/metrics-agent/collectors.d/${each.key}.conf"
    content  = "interval=${each.value.interval}\n"
  }

  write_file_if_changed "token" {
    when    = var.token != null
    path    = "/etc/metrics-agent/token"
    mode    = "0600"
    content = var.token
  }

  write_file_if_changed "agent" {
    path   = "/usr/local/bin/metrics-agent"
    mode   = "0755"
    source = "files/metrics-agent"
  }

  symlink "current" {
    path   = "/usr/local/bin/metrics-agent-current"
    target = "metrics-agent"
  }

  systemd_unit "metrics-agent.service" {
    source = "files/metrics-agent.service"
    enable = true
    state  = "started"
  }

  restart_on_change "metrics-agent.service" {
    watch = [
      write_file_if_changed.config,
      write_file_if_changed.collector,
      write_file_if_changed.token,
      write_file_if_changed.agent,
      systemd_unit["metrics-agent.service"],
    ]
  }
}

stage "journal" {
  description = "The journal keeps less, and survives a reboot"

  systemd_unit "systemd-journald.service" {
    drop_in "10-site.conf" {
      content = "[Service]\nLogRateLimitIntervalSec=30s\n"
    }
  }

  write_file_if_changed "motd" {
    path             = "/etc/motd"
    replaces_foreign = true
    content          = "This host reports to ${var.site}.\n"
  }
}

reset_step "leftovers" {
  remove_path {
    path      = "/var/lib/metrics-agent"
    recursive = true
  }
}
