base:
  '*':
  - staff
  - ssh
  - system
