container_import "pause" {
  path   = "/var/lib/images/pause.tar"
  images = ["registry.example.com/pause:3.9"]

  retry {
    attempts = 5
    delay    = "2s"
  }
}
