base:
  '*':
  - order
