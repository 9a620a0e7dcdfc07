base:
  'roles:db':
  - match: grain
  - db
  '*':
  - common
