base:
  '*': [gone]
