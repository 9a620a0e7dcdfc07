# Made by: halite generate completions

complete -c salt-minion -f
complete -c salt-minion -s h -l help -d 'print this help and exit'
complete -c salt-minion -s d -l daemon -d 'run in the background'
complete -c salt-minion -l pid-file -r -F -d 'the file for the process id'
complete -c salt-minion -l disable-keepalive -d 'run without the supervisor that starts the daemon again'
complete -c salt-minion -s u -l user -r -f -a '(__fish_complete_users)' -d 'the user to run as'
complete -c salt-minion -s l -l log-level -r -f -a 'all garbage trace debug profile info warning error critical quiet' -d 'what goes to the console: all, garbage, trace, debug, profile, info, warning, error, critical or quiet'
complete -c salt-minion -l log-file -r -F -d 'the log file, or file://, udp:// or tcp:// of a syslog'
complete -c salt-minion -l log-file-level -r -f -a 'all garbage trace debug profile info warning error critical quiet' -d 'what goes to the log file, as for --log-level'
complete -c salt-minion -l version -d 'print the version and exit'
complete -c salt-minion -s V -l versions-report -d 'print the versions of the program and of the system below it, and exit'
complete -c salt-minion -s c -l config-dir -r -f -a '(__fish_complete_directories)' -d 'the directory with the configuration; SALT_CONFIG_DIR, else /etc/salt'
complete -c salt-minion -l saltfile -r -F -d 'a file with options for this program; SALT_SALTFILE, else Saltfile where the command runs'
complete -c salt-minion -l hard-crash -d 'end with the original error; accepted, errors are always whole here'
