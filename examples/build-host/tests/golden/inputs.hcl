image = "oci-layout:/srv/worker-image"
