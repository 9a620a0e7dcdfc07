#!/usr/bin/env python3
"""The benchmarks: Halite, and real Salt beside it in the same run, as ratios.

usage: tests/bench.py [--salt VENV | --no-salt]

Real Salt (3008.4, from PyPI) is installed into a directory of its own the first time. Everything runs in temporary
directories on loopback. The last table says what was measured, what the aim is and whether it is met.
"""
import argparse, contextlib, datetime, filecmp, json, os, shutil, socket, sqlite3, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SALT_VERSION = '3008.4'
FILE_BYTES = 100_000_000
JOBS = 10_000
FILES, DIRECTORY, PACKAGES = 1_000, 5_000, 100
parser = argparse.ArgumentParser()
parser.add_argument('--salt', default=os.path.join(tempfile.gettempdir(), 'halite-bench-salt'))
parser.add_argument('--no-salt', action='store_true', default=os.environ.get('BENCH_SALT') == 'no')
options = parser.parse_args()
rows = []


def sh(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more).stdout


def best_of(count, *command, env=None):
    """Median seconds of a command."""
    times = []
    for _ in range(count):
        start = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, check=True)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def pss_kib(pids):
    total = 0
    for pid in pids:
        with open(f'/proc/{pid}/smaps_rollup') as rollup:
            total += next(int(line.split()[1]) for line in rollup if line.startswith('Pss:'))
    return total


def family(pid):
    """A process and all below it."""
    children = {}
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat') as stat:
                children.setdefault(int(stat.read().rsplit(')', 1)[1].split()[1]), []).append(int(name))
        except OSError:
            pass
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        todo += children.get(found[-1], [])
    return found


def wait_until(what, look, limit=90):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if look():
            return
        time.sleep(0.1)
    sys.exit(f'waited in vain until {what}')


