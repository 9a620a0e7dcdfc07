base:
  '*': [repo, packages]
