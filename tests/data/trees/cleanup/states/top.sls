base:
  '*':
  - accounts
  - software
  - traces
