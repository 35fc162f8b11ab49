"Entries of the reference: a signature that wraps, a row for each parameter, the errors a caller may meet; and links from names in the text"
import ast, builtins, inspect, json, re, textwrap
from functools import cached_property
from importlib import import_module
from fastcore.docments import docments, qual_name
from nbdev.doclinks import NbdevLookup, _build_lookup_table, _lineno
import house

WIDTH = 78   # columns of a signature: what fits beside the sidebar on a screen of 1300 pixels

def said(o):
    "A type as people write it: `nn.Module` and `Tensor`, not where they are defined"
    s = o if isinstance(o, str) else getattr(o, '__qualname__', '') if isinstance(o, type) and not getattr(o, '__args__', None) else str(o)
    if isinstance(o, type) and o.__module__.startswith('torch.nn.modules'): s = f'nn.{s}'
    if s=='dtype': s = 'torch.dtype'
    s = s.replace('torch.nn.modules.module.Module', 'nn.Module').replace('NoneType', 'None')
    if s.startswith('torch.'): return s.replace('torch._tensor.', '').replace('torch.Tensor', 'Tensor')
    return re.sub(r'\b(?:[a-z_]\w*\.)+(?=[A-Z])', lambda m: m[0] if m[0]=='nn.' else '', s)

def shown_default(v):
    if v is inspect._empty: return ''
    if inspect.isfunction(v) or inspect.isclass(v): return getattr(v, '__qualname__', str(v))
    s = repr(v)
    if m := re.match(r'<(?:function|built-in method|built-in function) (\S+?)(?: at .*)?>', s): return m[1]
    s = re.sub(r' at 0x[0-9a-f]+', '', s)
    return s if len(s)<50 else '…'

def unwrapped(o):
    while isinstance(o, (property, cached_property, staticmethod, classmethod)): o = o.fget if isinstance(o, property) else o.func if isinstance(o, cached_property) else o.__func__
    return inspect.unwrap(o) if callable(o) and not isinstance(o, type) else o

def parameters(sym):
    "Of what is called: those that a caller gives"
    try: ps = [*inspect.signature(sym).parameters.values()]
    except (TypeError, ValueError): return []
    if isinstance(sym, type) and [str(p) for p in ps]==['*args','**kwargs']: return []   # it has no `__init__` of its own
    return [p for i,p in enumerate(ps) if not (i==0 and p.name in ('self','cls'))]

def annotated(p):
    "Parameter `p` with type and default, and no type where nobody gave one"
    star = {p.VAR_POSITIONAL: '*', p.VAR_KEYWORD: '**'}.get(p.kind, '')
    anno = '' if p.annotation is inspect._empty else f': {said(p.annotation)}'
    default = shown_default(p.default)
    return f'{star}{p.name}{anno}' + (f'{" = " if anno else "="}{default}' if default else '')

def signature(sym, name, kind):
    "The call, on one line where it fits, else with a line for each parameter"
    ps = parameters(sym)
    parts,last = [],None
    for p in ps:
        if p.kind==p.KEYWORD_ONLY and last not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL): parts.append('*')
        parts.append(annotated(p))
        last = p.kind
    ret = getattr(sym, '__annotations__', {}).get('return', None) if not isinstance(sym, type) else None
    tail = f' -> {said(ret)}' if ret is not None else ''
    if kind=='property': return f'{name}{tail}'
    head = {'class': 'class ', 'coroutine': 'async '}.get(kind, '')
    one = f'{head}{name}({", ".join(parts)}){tail}'
    if len(one)<=WIDTH: return one
    return f'{head}{name}(\n' + ''.join(f'    {o},\n' for o in parts) + f'){tail}'

# ---- errors

def tree_of(f):
    try: return ast.parse(textwrap.dedent(inspect.getsource(f)))
    except (OSError, TypeError, SyntaxError, IndentationError): return None

def words(e):
    "What a message says, with … for what is filled in"
    if isinstance(e, ast.Constant) and isinstance(e.value, str): return e.value
    if isinstance(e, ast.JoinedStr): return ''.join(o.value if isinstance(o, ast.Constant) else '…' for o in e.values)
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add): return words(e.left)+words(e.right)
    return '…'

def raised(f, depth=2, seen=None):
    "Errors that `f` raises itself, or through a helper of ours: kind and message"
    seen = seen if seen is not None else set()
    f = unwrapped(f)
    if isinstance(f, type): f = f.__dict__.get('__init__')
    if f is None or f in seen or not inspect.isfunction(f) or not f.__module__.startswith('hookbook'): return
    seen.add(f)
    tree = tree_of(f)
    if tree is None: return
    for o in ast.walk(tree):
        if isinstance(o, ast.Raise) and isinstance(o.exc, ast.Call):
            kind = ast.unparse(o.exc.func)
            if kind[:1].isupper() and len(kind)<30: yield kind,words(o.exc.args[0]) if o.exc.args else ''
        if depth and isinstance(o, ast.Call) and isinstance(o.func, ast.Name) and o.func.id.startswith('_'):
            inner = f.__globals__.get(o.func.id)
            if inspect.isfunction(inner): yield from raised(inner, depth-1, seen)

