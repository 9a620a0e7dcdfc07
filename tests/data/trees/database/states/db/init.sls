include:
- .install
- .config
- .backup
