app:
  user: deploy
  revision: v1
  env: {APP_ENV: production, APP_PORT: '9000'}
  secret: s3cr3t
