include:
- common
db:
  port: 5433
  shared_buffers: 128MB
  databases: [shop, blog, stats]
  sysctl:
    net.ipv4.tcp_keepalive_time: 600
    net.ipv4.ip_local_port_range: "20000 60000"
