site:
  name: www.example.com
  port: 8080
  workers: 4
  admins: [ada, grace]
  vhosts:
    shop: {root: /srv/www/shop, ports: [80, 443]}
    blog: {root: /srv/www/blog, ports: [80]}
