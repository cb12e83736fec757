rootfs_image = "oci-layout:/srv/worker-image"
nameservers  = ["192.0.2.53"]
sysctl       = { "vm.swappiness" = "1" }
