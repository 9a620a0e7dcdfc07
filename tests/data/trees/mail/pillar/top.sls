base:
  '*': [mail, secrets]