class Fleet:
    """A master and one minion, of either kind."""

    def __init__(self, programs, publish_port):
        self.programs, self.root = programs, tempfile.mkdtemp(prefix='hb')
        os.makedirs(f'{self.root}/m/conf')
        os.makedirs(f'{self.root}/conf')
        common = 'log_level: error\nlog_level_logfile: error\n'
        with open(f'{self.root}/conf/master', 'w') as conf:
            conf.write(f'interface: 127.0.0.1\npublish_port: {publish_port}\nret_port: {publish_port + 1}\nauto_accept: True\n'
                       f'root_dir: {self.root}\nsock_dir: {self.root}/run\nuser: root\n'
                       f'file_roots: {{base: [{self.root}/files]}}\n{common}')
        with open(f'{self.root}/m/conf/minion', 'w') as conf:
            conf.write(f'id: web1\nmaster: 127.0.0.1\nmaster_port: {publish_port + 1}\npublish_port: {publish_port}\n'
                       f'root_dir: {self.root}/m\nsock_dir: {self.root}/m/run\nuser: root\n{common}')
        shutil.copy(f'{self.root}/m/conf/minion', f'{self.root}/conf/minion')
        start = lambda *words: subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.master = start(f'{programs}/salt-master', '-c', f'{self.root}/conf')
        self.minion = start(f'{programs}/salt-minion', '-c', f'{self.root}/m/conf')
        answers = lambda: subprocess.run([f'{programs}/salt', '-c', f'{self.root}/conf', 'web1', 'test.ping', '-t', '3'],
                                         capture_output=True, text=True).stdout.strip().endswith('True')
        wait_until('the minion answers', answers)

    def command(self, *words):
        return (f'{self.programs}/{words[0]}', '-c', f'{self.root}/conf', *words[1:])

    def fetch(self, count=3):
        """Median seconds in which the minion gets a file of 100 MB that it has not, and that nobody has hashed yet."""
        source, dest, times = f'{self.root}/files/big', f'{self.root}/dest', []
        if not os.path.exists(source):
            os.makedirs(f'{self.root}/files')
            with open(source, 'wb') as big:
                big.write(os.urandom(FILE_BYTES))
        for _ in range(count):
            os.utime(source)
            start = time.monotonic()
            sh(*self.command('salt', 'web1', 'cp.get_file', 'salt://big', dest, '-t', '120'))
            times.append(time.monotonic() - start)
            if not filecmp.cmp(source, dest, shallow=False):
                sys.exit(f'{self.programs}: the file did not arrive as it is')
            os.remove(dest)
        return statistics.median(times)

    def thousand(self):
        """The command that renders and compiles an SLS of 1,000 states."""
        os.makedirs(f'{self.root}/states', exist_ok=True)
        with open(f'{self.root}/states/thousand.sls', 'w') as sls:
            sls.write('{% for at in range(1000) %}\ns{{ at }}:\n  test.configurable_test_state:\n    - changes: False\n'
                      '    - result: True\n    - comment: {{ grains.id }} {{ at }}\n'
                      '{% if at %}    - require: [{test: s{{ at - 1 }}}]\n{% endif %}{% endfor %}')
        return self.command('salt-call', '--local', f'--file-root={self.root}/states', 'state.id_exists', 's999', 'thousand')

    def effects(self, count):
        """Median seconds of states that have something to do: files made and looked at again, a directory that is copied and
        compared, packages that are there."""
        tree, made = f'{self.root}/states', f'{self.root}/made'
        os.makedirs(f'{tree}/directory', exist_ok=True)
        for at in range(DIRECTORY):
            with open(f'{tree}/directory/{at}', 'w') as file:
                file.write(f'content of file {at}\n')
        with open(f'{tree}/files.sls', 'w') as sls:
            sls.write(f'{{% for at in range({FILES}) %}}\n{made}/files/{{{{ at }}}}:\n  file.managed:\n    - contents: the content of {{{{ at }}}}\n'
                      f'    - user: root\n    - group: root\n    - mode: "0640"\n    - makedirs: True\n{{% endfor %}}')
        with open(f'{tree}/recurse.sls', 'w') as sls:
            sls.write(f'{made}/directory:\n  file.recurse:\n    - source: salt://directory\n')
        names = sh('dpkg-query', '-W', '-f', '${binary:Package}\n').split()[:PACKAGES]
        with open(f'{tree}/packages.sls', 'w') as sls:
            sls.write('packages:\n  pkg.installed:\n    - refresh: False\n    - pkgs: [' + ', '.join(f'"{name}"' for name in names) + ']\n')
        run = lambda sls: best_of(1, *self.command('salt-call', '--local', f'--file-root={tree}', 'state.apply', sls))
        times = []
        for _ in range(count):
            shutil.rmtree(made, ignore_errors=True)
            times.append([run('files'), run('files'), run('recurse'), run('recurse'), run('packages')])
        shutil.rmtree(made)
        return [statistics.median(each) for each in zip(*times)]

    def cold(self, count):
        """Seconds of what is asked once: grains, a runner, and the list of many jobs."""
        call, run = self.command('salt-call', '--local', 'grains.items'), self.command('salt-run', 'fileserver.envs')
        jobs = self.command('salt-run', '--out=json', 'jobs.list_jobs')
        self.fill()
        listed = len(json.loads(sh(*jobs)))
        if listed < JOBS:
            sys.exit(f'{self.programs}: {listed} of {JOBS} jobs are listed')
        return best_of(count, *call), best_of(count, *run), best_of(count, *jobs)

    def fill(self):
        """Writes many jobs down, as the master would."""
        now = datetime.datetime.now()
        jids = [(now - datetime.timedelta(seconds=at)).strftime('%Y%m%d%H%M%S%f') for at in range(1, JOBS + 1)]
        path = f'{self.root}/var/cache/salt/master/jobs.sqlite'
        if not os.path.exists(path):
            sh(f'{self.programs}/python3', '-c', FILL, self.root, input='\n'.join(jids))
            return
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as jobs, jobs:
            load, = jobs.execute('SELECT load FROM jids LIMIT 1').fetchone()
            known = json.loads(load)['jid']
            columns = 'fun, "return", id, success, full_ret'
            ret = jobs.execute(f'SELECT {columns} FROM salt_returns WHERE jid = ?', (known,)).fetchone()
            for jid in jids:
                jobs.execute('INSERT INTO jids VALUES (?, ?)', (jid, load.replace(known, jid)))
                again = [text.replace(known, jid) for text in ret]
                jobs.execute(f'INSERT INTO salt_returns (jid, {columns}) VALUES (?, ?, ?, ?, ?, ?)', (jid, *again))
        # As the master does when it has written so much.
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as jobs:
            jobs.execute('PRAGMA wal_checkpoint')

    def memory(self):
        time.sleep(5)
        return pss_kib(family(self.master.pid)), pss_kib(family(self.minion.pid))

    def stop(self):
        for process in (self.minion, self.master):
            process.terminate()
        for process in (self.minion, self.master):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.root, ignore_errors=True)


