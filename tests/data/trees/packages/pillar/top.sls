base:
  '*': [versions]
