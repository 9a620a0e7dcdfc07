base:
  '*': [mail]
