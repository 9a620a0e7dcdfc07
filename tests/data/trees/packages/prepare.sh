cp -r /srv/repo /srv/more
