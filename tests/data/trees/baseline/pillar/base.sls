ntp: [0.pool.example.com, 1.pool.example.com]
banner: |
  Property of Example.
  Go away.
