base:
  '*': [app, app.runtime]
