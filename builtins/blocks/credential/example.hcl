variable "registry_token" {
  type      = string
  sensitive = true
}

credential "registry-token" {
  value = var.registry_token
}
