base:
  '*': [cluster, reports]
