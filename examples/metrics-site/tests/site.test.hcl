# The agent on a Debian 12 in memory. The laws are tried with the host of every
# test that installs: a second run changes nothing, a crash anywhere converges,
# reset restores the host, a plan is what apply does.

host "debian" {
  executables = ["journalctl", "apt-get"]

  file "/etc/motd" {
    content = "welcome\n"
    mode    = "0664"
  }
  unit "systemd-journald.service" {
    state = "running"
  }
}

test "installs, repairs and goes away again" {
  host "debian" {}
  inputs = { site = "west-2", token = "not-a-real-token" }

  run "plan" {
    golden = "golden/memory.txt"
  }

  run "apply" {
    expect_changed = [
      "write_file_if_changed.config",
      "write_file_if_changed.collector[\"cpu\"]",
      "systemd_unit[\"metrics-agent.service\"]",
    ]
    assert {
      condition = jsondecode(host_file("/etc/metrics-agent/config.json").content).site == "west-2"
      message   = "the site is not in the agent's configuration"
    }
    assert {
      condition = host_file("/etc/metrics-agent/token").mode == "0600"
      message   = "the token is readable by others"
    }
    assert {
      condition = unit_state("metrics-agent.service").active == "active"
      message   = "the agent does not run"
    }
  }

  run "ensure" {
    expect_unchanged = true
  }

  event "write" {
    path    = "/etc/metrics-agent/config.json"
    content = "{}"
  }

  run "verify" {
    expect_failure = "write_file_if_changed.config"
  }

  run "ensure" {
    expect_changed = ["write_file_if_changed.config", "restart_on_change[\"metrics-agent.service\"]"]
    assert {
      condition = contains(run.jobs, "restart metrics-agent.service")
      message   = "the agent still runs with the edited configuration"
    }
  }

  run "reset" {
    assert {
      condition = host_file("/etc/motd").content == "welcome\n" && host_file("/etc/motd").mode == "0664"
      message   = "the message of the day was not put back"
    }
    assert {
      condition = !file_exists("/etc/metrics-agent")
      message   = "the agent's directory is left"
    }
  }
}

test "restarts the agent for a new collector, and for nothing else" {
  host "debian" {}
  inputs = { site = "west-2" }

  run "apply" {}

  run "apply" {
    inputs         = { collectors = { cpu = {}, disk = { interval = "30s" } } }
    expect_changed = ["write_file_if_changed.collector[\"disk\"]", "restart_on_change[\"metrics-agent.service\"]"]
    expect_unchanged = [
      "write_file_if_changed.collector[\"cpu\"]",
      "write_file_if_changed.motd",
    ]
  }

  run "apply" {
    inputs = { collectors = { cpu = {} }, listen = "0.0.0.0:9100" }
    assert {
      condition = !file_exists("/etc/metrics-agent/collectors.d/disk.conf")
      message   = "a collector that is gone from the recipe is still there"
    }
  }
}

test "refuses a name that is none" {
  host "debian" {}
  inputs = { site = "West 2" }

  run "apply" {
    expect_failure {
      message   = "A site is a word in lower case"
      exit_code = 65
    }
    assert {
      condition = run.phase == "absent" && !file_exists("/etc/metrics-agent")
      message   = "a refused run left something"
    }
  }
}

test "refuses another system" {
  host {
    os_release = "ID=fedora\nVERSION_ID=41\n"
  }
  inputs = { site = "west-2" }

  run "apply" {
    expect_failure {
      message   = "fedora"
      exit_code = 78
    }
  }
}

test "survives a full disk and a power loss" {
  host "debian" {}
  inputs = { site = "west-2" }

  run "apply" {
    expect_failure = "no space left on device"
    fault "error" {
      path  = "/usr/local/bin/metrics-agent"
      errno = "ENOSPC"
    }
  }

  run "ensure" {
    fault "power_loss" {
      path = "/etc/motd"
    }
  }

  run "ensure" {
    assert {
      condition = run.phase == "complete" && unit_state("metrics-agent.service").active == "active"
      message   = "the installation was not completed"
    }
  }
}
