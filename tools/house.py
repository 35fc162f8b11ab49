"""What holds the house together: imports run down, private names stay in their part and out of lessons, chapters can be read in a sitting. `python tools/house.py` prints the chapters and whatever does not hold.

The minutes of a chapter: prose at 200 words, exported code at 12 lines, lessons at 25 lines a minute; what comes under a heading that begins with 'Edges' is folded away, and does not count."""
import ast, json, re, sys
from collections import Counter
from pathlib import Path

root = Path(__file__).resolve().parents[1]
parts = {'0': 'The ground', '1': 'Hooks', '2': 'Capture and edit', '3': 'Summary', '4': 'Recording', '5': 'Meaning',
         '6': 'Pictures and pages', '7': 'Training loop and classic API', '8': 'Commands', '9': 'Other libraries and the whole'}
MINUTES = 35   # a sitting
STRETCH = 80   # exported lines in a row that nothing shows or tests: about two screens

# ---- imports and names

def chapters(lib=root/'hookbook'):
    "From each module's name to the number of its notebook"
    res = {}
    for f in sorted(lib.rglob('*.py')):
        m = re.search(r'File to edit: (?:\.\./)+nbs/(\d\d\d)_\w+\.ipynb', f.read_text(encoding='utf-8'))
        if m: res[name_of(f, lib)] = int(m[1])
    return res

def name_of(f, lib): return '.'.join(f.relative_to(lib).with_suffix('').parts)

def imported(tree, folder=''):
    "Each import of ours in `tree`, of a module in the subpackage `folder`: line, module, and the name taken from it"
    for o in ast.walk(tree):
        if isinstance(o, ast.ImportFrom) and (o.level or (o.module or '').split('.')[0]=='hookbook'):
            mod = (o.module or '').removeprefix('hookbook').strip('.')
            if folder and o.level==1: mod = f'{folder}.{mod}'.strip('.')
            for a in o.names: yield (o.lineno, mod, a.name) if mod else (o.lineno, a.name, '')
        elif isinstance(o, ast.Import):
            for a in o.names:
                if a.name.startswith('hookbook.'): yield o.lineno, a.name.removeprefix('hookbook.'), ''
        elif isinstance(o, ast.Call) and ast.unparse(o.func).endswith('import_module') and o.args and isinstance(o.args[0], ast.Constant):
            if str(o.args[0].value).startswith('hookbook.'): yield o.lineno, o.args[0].value.removeprefix('hookbook.'), ''

def private(name): return name.startswith('_') and not name.startswith('__')

def taken(tree, mods, folder=''):
    "Private names that `tree` takes from a module of ours: line, module, name"
    ours = {name or mod: mod for _,mod,name in imported(tree, folder) if not name and mod in mods}
    for line,mod,name in imported(tree, folder):
        if private(name): yield line,mod,name
    for o in ast.walk(tree):
        if isinstance(o, ast.Attribute) and isinstance(o.value, ast.Name) and o.value.id in ours and private(o.attr): yield o.lineno,ours[o.value.id],o.attr

def run_down(lib=root/'hookbook'):
    "What is wrong with the imports, one line each; an import from a higher chapter is also the only way to make a circle"
    num = chapters(lib)
    for f in sorted(lib.rglob('*.py')):
        if f.stem in ('_modidx', '__init__', '__main__'): continue
        me,folder = name_of(f, lib),name_of(f, lib).rpartition('.')[0]
        if me not in num:
            yield f'{f.name} comes from no numbered chapter: give its notebook a number, or remove the module'
            continue
        tree = ast.parse(f.read_text(encoding='utf-8'))
        for line,mod,_ in imported(tree, folder):
            if mod in num and num[mod]>=num[me]: yield f'{f.name}:{line} imports {mod}, and chapter {num[me]:03} may import from lower ones only, not from {num[mod]:03}'
        for line,mod,name in taken(tree, num, folder):
            if mod in num and num[mod]//100!=num[me]//100: yield f'{f.name}:{line} takes the private name {mod}.{name} from another part: give it a public name, or do without'

def one_number(nbs=root/'nbs'):
    "Numbers that two chapters have"
    for n,k in Counter(f.name[:3] for f in nbs.glob('[0-9][0-9][0-9]_*.ipynb')).items():
        if k>1: yield f'{k} chapters have the number {n}'

# ---- how long a chapter is

def code_lines(s): return [l for l in s.split('\n') if l.strip() and not l.lstrip().startswith('#')]

