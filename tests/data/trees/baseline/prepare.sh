mkdir -p /etc/limits.d /etc/motd.d
touch /etc/limits.d/old.conf
