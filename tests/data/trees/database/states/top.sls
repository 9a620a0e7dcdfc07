base:
  'G@roles:db and web*':
  - match: compound
  - db
