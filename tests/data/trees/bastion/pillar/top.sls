base:
  'web1':
  - keys
