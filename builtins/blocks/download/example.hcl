download "agent" {
  url    = "https://artifacts.example.com/agent-1.4.0-linux-amd64"
  sha256 = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
  path   = "/usr/local/bin/agent"
  mode   = "0755"
}

download "tools" {
  url        = "https://artifacts.example.com/tools-1.31.0-linux-amd64.tar.gz"
  sha256_url = "https://artifacts.example.com/tools-1.31.0-linux-amd64.tar.gz.sha256"
  members    = { "bin/tool" = "/usr/local/bin/tool" }
  mode       = "0755"

  retry {
    attempts = 5
    delay    = "10s"
  }
}
