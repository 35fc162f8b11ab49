"The order of the book, told by its folders: the parts, the pages in each, and where each page is published. Sidebar, front page, contents and the order of reading all come from here."
import json, os, re
from pathlib import Path
import house

# title: folder, what the part is for. The chapters lie in `nbs` itself
PARTS = {
    'Start': ('start', 'install it, read a first report, find the function that you want'),
    'Learn': ('learn', 'lessons, from what a hook is to reading the pictures of a training'),
    'With your framework': ('with', 'three lines for Transformers, Lightning, fastai and nine others, a picture, limits'),
    'Symptoms': ('symptoms', 'a page for each fault: its picture, its cause, its repair'),
    'Stories': ('tutorials', 'real models, looked into from beginning to end'),
    'How it is built': ('', 'a chapter for each module: the code, its reasons and its tests'),
    'Reference': ('reference', 'names by task, commands, thresholds, words, limits'),
    'Contributors': ('contributors', 'how to change something, and what holds the house together'),
}
# Pages that lie elsewhere than in their part's folder, as they are files of the repository too: the page's name, and what it is made from
ELSEWHERE = {'Reference': {'benchmarks.ipynb': None, 'reference/changelog.md': 'CHANGELOG.md'},
             'Contributors': {'contributors/contributing.md': 'CONTRIBUTING.md'}}

def read(f): return json.loads(Path(f).read_text(encoding='utf-8'))

# What `help(hookbook)` says of modules, in a cell of the front page that only it shows
MODULES = '#| export\nThe modules, by part', '#| export: true\nThe modules, by part', 'The modules, by part'   # as nbdev writes it, too

def list_modules(nb, lib):
    "Write the list of all modules into the front page, for the package's docstring"
    part = {}
    for mod,n in sorted(house.chapters(lib).items(), key=lambda o: o[1]): part.setdefault(f'{n:03}'[0], []).append(f'`hookbook.{mod}`')
    text = MODULES[0] + ' of the book; `hookbook.all.by_task` has the names that people type, by task:\n\n'
    text += '\n'.join(f'- {house.parts[d]}: {", ".join(mods)}' for d,mods in part.items())
    s = json.loads(nb.read_text(encoding='utf-8'))
    cell = next((c for c in s['cells'] if ''.join(c['source']).startswith(MODULES)), None)
    if cell is None:
        cell = dict(cell_type='markdown', id='a11m0d5', metadata={}, source='')
        s['cells'].insert(-1, cell)
    if ''.join(cell['source'])==text: return
    cell['source'] = text.splitlines(keepends=True)
    nb.write_text(json.dumps(s, ensure_ascii=False, indent=1)+'\n', encoding='utf-8')

def first_heading(f):
    "Title and description, from the heading that a notebook or a Markdown file begins with"
    s = f.read_text(encoding='utf-8')
    if f.suffix=='.ipynb': s = '\n\n'.join(''.join(c['source']) for c in json.loads(s)['cells'] if c['cell_type']=='markdown')
    m = re.search(r'^# (.+)(?:\n+> (.+))?', s, re.M)
    about = {'CHANGELOG.md': 'what has changed, for those who use it'}.get(f.name, '')
    return (m[1].strip(), (m[2] or about).strip()) if m else (f.stem, about)

def notebooks(nbs):
    "All notebooks of the book, as paths in `nbs`"
    found = (f.relative_to(nbs) for f in nbs.rglob('*.ipynb'))
    return sorted(o.as_posix() for o in found if not any(p[0] in '._' for p in o.parts))

def page_of(nb):
    "Where notebook `nb` is published: the numbers before its name are its place in the book, and not in its address"
    f = Path(nb)
    return f.with_name(re.sub(r'^\d+[a-zA-Z0-9]*_', '', f.name.lower())).with_suffix('.html').as_posix()

def parts(nbs):
    "Each part: its title, its own page if it has one, and its sections as `(title, pages)`; where a part is not divided its one section has no title"
    found = notebooks(nbs)
    for title,(folder,_) in PARTS.items():
        own = f'{folder}/index.ipynb' if folder else 'chapters.ipynb'
        if own not in found: own = None
        if folder: sections = [('', [o for o in found if o.startswith(folder+'/')] + [*ELSEWHERE.get(title, {})])]
        else: sections = [(f'{d} {name}', [o for o in found if re.match(rf'{d}\d\d_', o)]) for d,name in house.parts.items()]
        sections = [(t, [o for o in pages if o!=own]) for t,pages in sections if pages]
        if sections: yield title,own,sections

def ordered(nbs):
    "All pages, in the order in which one reads them"
    yield 'index.ipynb'
    for _,own,sections in parts(nbs):
        if own: yield own
        for _,pages in sections: yield from pages

def left_out(nbs):
    "Notebooks that are in no part"
    return sorted({*notebooks(nbs)} - {*ordered(nbs)})

def entry(nbs, page):
    "What the sidebar calls a page: chapters by their number too, as the text cites them"
    m = re.match(r'(\d\d\d)_', page)
    return f'{m[1]} {first_heading(nbs/page)[0]}' if m else None

def sidebar(nbs):
    "`sidebar.yml`: the parts, folded but for the one that is read"
    lines = ['website:', '  sidebar:', '    collapse-level: 1', '    contents:', '      - index.ipynb']
    def listed(pages, indent):
        for o in pages:
            text = entry(nbs, o)
            yield ' '*indent + (f'- {{text: {json.dumps(text)}, href: {o}}}' if text else f'- {o}')
    for title,own,sections in parts(nbs):
        lines += [f'      - section: {title}'] + ([f'        href: {own}'] if own else []) + ['        contents:']
        for name,pages in sections:
            if name: lines += [f'          - section: {json.dumps(name)}', '            contents:', *listed(pages, 14)]
            else: lines += listed(pages, 10)
    return '\n'.join(lines)+'\n'

# ---- lists of pages, for pages that show the way

def linked(nbs, page):
    text = entry(nbs, page) or first_heading(source(nbs, page))[0]
    return f'[{text}]({page})'

def source(nbs, page):
    "The file that `page` is made from"
    made = {p: src for o in ELSEWHERE.values() for p,src in o.items() if src}
    return nbs.parent/made[page] if page in made else nbs/page

def rows(nbs, pages): return [f'| {linked(nbs, o)} | {first_heading(source(nbs, o))[1]} |' for o in pages]

def contents(nbs, part=''):
    "Markdown for the place that `<!-- pages: PART -->` marks: all pages of that part, or all parts; links are paths in `nbs`"
    if not part:
        names = {title: own or sections[0][1][0] for title,own,sections in parts(nbs)}
        return '\n'.join(['| part | what is in it |', '|---|---|'] + [f'| [{t}]({page}) | {PARTS[t][1]} |' for t,page in names.items()])
    sections = {title: s for title,_,s in parts(nbs)}[part]
    tables = []
    for name,pages in sections:
        if name: tables.append(f'## {name}')
        tables.append('\n'.join(['| page | what it is about |', '|---|---|', *rows(nbs, pages)]))
    return '\n\n'.join(tables)

def filled(nbs, here, s):
    "Markdown `s` of a page in folder `here`, with the lists of pages that it asks for"
    def near(m): return f']({os.path.relpath(m[1], here or ".")})'
    def fill(m): return re.sub(r'\]\(([^()\s]+)\)', near, contents(nbs, m[1] or ''))
    return re.sub(r'<!-- pages(?:: (.+?))? -->', fill, s)
