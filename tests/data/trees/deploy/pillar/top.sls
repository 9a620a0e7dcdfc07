base:
  'os:Debian':
  - match: grain
  - app
