status_sink "operators" {
  timeout = "10s"
  webhook {
    url        = "https://hooks.example.com/hosts"
    token_file = "/etc/hostler/webhook-token"
  }
}
