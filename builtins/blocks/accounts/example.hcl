accounts "agent" {
  path = "/etc/sysusers.d/agent.conf"

  group "metrics" {}

  user "agent" {
    description = "Metrics agent"
    home        = "/var/lib/agent"
    groups      = ["metrics", "adm"]
  }
}
