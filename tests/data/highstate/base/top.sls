base:
  '*': [app, reqs]
  'G@os:Debian or G@os:Ubuntu': [small2]
  'nomatch*': [none]
  'm[12]':
    - match: pcre
    - names
dev:
  '*': [devsls]