def raw_copy(source, dest):
    """Seconds of a copy of a file over loopback: one process that sends it as fast as the kernel takes it, one that
    writes what comes."""
    listener = socket.create_server(('127.0.0.1', 0))

    def send():
        with socket.create_connection(listener.getsockname()) as connection, open(source, 'rb') as file:
            connection.sendfile(file)

    def once():
        start = time.monotonic()
        sender = threading.Thread(target=send)
        sender.start()
        buffer = bytearray(256 * 1024)
        with listener.accept()[0] as connection, open(dest, 'wb') as file:
            while count := connection.recv_into(buffer):
                file.write(memoryview(buffer)[:count])
        sender.join()
        took = time.monotonic() - start
        os.remove(dest)
        return took

    return statistics.median(once() for _ in range(5))


LOCAL_CLIENT = '''
import sys, time, statistics, threading, salt.client
client = salt.client.LocalClient(c_path=sys.argv[1] + "/conf/master")
times = []
for _ in range(20):
    start = time.monotonic(); assert client.cmd("web1", "test.ping") == {"web1": True}; times.append(time.monotonic() - start)
print("one", 1 / statistics.median(times))
def run():
    mine = salt.client.LocalClient(c_path=sys.argv[1] + "/conf/master")
    for _ in range(4): mine.cmd("web1", "test.ping", timeout=60)
start = time.monotonic(); threads = [threading.Thread(target=run) for _ in range(32)]
for t in threads: t.start()
for t in threads: t.join()
print("many", 128 / (time.monotonic() - start))
'''


FILL = '''
import sys
import salt.config, salt.returners.local_cache as cache
cache.__opts__ = salt.config.master_config(sys.argv[1] + "/conf/master")
for jid in sys.stdin.read().split():
    load = dict(jid=jid, fun="test.ping", arg=[], tgt="web1", tgt_type="glob", user="root", ret="")
    cache.prep_jid(passed_jid=jid)
    cache.save_load(jid, load, minions=["web1"])
    cache.returner(dict(jid=jid, id="web1", fun="test.ping", fun_args=[], success=True, retcode=0, **{"return": True}))
'''


RENDERER = '''
import json, statistics, sys, tempfile, time
import salt.config
from salt.utils.templates import render_jinja_tmpl
directory = sys.argv[1]
with open(directory + "/data.json") as file: data = json.load(file)
with open(directory + "/site/init.sls") as file: text = file.read()
with tempfile.TemporaryDirectory() as cachedir:
    options = salt.config.minion_config(None)
    options.update(file_client="local", file_roots={"base": [directory]}, cachedir=cachedir, id="web1")
    def get(path):
        value = data["pillar"]
        for step in path.split(":"): value = value[step]
        return value
    times = []
    for _ in range(30):
        context = dict(data, opts=options, saltenv="base", sls="site", salt={"pillar.get": get})
        start = time.monotonic(); render_jinja_tmpl(text, context); times.append(time.monotonic() - start)
print("salt_us", statistics.median(times) * 1e6)
'''


def row(what, value, aim, met):
    rows.append((what, value, aim, 'yes' if met else 'NO'))