# ---- the entry

NOT_TWICE = {'hookbook/pretend.py'}   # it registers a device, which a process can do once, and the notebook's cells do it

def in_package(name, sym):
    "What the package calls `name`, and its file and address there. Several modules may: then the one that says of itself what `sym` says"
    found = []
    for full,place in NbdevLookup().syms.items():
        if not isinstance(place, tuple) or place[1] in NOT_TWICE or full!=f"{(mod := place[1].removesuffix('.py').replace('/', '.'))}.{name}": continue
        o = import_module(mod)
        for part in name.split('.'): o = inspect.getattr_static(o, part, None)
        if o is not None: found.append((o, place[1:]))
    same = [o for o in found if inspect.getdoc(unwrapped(o[0]))==inspect.getdoc(unwrapped(sym))]
    return (same or found or [(None, None)])[0]

def cell(s): return ' '.join(str(s).split()).replace('|', '\\|')

def code(s): return f'`{s}`' if s and '`' not in s else s

class Entry:
    "What `show_doc` shows of `sym`"
    def __init__(self, sym, name=None, title_level=3):
        self.nm,self.level = name or qual_name(sym if callable(sym) else unwrapped(sym)),title_level
        ours,self.place = in_package(self.nm, sym)   # while the site is built, `sym` comes from the cells of a notebook
        if ours is not None: sym = ours
        self.sym = unwrapped(sym)
        kinds = {'property': isinstance(sym, (property, cached_property)), 'class': isinstance(self.sym, type), 'coroutine': inspect.iscoroutinefunction(self.sym)}
        self.kind = next((k for k,is_it in kinds.items() if is_it), 'function')

    def rows(self):
        ps = parameters(self.sym)
        notes = docments(self.sym, full=True, returns=True) if callable(self.sym) else {}
        for p in ps:
            note = (notes.get(p.name) or {}).get('docment') or ''
            star = {p.VAR_POSITIONAL: '*', p.VAR_KEYWORD: '**'}.get(p.kind, '')
            if note: yield f'`{star}{p.name}`',cell(note)
        back = (notes.get('return') or {}).get('docment')
        if back: yield '*gives*',cell(back)

    def errors(self):
        found = {}
        for kind,text in raised(self.sym):
            if text.strip('… ') : found.setdefault(kind, []).append(cell(text))
        for kind,texts in found.items(): yield f'*raises*',f'`{kind}`: '+'; '.join(dict.fromkeys(texts[:3])).replace('`', '')

    def _repr_markdown_(self):
        res = ['---']
        if self.place: res.append(f'[source]({self.place[1]}#L{_lineno(self.nm, self.place[0])}){{.entry-source}}')
        res.append(f'{"#"*self.level} {self.nm}')
        res.append(f'```python\n{signature(self.sym, self.nm, self.kind)}\n```')
        doc = inspect.cleandoc(str(self.sym.__doc__ or '')) if isinstance(getattr(self.sym, '__doc__', ''), str) else ''
        if self.kind=='property': res.append('*A property.*' + (f' {doc}' if doc else ''))
        elif doc: res.append(doc)
        rows = [*self.rows(), *self.errors()] if self.kind!='property' else []
        if rows: res.append('\n'.join(['| parameter | what it is |', '|---|---|'] + [f'| {a} | {b} |' for a,b in rows]))
        return '\n\n'.join(res)

    def __repr__(self): return self.nm

# ---- links from the text

def public_names(lib, modidx):
    "Where each public name has its entry: name to page and anchor"
    public = {}
    for mod in modidx['syms']:
        m = re.search(r'^__all__ = (\[.*?\])', (lib.parent/(mod.replace('.', '/')+'.py')).read_text(encoding='utf-8'), re.M|re.S)
        public[mod] = {*ast.literal_eval(m[1])} if m else set()
    classes = {o for names in public.values() for o in names if o[:1].isupper()}   # a later chapter may give one a method
    for mod,syms in modidx['syms'].items():
        for full,(page,_) in syms.items():
            name = full.removeprefix(mod+'.')
            first,_,rest = name.partition('.')
            if (first in public[mod] or rest and first in classes) and not any(o[0]=='_' for o in name.split('.')): yield name,page

