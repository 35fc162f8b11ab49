"All that CI checks. Each check runs whatever became of the others, on a copy where it changes files; the last line counts them and the notebooks' cells. Names of checks, such as `docs readme`, run just those."
import filecmp, json, os, re, shutil, subprocess, sys, tempfile, tomllib, venv
from configparser import ConfigParser
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from time import time
from zipfile import ZipFile
from packaging.requirements import Requirement

root = Path(__file__).resolve().parents[1]
py = sys.executable
made = shutil.ignore_patterns('.git', '.venv', 'venv', '_docs', '_proc', '_stage', 'build', 'dist', '*.egg-info', '__pycache__', '.ipynb_checkpoints', '.hypothesis')
checks = []
LEFT_OUT = [0,0,1]   # passed, failed, skipped: the counts of a check that had nothing to run with

def check(f):
    checks.append(f)
    return f

class Failed(Exception):
    "A check that failed, with the reason and the whole output of the command that failed it"
    def __init__(self, why, out=''):
        super().__init__(why)
        self.out = out

def run(*cmd, cwd=root, show=False, path=None, **env):
    "Output of `cmd`, which fails the check if it fails; `show` prints it as it comes, `path` is put before what Python looks through"
    env = {**os.environ, **env, 'PATH': f'{Path(py).parent}{os.pathsep}{os.environ["PATH"]}'}
    env.pop('PYTHONDONTWRITEBYTECODE', None)
    if path: env['PYTHONPATH'] = str(path)
    out = []
    with subprocess.Popen([str(o) for o in cmd], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace') as p:
        for line in p.stdout:
            out.append(line)
            if show: print('  | '+line.rstrip('\n'), flush=True)
    out = ''.join(out)
    if p.returncode: raise Failed(f"{' '.join(str(o) for o in cmd)}: exit code {p.returncode}" + ('' if show else '\n'+out[-4000:]), out)
    return out

def files(d):
    "The files of a tree, without those that tools make"
    res,todo = set(),[d]
    while todo:
        here = todo.pop()
        names = os.listdir(here)
        for n in set(names)-made(here, names):
            if (here/n).is_dir(): todo.append(here/n)
            else: res.add((here/n).relative_to(d).as_posix())
    return res

def same(a, b, what='', hint=''):
    "Fail unless the files whose path matches `what` are the same in `a` and `b`"
    fa,fb = ({o for o in files(d) if re.match(what, o)} for d in (a,b))
    bad = sorted((fa^fb) | {o for o in fa&fb if not filecmp.cmp(a/o, b/o, shallow=False)})
    if bad: raise Failed(', '.join(bad) + f' {"differs" if len(bad)==1 else "differ"}; {hint}')

def fresh(tmp, name): return Path(shutil.copytree(tmp/'clean', tmp/name))

def printed(end):
    "The command that README.md prints and that ends with `end`"
    found = re.findall(rf'^ *(pip install .*{re.escape(end)})$', (root/'README.md').read_text(encoding='utf-8'), re.M)
    if not found: raise Failed(f'README.md has no command line that ends with `{end}`')
    return found[0]

@check
def settings(tmp):
    "settings.ini and pyproject.toml agree"
    ini = ConfigParser(delimiters=['='])
    ini.read(root/'settings.ini', encoding='utf-8')
    s,t = ini['DEFAULT'],tomllib.loads((root/'pyproject.toml').read_text(encoding='utf-8'))
    p,nb = t['project'],t['tool']['nbdev']
    both = dict(name=(s['lib_name'], p['name']), description=(s['description'], p['description']), python=('>='+s['min_python'], p['requires-python']),
        repository=(s['git_url'], p['urls']['Repository']), docs=(s['doc_host']+s['doc_baseurl'], p['urls']['Documentation']),
        flags=(s['tst_flags'], nb['tst_flags']), sidebar=(s.getboolean('custom_sidebar'), nb['custom_sidebar']))
    bad = [f'{k}: settings.ini has {a!r}, pyproject.toml has {b!r}' for k,(a,b) in both.items() if a!=b]
    if bad: raise Failed('\n'.join(bad))

@check
def exported(tmp):
    "The package is what the notebooks export"
    d = fresh(tmp, 'exported')
    run('nbdev-export', cwd=d, path=d)
    same(tmp/'clean', d, hint='run nbdev-export')

@check
def house(tmp):
    "Imports run down, private names stay in their part, and each chapter can be read in a sitting"
    run(py, 'tools/house.py')

@check
def clean(tmp):
    "The notebooks hold no metadata that changes with each run"
    d = fresh(tmp, 'cleaned')
    run('nbdev-clean', cwd=d, path=d)
    same(tmp/'clean', d, hint='run nbdev-clean')

@check
def cuda(tmp):
    "The cells that the cuda flag adds are those marked, and no other needs a GPU"
    cells = {f"{f.relative_to(root/'nbs').as_posix()}:{c['id']}": ''.join(c['source']) for f in (root/'nbs').rglob('[!._]*.ipynb')
        for c in json.loads(f.read_text(encoding='utf-8'))['cells'] if c['cell_type']=='code'}
    marked = {o for o,s in cells.items() if re.search(r'^#\|\s*cuda\s*$', s, re.M)}
    loose = {o for o,s in cells.items() if re.search(r"""\.cuda\(|device\(?=?['"]cuda|\.to\(['"]cuda""", s)} - marked
    added = {*run(py, 'tools/nbtest.py', '--list', '--flags', 'cuda').split()}
    if not marked: raise Failed('no cell is marked')
    if marked^added: raise Failed(f'marked, or added by the flag, but not both: {sorted(marked^added)}')
    if loose: raise Failed(f'these need a GPU and are not marked: {sorted(loose)}')

@check
def docs(tmp):
    "The site builds: no dead link, no request elsewhere, an entry for each exported name"
    d = fresh(tmp, 'docs')
    run(py, 'tools/docs.py', cwd=d, path=d)

@check
def readme(tmp):
    "README.md and the order of the pages are what the docs build makes"
    if not (tmp/'docs/_docs/index.html').exists(): raise Failed('the docs were not built')
    same(tmp/'clean', tmp/'docs', hint='run python tools/docs.py')

@check
def paths(tmp):
    "No file names a folder of one person's machine"
    known = '|'.join(['home', 'root', 'Users', 'tmp', 'work', 'workspace', 'opt', 'mnt', *{re.escape(str(o)[1:]) for o in (Path.home(), root)}])
    pat = re.compile(rf'(?<![\w.:/+*~-])/(?:(?:{known})/[\w.-]+|(?:[\w.+-]+/){{2,}}site-packages)|\b[A-Z]:\\+Users')
    bad = []
    for o in sorted(files(tmp/'clean')):
        try: s = (tmp/'clean'/o).read_text(encoding='utf-8')
        except UnicodeDecodeError: continue
        bad += [f'{o}: {m[0]}' for m in pat.finditer(s)]
    if bad: raise Failed('\n'.join(bad))

@check
def light(tmp):
    "`import hookbook` takes at most 0.15 s beyond torch, and the ground floors load neither matplotlib nor IPython"
    def extra(mods):
        code = f"import sys,time,torch; t=time.perf_counter(); import {mods}; print(time.perf_counter()-t, *{{'matplotlib','IPython'}}&{{*sys.modules}})"
        secs,*heavy = run(py, '-c', code, cwd=tmp).split()
        if heavy: raise Failed(f"import {mods} also imports {' and '.join(heavy)}")
        return float(secs)
    secs = []
    while min(secs, default=1)>.15: # the best of several, since other work on the machine only ever adds
        if len(secs)==8: raise Failed(f'{min(secs):.2f} s at best of {len(secs)}')
        secs.append(extra('hookbook'))
    names = [f.stem.partition('_')[2] for f in (root/'nbs').glob('[0-4][0-9][0-9]_*.ipynb')]
    floors = sorted(o for o in names if (root/f'hookbook/{o}.py').exists())   # a chapter may add to others alone
    extra(', '.join(f'hookbook.{o}' for o in floors) or 'hookbook')

def needs(dist, seen):
    "Names of the distributions that `dist` needs, all the way down, without extras"
    for r in map(Requirement, dist.requires or []):
        if r.name in seen or r.marker and not r.marker.evaluate({'extra': ''}): continue
        seen.add(r.name)
        needs(metadata.distribution(r.name), seen)
    return seen

def link(names, site):
    "What belongs to the distributions `names`, from here to the folder `site`"
    for name in names:
        d = metadata.distribution(name)
        for top in {f.parts[0] for f in d.files or []} - {'..', '__pycache__'}:
            if not (site/top).exists(): (site/top).symlink_to(d.locate_file(top))

@check
def wheel(tmp):
    "The source archive tests itself, and the wheel made from it imports where only what it declares is installed"
    dist,home = tmp/'dist',tmp/'home'
    run(py, '-m', 'build', '--sdist', '--outdir', dist, fresh(tmp, 'built'))
    run(py, '-m', 'pip', 'wheel', '-q', '--no-deps', '-w', dist, *dist.glob('*.tar.gz'), cwd=tmp)
    whl = next(dist.glob('*.whl'))
    if find_spec('twine'): run(py, '-m', 'twine', 'check', '--strict', *sorted(dist.iterdir()), cwd=tmp)
    else: print('  | twine is not here: what a package index would say of it was not asked')
    shutil.unpack_archive(next(dist.glob('*.tar.gz')), tmp/'unpacked')
    run(py, 'tools/nbtest.py', '--file-re', '^(010|index)', cwd=(here:=next((tmp/'unpacked').iterdir())), path=here)
    lost = {o for o in files(tmp/'clean') if o.startswith('hookbook/')} - {*ZipFile(whl).namelist()}
    if lost: raise Failed(f"the wheel lacks {', '.join(sorted(lost))}")
    venv.create(home, symlinks=True)
    there = home/'bin/python'
    run(py, '-m', 'pip', '--python', there, 'install', '-q', '--no-deps', whl, cwd=tmp)
    site = next((home/'lib').glob('python*/site-packages'))
    link(needs(next(iter(metadata.distributions(name='hookbook', path=[str(site)]))), set()), site)
    code = """import hookbook, importlib, pkgutil, sys
assert hookbook.__file__.startswith(sys.prefix), hookbook.__file__
for o in pkgutil.walk_packages(hookbook.__path__, 'hookbook.'): importlib.import_module(o.name)"""
    run(there, '-c', code, cwd=tmp, PYTHONNOUSERSITE='1')
    run(home/'bin/hookbook', '--help', cwd=tmp, PYTHONNOUSERSITE='1')
    run_alone(there, site)

# What is run from the wheel alone: notebooks as they are, and what pages show, pasted; all of both with HOOKBOOK_FLAGS=slow
RUN_ALONE = '130_hook|290_capture|490_record'
PASTED = '^index|10_first_run|20_capture|50_findings|480_recording|590_health|dead_units'

def run_alone(there, site):
    "Run notebooks in empty folders, with nothing but the wheel and what shows a notebook"
    sys.path.insert(0, str(root/'tools'))
    from runall import run_all
    link(needs(metadata.distribution('ipykernel'), {'ipykernel'}), site)
    some = 'slow' not in os.environ.get('HOOKBOOK_FLAGS', '')
    faults = []
    for pasted,names in ((False,RUN_ALONE), (True,PASTED)):
        found = [f for f in sorted((root/'nbs').rglob('[0-9a-z]*.ipynb')) if not some or re.search(names, f.name)]
        faults += [f"{f.name}{', as its page shows it' if pasted else ''}: {why}" for f in found if (why := run_all(f, there, pasted))]
    if faults: raise Failed('with only the wheel installed: '+'; '.join(faults))

@check
def demo(tmp):
    "The first command of README.md, as printed, which draws pictures and writes reports"
    before = files(root)
    out = run('bash', '-c', printed('hookbook demo'), show=True)
    pictures = [root/o for o in re.findall(r'\S+\.png', out)]
    if not pictures or not pictures[-1].is_file(): raise Failed('it names no picture, or one that is not there')
    (tmp/'reports').mkdir()
    for o in files(root)-before:
        if o.endswith('.html'): shutil.copy2(root/o, tmp/'reports')
        (root/o).unlink()
    if pictures[-1].parent!=root and not any(pictures[-1].parent.iterdir()): pictures[-1].parent.rmdir()

@check
def browser(tmp):
    "The site in a browser: every page at two widths, light and dark, and the reports of `hookbook demo`"
    if not (tmp/'docs').exists(): docs(tmp)
    if not (tmp/'docs/_docs/index.html').exists(): raise Failed('the docs were not built')
    cmd = 'tools/browse.py', tmp/'docs/_docs', *sorted((tmp/'reports').glob('*.html'))
    try: out = run(py, *cmd, show=True)
    except Failed as e: out = e.out
    return counted(out, 'tools/browse.py')

@check
def notebooks(tmp):
    "The second command of README.md, as printed: every CPU cell of every notebook"
    try: out = run('bash', '-c', cmd:=printed('python tools/nbtest.py'), show=True)
    except Failed as e: out = e.out
    return counted(out, cmd)

def counted(out, cmd):
    "How many cells passed, failed and were skipped, as the output of `cmd` says"
    counts = re.findall(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', out, re.M)
    if not counts: raise Failed(f'{cmd}: it did not come to an end')
    return [int(o or 0) for o in counts[-1]]

@check
def integrations(tmp):
    "The callbacks for other libraries, in the trainings of these, where they are installed"
    there = ('lightning', 'transformers', 'accelerate', 'skorch', 'stable_baselines3', 'tensorboard', 'ignite', 'torch_geometric', 'diffusers', 'peft', 'trl')
    missing = [o for o in there if not find_spec(o)]
    if missing:
        print(f"  | skipped, since there is no {', '.join(missing)}: pip install -e '.[integrations]'")
        return LEFT_OUT
    cmd = 'tools/nbtest.py', '--flags', 'integrations', '--file-re', '^(9[2-8][0-9]_|with/)'
    try: out = run(py, *cmd, show=True)
    except Failed as e: out = e.out
    return counted(out, ' '.join(cmd))

@check
def untouched(tmp):
    "Nothing above changed the clone"
    same(tmp/'clean', root, hint='a check left this behind')

def main():
    if unknown := {*sys.argv[1:]} - {o.__name__ for o in checks}: sys.exit(f"no check is called {', '.join(sorted(unknown))}; there are: {', '.join(o.__name__ for o in checks)}")
    total = [0,0,0] # passed, failed, skipped
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp).resolve()
        shutil.copytree(root, tmp/'clean', ignore=made)
        for f in [o for o in checks if o.__name__ in sys.argv[1:] or not sys.argv[1:]]:
            start,why = time(),''
            print(f'{f.__name__}: {f.__doc__}', flush=True)
            try: n = f(tmp) or [1,0,0]
            except Exception as e: n,why = [0,1,0],f': {e}' if isinstance(e, Failed) else f': {type(e).__name__}: {e}'
            bad = n[1] or not n[0] and n!=LEFT_OUT
            print(f"{'FAIL' if bad else 'ok  '} {f.__name__} in {time()-start:.1f} s{why}", flush=True)
            total = [t+o for t,o in zip(total, [n[0], n[1] or int(bad), n[2]])]
    print('%d passed, %d failed' % tuple(total[:2]) + (f', {total[2]} skipped' if total[2] else ''))
    sys.exit(bool(total[1]))

if __name__=='__main__': main()
