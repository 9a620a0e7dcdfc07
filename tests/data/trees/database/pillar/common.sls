backup: {hour: 2, target: /var/backups/db}
