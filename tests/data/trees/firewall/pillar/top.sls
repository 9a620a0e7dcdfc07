base:
  '*': [firewall]
