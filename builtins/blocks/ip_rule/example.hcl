ip_rule "marked" {
  table    = 51850
  priority = 100
  mark     = "0x100/0xff00"
}

ip_rule "former" {
  table = 12345
  state = "absent"
}