def module_of(f):
    "Number of the chapter that writes module `f`, and what that says of itself"
    s = f.read_text(encoding='utf-8')
    number = re.search(r'File to edit: (?:\.\./)+nbs/(\d\d\d)_', s)
    return (number[1] if number else ''),(ast.get_docstring(ast.parse(s)) or '').split('\n')[0]

def first_lines(f):
    "The first line of what each function and class of module `f` says of itself"
    for o in ast.parse(f.read_text(encoding='utf-8')).body:
        if isinstance(o, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): yield o.name,(ast.get_docstring(o) or '').split('\n')[0]

def all_names(lib, modidx):
    "A table of all public functions and classes, by module, in the order of the chapters"
    found = {}
    for name,page in public_names(lib, modidx):
        if '.' not in name: found.setdefault(page.partition('#')[0], {})[name] = page
    mods = {page: lib.parent/(mod.replace('.', '/')+'.py') for mod,syms in modidx['syms'].items() for page in {p.partition('#')[0] for p,_ in syms.values()}}
    part,res = '',[]
    for page,f in sorted(mods.items(), key=lambda o: module_of(o[1])[0] or '999'):
        number,about = module_of(f)
        says,names = dict(first_lines(f)),found.get(page)
        if not names: continue
        if number[:1]!=part:
            part = number[:1]
            res.append(f'## {part} {house.parts[part]}')
        mod = '.'.join(f.relative_to(lib.parent).with_suffix('').parts)
        rows = [f'| [`{n}`]({to}) | {cell(says.get(n, ""))} |' for n,to in sorted(names.items(), key=lambda o: o[0].lower())]
        res.append('\n'.join([f'### {mod}', '', about, '', '| name | what it does |', '|---|---|', *rows]))
    return '\n\n'.join(res)

def plain_words(lib):
    "Words that are parameters or attributes too, so that in the text they hardly ever mean the function of that name"
    res = set()
    for f in lib.rglob('*.py'):
        for o in ast.walk(ast.parse(f.read_text(encoding='utf-8'))):
            if isinstance(o, ast.arg): res.add(o.arg)
            elif isinstance(o, ast.Attribute) and isinstance(o.ctx, ast.Store): res.add(o.attr)
            elif isinstance(o, ast.keyword) and o.arg: res.add(o.arg)
    return res

ALWAYS = {'record', 'capture', 'edit', 'summary', 'health', 'watch', 'find_nan'}   # what people type first

class Names:
    "Links for names in the text, `[`name`](page)`: ours, PyTorch's and Python's, where there is no doubt which is meant"
    def __init__(self, lib, modidx, base):
        words,where = plain_words(lib),{}
        for name,page in public_names(lib, modidx): where.setdefault(name, set()).add(page)
        # callbacks for other libraries have the names of those here, which are meant where none is named
        adapters = {page for mod,syms in modidx['syms'].items() if '.integrations.' in mod for page,_ in syms.values()}
        where = {n: p-adapters or p for n,p in where.items()}
        self.all = {n: base+next(iter(p)) for n,p in where.items() if len(p)==1}
        self.ours = {n: p for n,p in self.all.items() if n in ALWAYS or '.' in n or n not in words}
        entries,_ = _build_lookup_table()
        theirs = {k: v for o in ('nbdev_pytorch','nbdev_stdlib') if o in entries for syms in entries[o]['syms'].values() for k,v in syms.items()}
        self.theirs = {k: v for k,v in theirs.items() if k.startswith('torch.')}
        for short,full in (('nn.','torch.nn.'), ('F.','torch.nn.functional.'), ('optim.','torch.optim.')):
            self.theirs |= {short+k.removeprefix(full): v for k,v in theirs.items() if k.startswith(full)}
        errors = [k for k,o in vars(builtins).items() if isinstance(o, type) and issubclass(o, BaseException)]
        self.theirs |= {k: f'https://docs.python.org/3/library/exceptions.html#{k}' for k in errors}
        self.theirs |= {k: v for k,v in theirs.items() if '.' in k and not k.startswith(('torch','builtins.'))}

    def __getitem__(self, name): return self.ours.get(name) or self.theirs.get(name)

    def linked(self, md, names_only=False):
        "Markdown `md` with links, but for names in code, headings and links; on a page of names, words are names as well"
        def link(m):
            name = m[1].removesuffix('()')
            to = self[name] or (self.all.get(name) if names_only else None)
            return m[0] if to is None else f'[`{m[1]}`]({to})'
        res,fence = [],False
        for l in md.split('\n'):
            if l.startswith('```'): fence = not fence
            elif not fence and not l.startswith(('    ','#')): l = re.sub(r'(?<![\[`\w])`([A-Za-z_][\w.]*(?:\(\))?)`(?!\]|`)', link, l)
            res.append(l)
        return '\n'.join(res)

# ---- an example for each name

