set -e
export DEBIAN_FRONTEND=noninteractive
apt-get -q -y install webd maild tool editor-a editor-b >/dev/null
/etc/init.d/webd start
/etc/init.d/maild start
groupadd -g 7000 leavers
for n in 1 2 3; do useradd -u 700$n -g leavers -m leaver$n; done
mkdir -p /srv/old/deep /srv/spool /home/leaver1/.ssh
echo x >/srv/old/deep/file
for n in 1 2 3 4; do echo $n >/srv/spool/$n.log; touch -d '40 days ago' /srv/spool/$n.log; done
echo keep >/srv/spool/keep.txt
ln -s /srv/old /srv/link
echo '10.3.0.1 old.example.com older' >>/etc/hosts
printf '# Lines below here are managed by Salt, do not edit\n# SALT_CRON_IDENTIFIER:gone\n1 2 * * * /bin/gone\n3 4 * * * /bin/stays\n' | crontab -
echo 'gone: root' >>/etc/aliases
echo 'stays: root' >>/etc/aliases
echo '/dev/old /mnt/old ext4 defaults 0 0' >>/etc/fstab
printf 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBRvc2VzIGFyZSByZWQsIHZpb2xldHMgYXJlIGJsdWU= ada@example.com\n' >/root/keys
mkdir -p -m 700 /root/.ssh
cp /root/keys /root/.ssh/authorized_keys
printf 'old.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBRvc2VzIGFyZSByZWQsIHZpb2xldHMgYXJlIGJsdWU=\n' >/root/.ssh/known_hosts
printf '[a]\nx = 1\ny = 2\n[b]\nz = 3\n' >/srv/settings.ini
