kubernetes_version = "1.34.4"
api_server         = "https://api.example.com:6443"
cluster_dns        = "10.96.0.10"
bootstrap_token    = "abcdef.0123456789abcdef"
rootfs_image       = "oci-layout:/srv/worker-image"
labels             = { "example.com/site" = "north", "example.com/pool" = "general" }
taints             = ["example.com/warming=true:NoSchedule"]

ca_certificate = <<-EOT
  -----BEGIN CERTIFICATE-----
  MIIBfDCCASGgAwIBAgIUPAgL8ohtM/54PiK2cW33Llmg228wCgYIKoZIzj0EAwIw
  EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMjkxOTQ1MjRaGA8yMTI2MTEwNTE5
  NDUyNFowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
  A0IABPTSU8adXoWSZdpVsYyOPwZFTF0OmyUxPZwJGgDISVSXPUumE3CV3Prt7sf/
  i6AS0w6ZxpQVl7YrokJJjEy5ipSjUzBRMB0GA1UdDgQWBBRsaRJ4V2iW5thp5bf4
  dwDjWPA/HTAfBgNVHSMEGDAWgBRsaRJ4V2iW5thp5bf4dwDjWPA/HTAPBgNVHRMB
  Af8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQD+JwRXXX6YKNsJu0d8E44vJ/gK
  mR16FCMWjoZ18Lz8pwIhALU1JuzAh5D/R1CVI6U/kiKBcoci9JMWYQUg4HLMgEDF
  -----END CERTIFICATE-----
EOT
