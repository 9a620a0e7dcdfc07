staff:
  ada:
    uid: 5001
    key: AAAAC3NzaC1lZDI1NTE5AAAAIBgD19qFUjY6S3p8Xw+Sdr89AjW56ndLG0ympb/OGf1J
    sudo: true
  grace:
    uid: 5002
    key: AAAAC3NzaC1lZDI1NTE5AAAAIB1bjpmX/OGI7646HH2g6Jd0OhVGpkIjPu8ULG//Xu/G
    shell: /bin/dash
gone: [mallory]
