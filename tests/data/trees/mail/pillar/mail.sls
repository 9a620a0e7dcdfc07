mail:
  relay: smtp.example.com
  networks: [127.0.0.0/8, 10.0.0.0/8]
  aliases: {abuse: root, noc: "ada, grace", root: ada@example.com}
  domains:
    example.com: {users: [ada, grace]}
    example.org: {users: [linus]}
