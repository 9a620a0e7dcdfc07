# Made by: halite generate completions

complete -c halite -f
complete -c halite -n 'test (count (commandline -opc)) -eq 1' -a 'fleet salt salt-call salt-cp salt-key salt-master salt-minion salt-run generate install --help --list --version'
complete -c halite -n '__fish_seen_subcommand_from generate; and test (count (commandline -opc)) -eq 2' -a 'completions config man reference services'
complete -c halite -n '__fish_seen_subcommand_from install; and test (count (commandline -opc)) -eq 2' -a '(__fish_complete_directories)'
complete -c halite -n '__fish_seen_subcommand_from generate; and test (count (commandline -opc)) -eq 3' -a '(__fish_complete_directories)'
