gone:
  users: [leaver1, leaver2]
  files: [/srv/old, /srv/link, /srv/never]