def length(nb):
    "Minutes of the main line, minutes of the edges, and the longest stretch of exported lines before a lesson"
    minutes,folded,stretch,longest = [0.,0.],False,0,0
    for c in json.loads(nb.read_text(encoding='utf-8'))['cells']:
        s = ''.join(c['source'])
        if c['cell_type']=='markdown':
            if s.startswith('## '): folded = s[3:].strip().lower().startswith('edges')
            minutes[folded] += len(s.split())/200
        elif re.match(r'\s*#\s*\|\s*export', s):
            stretch += len(code_lines(s))
            longest = max(longest, stretch)
            minutes[folded] += len(code_lines(s))/12
        elif '#| hide' not in s and '#| code-fold' not in s and code_lines(s):
            stretch = 0
            minutes[folded] += len(code_lines(s))/25
    return *minutes,longest

def readable(nbs=root/'nbs'):
    "Chapters that take too long, one line each"
    for f in sorted(nbs.rglob('*.ipynb')):
        if any(o[0] in '._' for o in f.relative_to(nbs).parts): continue
        main,_,longest = length(f)
        if round(main)>MINUTES: yield f'{f.name} takes {main:.0f} minutes, and a sitting has {MINUTES}: cut it, or move what is rare under a heading "Edges"'
        if longest>STRETCH: yield f'{f.name} has {longest} exported lines in a row without a lesson, and at most {STRETCH} can be followed'

# ---- private names in lessons

# what Python and PyTorch give no other name, and say how to use
DOCUMENTED = {'_asdict', '_replace', '_fields', '_make', '_exit', '_getframe', '_make_wrapper_subclass', '_assert'}
OPERATORS = re.compile(r'(^|\.)(aten|ops(\.\w+)?|prims)$')   # operators are called what PyTorch calls them: `aten._fft_c2c`

def names_used(tree, is_folded=False):
    "Names and attributes in `tree`, and what it imports; without operators, what it defines itself and, in a folded cell, what is PyTorch's"
    own = {o.name for o in ast.walk(tree) if isinstance(o, (ast.FunctionDef, ast.ClassDef))}
    for o in ast.walk(tree):
        of = ast.unparse(o.value) if isinstance(o, ast.Attribute) else ''
        if of and not OPERATORS.search(of) and not (is_folded and of.startswith('torch')): name = o.attr
        elif isinstance(o, ast.Name): name = o.id
        else: name = ''
        names = [a.name for a in o.names] if isinstance(o, ast.ImportFrom) else [name]
        yield from (n for n in names if n not in own)

def is_private(name): return re.match(r'_[A-Za-z]', name) and not name.startswith(('_repr_', '_foreach_')) and name not in DOCUMENTED

def lessons(nb):
    "Id and code of each cell on the main line that a reader sees, and whether it is folded"
    edges = False
    for c in json.loads(nb.read_text(encoding='utf-8'))['cells']:
        s = ''.join(c['source'])
        if c['cell_type']=='markdown' and s.startswith('## '): edges = s[3:].strip().lower().startswith('edges')
        if c['cell_type']!='code' or edges or re.search(r'^#\|\s*(export|exports|exporti|hide|default_exp)\b', s, re.M): continue
        yield c['id'], re.sub(r'^[%!].*$', '', s, flags=re.M), '#| code-fold' in s

def private_in(nb, ours):
    "Private names in lessons of `nb`; in a folded cell only `ours`, since PyTorch keeps some things under no other name"
    for i,code,is_folded in lessons(nb):
        try: tree = ast.parse(code)
        except SyntaxError: continue
        for n in dict.fromkeys(names_used(tree, is_folded)):
            if is_private(n) and (n in ours or not is_folded): yield i,n

def ours_private(lib=root/'hookbook'):
    "Private functions, classes and methods of the package"
    trees = [ast.parse(f.read_text(encoding='utf-8')) for f in lib.rglob('*.py')]
    return {o.name for t in trees for o in ast.walk(t) if isinstance(o, (ast.FunctionDef, ast.ClassDef)) and private(o.name)}

def said_in_public(nbs=root/'nbs'):
    "Private names that lessons on the main line show, one line each"
    ours = ours_private()
    for f in sorted(nbs.rglob('*.ipynb')):
        if any(o[0] in '._' for o in f.relative_to(nbs).parts): continue
        for i,n in private_in(f, ours):
            yield f'{f.name}, cell {i} shows the private name {n}: give it a public one, assert through a public function, or move the cell under "## Edges"'

def main():
    for f in sorted((root/'nbs').glob('[0-9][0-9][0-9]_*.ipynb')):
        a,b,longest = length(f)
        print(f'{f.name:30} {a:5.0f} minutes {b:5.0f} folded {longest:5} lines without a lesson at most')
    bad = [*one_number(), *run_down(), *readable(), *said_in_public()]
    for o in bad: print('wrong:', o)
    sys.exit(bool(bad))

if __name__=='__main__': main()
