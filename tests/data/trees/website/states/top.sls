base:
  'web*':
  - users
  - web
  - web.vhosts
  - maintenance