def lesson(c):
    "The code of a cell that a reader sees, without its directives; nothing for any other cell"
    s = ''.join(c['source'])
    if c['cell_type']!='code' or re.search(r'^#\|\s*(export|exports|exporti|hide|default_exp|include: *false|echo: *false)', s, re.M): return ''
    return re.sub(r'^#\|.*\n?', '', s, flags=re.M).strip()

def used(code):
    "Names that `code` calls, and attributes that it asks for"
    try: tree = ast.parse(code)
    except SyntaxError: return
    yield from named(tree)

def named(tree):
    for o in ast.walk(tree):
        if isinstance(o, ast.Attribute): yield f'.{o.attr}'
        elif isinstance(o, ast.Name): yield o.id
        elif isinstance(o, ast.Constant) and isinstance(o.value, str) and len(o.value)<40: yield repr(o.value)   # a rule is asked for by its name

class Examples:
    "Where each name is used in a lesson: the shortest of the cells that do, in its own chapter if there is one"
    def __init__(self, nbs, notebooks, lib):
        self.found,self.inside,self.made_by = {},{},{}   # cells by name; statements of the package; what gives an object of a class, and the name of a rule
        for f in sorted(lib.rglob('*.py')):
            if f.stem[0]!='_': self.inside_of(f, lib)
        for nb in notebooks:
            for c in json.loads((nbs/nb).read_text(encoding='utf-8'))['cells']:
                if code := lesson(c):
                    for name in set(used(code)): self.found.setdefault(name, []).append((nb, code))

    def inside_of(self, f, lib):
        "Statements of the package itself, for names that no lesson needs"
        text = f.read_text(encoding='utf-8')
        lines,kinds = text.splitlines(),(ast.Assign, ast.Expr, ast.Return, ast.With, ast.For, ast.AnnAssign, ast.If, ast.Raise)
        for o in ast.walk(ast.parse(text)):
            if isinstance(o, kinds) and o.end_lineno-o.lineno<6:
                code = textwrap.dedent('\n'.join(lines[o.lineno-1:o.end_lineno]))
                for name in set(named(o)): self.inside.setdefault(name, []).append((f.relative_to(lib.parent).as_posix(), code))
            elif isinstance(o, ast.FunctionDef):
                for k in named(o.returns) if o.returns else (): self.made_by.setdefault(k, []).extend([f'.{o.name}', o.name])
                for d in o.decorator_list:
                    if ast.unparse(d).startswith("rule('"): self.made_by.setdefault(o.name, []).append(repr(d.args[0].value))
                    elif ast.unparse(d)=='command': self.made_by.setdefault(o.name, []).append(repr(o.name.removesuffix('_command')))

    def of(self, name, nb):
        "A lesson that uses it; or one that uses what makes it, its class or its rule; or a line of the package that needs it"
        cls,_,method = name.rpartition('.')
        here = [f'.{method}' if cls else name]
        for keys in (here, self.made_by.get(name, []), *([[cls], self.made_by.get(cls, [])] if cls else [])):
            uses = [o for k in keys for o in self.found.get(k, [])]
            fitting = [o for o in uses if len(o[1].splitlines())<=14] or uses[:1]
            if fitting: return min(fitting, key=lambda o: (o[0]!=nb, o[0].startswith('tutorials'), len(o[1])))
        return min(self.inside.get(here[0]) or self.inside.get(cls, []), key=lambda o: len(o[1]), default=None)

def entry_name(c):
    "The name that cell `c` is the entry of"
    for o in c.get('outputs', []):
        if m := re.search(r'^### (\S+)$', ''.join(o.get('data', {}).get('text/markdown', '')), re.M): return m[1].replace('\\', '')

def heading(c): return c['cell_type']=='markdown' and re.match(r'#+ ', ''.join(c['source']))

def with_examples(cells, nb, examples, lacking):
    "The cells, with an example below each entry that has none before the next heading; names without any go into `lacking`"
    cells = list(cells)
    for i,c in enumerate(cells):
        yield c
        name = entry_name(c)
        if not name: continue
        word = name.rpartition('.')[2]
        below = []
        for o in cells[i+1:]:
            if entry_name(o) or heading(o): break
            below.append(o)
        shown = [lesson(o) for o in below if 'code-fold: true' not in ''.join(o['source'])]
        if any(re.search(rf'\b{word}\b', o) for o in shown): continue
        found = examples.of(name, nb)
        if not found: lacking.append(name); continue
        where,code = found
        said = 'Example' if where==nb else f'{"Used in" if where.endswith(".py") else "Example, from"} {where.removesuffix(".ipynb")}'
        text = f'<details class="example"><summary>{said}</summary>\n\n```python\n{code}\n```\n\n</details>'
        yield dict(cell_type='markdown', id=f'{c["id"]}e', metadata={}, source=text)
