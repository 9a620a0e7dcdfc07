include:
- base
- base.files
extend:
  banner:
    file:
    - mode: '0644'
exclude:
- id: unwanted
