mount "scratch" {
  what    = "tmpfs"
  where   = "/var/scratch"
  type    = "tmpfs"
  options = ["size=1G", "nosuid", "nodev"]
}