def main():
    binary = sh('sh', '-c', 'find target -maxdepth 3 -type f -path "*release/halite" | head -n 1', cwd=ROOT).strip()
    if not binary:
        sys.exit('build it first: make build')
    directory = tempfile.mkdtemp(prefix='hb')
    sh(os.path.join(ROOT, binary), 'install', directory)
    ours = Fleet(directory, 13505)
    try:
        # First, as with Salt: what is measured below leaves tens of thousands of jobs, which would be listed too.
        cold = ours.cold(10)
        measured = dict(line.split() for line in sh(
            'cargo', 'bench', '--quiet', '--bench', 'jobs', '--', f'{ours.root}/run', 'web1', cwd=ROOT).splitlines()
            if len(line.split()) == 2)
        templates = {name: float(value) for name, value in (line.split() for line in sh(
            'cargo', 'bench', '--quiet', '--bench', 'templates', cwd=ROOT).splitlines() if len(line.split()) == 2)}
        call = best_of(20, *ours.command('salt-call', '--local', 'test.ping'))
        ping = best_of(20, *ours.command('salt', 'web1', 'test.ping'))
        thousand = best_of(10, *ours.thousand())
        effects = ours.effects(5)
        states = dict(line.split() for line in sh('cargo', 'bench', '--quiet', '--bench', 'states', cwd=ROOT).splitlines()
                      if len(line.split()) == 2)
        version = best_of(50, f'{directory}/salt', '--version')
        master, minion = ours.memory()
        file_time = ours.fetch()
        raw_time = raw_copy(f'{ours.root}/files/big', f'{ours.root}/raw')
    finally:
        ours.stop()
        shutil.rmtree(directory, ignore_errors=True)
    size = os.path.getsize(os.path.join(ROOT, binary)) / 1e6
    trips = float(measured['job_in_round_trips'])
    row('one job, in raw NNG round trips', f"{trips:.2f} ({measured['job_us']} us of {measured['raw_round_trip_us']} us)", 'at most 6', trips <= 6)
    row('100 MB, share of a raw copy over loopback', f'{raw_time / file_time * 100:.0f} % '
        f'({FILE_BYTES / 1e6 / file_time:.0f} of {FILE_BYTES / 1e6 / raw_time:.0f} MB/s)', '', True)
    row('salt --version', f'{version * 1e3:.1f} ms', 'under 3 ms', version < 0.003)
    shapes = ('chain', 'fan', 'sls')
    took = lambda shape, size: float(states[f'compile_{shape}_{size}_ms'])
    slowest = max(took(shape, 10000) for shape in shapes)
    row('10,000 states with requisites (chain, fan, sls)',
        ', '.join(f'{took(shape, 10000):.0f}' for shape in shapes) + ' ms', 'under 1 s', slowest < 1000)
    growth = [took(shape, 10000) / took(shape, 2500) for shape in shapes]
    row('  against 2,500 of them', ', '.join(f'{factor:.1f}' for factor in growth) + ' times', 'at most 6 times', max(growth) <= 6)
    in_bare = float(states['run_in_bare'])
    row('300 states cmd.run: /bin/true', f"{in_bare:.2f} of bare fork and exec ({states['run_300_ms']} of {states['bare_300_ms']} ms)",
        'at most 1.5', in_bare <= 1.5)
    bare_files = float(states['bare_files_1000_ms'])
    for what, took in zip(('made', 'as they should be'), effects):
        row(f'{FILES:,} file.managed, {what}, in a bare loop that writes them', f'{took * 1e3 / bare_files:.1f} ({took * 1e3:.0f} ms of {bare_files:.0f} ms)', '', True)
    row('size of the file', f'{size:.1f} MB', 'under 12 MB', size < 12)
    for what, name, aim in ('rendered', 'sls', 'at most 1'), ('read and rendered', 'sls_read', ''):
        mine, theirs = templates[f'{name}_us'], templates[f'{name.replace("sls", "minijinja")}_us']
        row(f'an SLS of 195 lines, {what}, in that of minijinja', f'{mine / theirs:.2f} ({mine:.0f} us of {theirs:.0f} us)', aim, not aim or mine <= theirs)
    loaded, events = templates['yaml_us'], templates['events_us']
    row('2,000 lines of YAML, in their bare events', f'{loaded / events:.2f} ({loaded:.0f} us of {events:.0f} us)', 'at most 2', loaded <= 2 * events)
    if not options.no_salt:
        renderer(templates['sls_read_us'])
        salt(measured, call, ping, thousand, cold, effects, file_time, master, minion)
    width = max(len(what) for what, *_ in rows)
    for what, value, aim, met in rows:
        print(f'{what:{width}}  {value:44}  {aim:16}  {met}')


