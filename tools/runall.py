"Run notebooks as Jupyter's 'Run all' does, each in a process and an empty folder of its own: `python tools/runall.py 'hook|capture'`. With `--pasted`, only the code that a page shows. What is imported is the installed package, not this folder."
import json, os, re, subprocess, sys, tempfile
from pathlib import Path

root = Path(__file__).resolve().parents[1]

RUNNER = '''
import json, sys
from IPython.core.interactiveshell import InteractiveShell
import matplotlib; matplotlib.use('agg')
shell = InteractiveShell.instance()
for name,code in json.load(open(sys.argv[1])):
    res = shell.run_cell(code)
    error = res.error_before_exec or res.error_in_exec
    if error is not None: sys.exit(f'cell {name}: {type(error).__name__}: {error}')
'''

def directives(s): return re.findall(r'^#\|\s*(\w+)', s, re.M)

def cells(nb, pasted=False):
    "Name and code of the cells that run"
    for c in json.loads(Path(nb).read_text(encoding='utf-8'))['cells']:
        s = ''.join(c['source'])
        if c['cell_type']!='code' or 'notest' in directives(s) or re.search(r'^#\|\s*eval:\s*false', s, re.M): continue
        if not (pasted and 'hide' in directives(s)): yield c['id'],s

def run_all(nb, py=sys.executable, pasted=False, timeout=900):
    "Why `nb` doesn't run from its first cell to its last; empty if it does"
    with tempfile.TemporaryDirectory() as d:
        todo,runner,here = Path(d)/'cells.json',Path(d)/'runner.py',Path(d)/'empty'
        todo.write_text(json.dumps(list(cells(nb, pasted))))
        runner.write_text(RUNNER)
        here.mkdir()
        env = {**os.environ, 'OMP_NUM_THREADS': '1', 'IPYTHONDIR': d, 'PYTHONNOUSERSITE': '1'}
        p = subprocess.run([py, '-P', runner, todo], cwd=here, env=env, capture_output=True, text=True, timeout=timeout)
    return '' if p.returncode==0 else (p.stderr.strip().splitlines() or [f'exit code {p.returncode}'])[-1]

def main():
    pasted = '--pasted' in sys.argv
    words = [o for o in sys.argv[1:] if not o.startswith('--')]
    found = [f for f in sorted((root/'nbs').rglob('*.ipynb')) if not any(o[0] in '._' for o in f.relative_to(root/'nbs').parts)]
    found = [f for f in found if not words or re.search(words[0], f.relative_to(root/'nbs').as_posix())]
    failed = 0
    for f in found:
        why = run_all(f, pasted=pasted)
        failed += bool(why)
        print(f"{'FAIL' if why else 'ok  '} {f.relative_to(root)}{': '+why if why else ''}", flush=True)
    print(f'{len(found)-failed} passed, {failed} failed')
    sys.exit(bool(failed))

if __name__=='__main__': main()
