base:
  '*': [firewall, page]
