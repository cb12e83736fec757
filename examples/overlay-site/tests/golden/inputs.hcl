bootstrap_token = "abcdef.0123456789abcdef"
rootfs_image    = "oci-layout:/srv/worker-image"
pool            = "build"