def renderer(mine):
    install_salt()
    theirs = float(sh(f'{options.salt}/bin/python3', '-c', RENDERER, os.path.join(ROOT, 'benches/templates')).split()[-1])
    row("the same SLS, read and rendered, by Salt's renderer", f'{theirs / mine:.0f} times ({theirs / 1e3:.1f} ms)', 'at least 50', theirs >= 50 * mine)


def install_salt():
    if not os.path.exists(f'{options.salt}/bin/salt'):
        sh('python3', '-m', 'venv', options.salt)
        sh(f'{options.salt}/bin/pip', 'install', '-q', f'salt=={SALT_VERSION}')


def salt(measured, call, ping, thousand, cold, effects, file_time, master, minion):
    install_salt()
    theirs = Fleet(f'{options.salt}/bin', 13605)
    try:
        their_call = best_of(5, *theirs.command('salt-call', '--local', 'test.ping'))
        their_ping = best_of(5, *theirs.command('salt', 'web1', 'test.ping'))
        their_thousand = best_of(3, *theirs.thousand())
        their_cold = theirs.cold(3)
        their_effects = theirs.effects(1)
        rates = dict(line.split() for line in sh(f'{options.salt}/bin/python3', '-c', LOCAL_CLIENT, theirs.root).splitlines()
                     if line.startswith(('one ', 'many ')))
        their_master, their_minion = theirs.memory()
        their_file_time = theirs.fetch()
    finally:
        theirs.stop()

    def ratio(what, factor, aim, ours_text, theirs_text):
        row(what, f'{factor:.0f} times ({ours_text} against {theirs_text})', f'at least {aim}', factor >= aim)

    ms = lambda seconds: f'{seconds * 1e3:.1f} ms'
    ratio('salt-call --local test.ping', their_call / call, 100, ms(call), ms(their_call))
    ratio('salt web1 test.ping', their_ping / ping, 60, ms(ping), ms(their_ping))
    ratio('1,000 states rendered and compiled', their_thousand / thousand, 100, ms(thousand), ms(their_thousand))
    for what, mine, other in zip(('grains.items, cold', 'salt-run, cold', f'{JOBS:,} jobs in jobs.list_jobs'), cold, their_cold):
        ratio(what, other / mine, 20, ms(mine), ms(other))
    kinds = ((f'{FILES:,} file.managed, made', 50), ('  the same again', 50), (f'file.recurse of {DIRECTORY:,} files', 1),
             ('  the same again', 1), (f'pkg.installed of {PACKAGES} packages that are there', 1))
    for (what, aim), mine, other in zip(kinds, effects, their_effects):
        ratio(what, other / mine, aim, ms(mine), ms(other))
    ratio('a file of 100 MB, sealed and hash-checked', their_file_time / file_time, 4,
          f'{file_time:.2f} s', f'{their_file_time:.2f} s')
    one, many = float(measured['jobs_per_second']), float(measured['jobs_per_second_32'])
    ratio('jobs of one client, one by one', one / float(rates['one']), 50, f'{one:.0f}/s', f"{float(rates['one']):.1f}/s")
    ratio('jobs of one client, 32 in flight', many / float(rates['many']), 200, f'{many:.0f}/s', f"{float(rates['many']):.1f}/s")
    for what, mine, other in (('master', master, their_master), ('minion', minion, their_minion)):
        row(f'idle {what}, PSS', f'{mine / 1024:.1f} MiB of {other / 1024:.0f} MiB', 'at most a tenth', mine * 10 <= other)


main()
