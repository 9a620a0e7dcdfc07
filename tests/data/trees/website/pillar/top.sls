base:
  '*':
  - site
