base:
  '*': [nodes]
  'web1': [own]
