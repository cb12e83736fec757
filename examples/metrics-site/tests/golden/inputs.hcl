site  = "west-2"
token = "not-a-real-token"
