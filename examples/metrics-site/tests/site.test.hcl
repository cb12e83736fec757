host "fresh" {
  executables = ["apt-get", "journalctl"]
  unit "systemd-journald.service" {
    state = "running"
  }
  file "/etc/motd" {
    content = "welcome\n"
  }
}

test "the agent runs, and goes without a trace" {
  host "fresh" {}
  inputs = { site = "west-2", token = "secret" }

  run "apply" {
    assert {
      condition = host_file("/etc/metrics-agent/token").mode == "0600" && unit_state("metrics-agent.service").active == "active"
      message   = "the agent does not run, or its token can be read"
    }
  }
  run "reset" {
    assert {
      condition = host_file("/etc/motd").content == "welcome\n"
      message   = "the message of the day is not back"
    }
  }
}

test "a collector that is dropped is pruned" {
  host "fresh" {}
  inputs = { site = "west-2", token = "secret" }

  run "apply" {}
  run "apply" {
    inputs = { collectors = { cpu = {} } }
    assert {
      condition = !file_exists("/etc/metrics-agent/collectors.d/disk.conf") && contains(run.jobs, "restart metrics-agent.service")
      message   = "the collector is left, or the agent was not restarted"
    }
  }
}
