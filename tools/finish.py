"Finish the pages that the renderer wrote: formulas, pictures, search, links; and say what is wrong with them"
import ast, base64, json, os, re, struct
import xml.etree.ElementTree as ET
from hashlib import sha256
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from latex2mathml.converter import convert
from book import read

here = Path(__file__).parent

def write(f, s): f.write_text(s, encoding='utf-8')

ET.register_namespace('', 'http://www.w3.org/1998/Math/MathML')

def formula(tex, display):
    "MathML, which browsers draw themselves; limits go under and over a sum that stands on its own line"
    tree = ET.fromstring(convert(tex, display=display))
    if display=='block':
        for o in tree.iter():
            kind = o.tag.rpartition('}')[2]
            if kind in ('msub','msup','msubsup') and o[0].text in ('∑','∏'): o.tag = o.tag.replace(kind, dict(msub='munder', msup='mover', msubsup='munderover')[kind])
    return ET.tostring(tree, encoding='unicode')

def mathml(s):
    "Page `s` with its formulas as MathML, in place of a script from elsewhere"
    def tex(m): return formula(unescape(m[2]), dict(inline='inline', display='block')[m[1]])
    s = re.sub(r'<span class="math (inline|display)">\\[(\[](.*?)\\[)\]]</span>', tex, s, flags=re.S)
    return re.sub(r'<(?:link|script)\b[^>]*katex[^>]*>(?:</script>)?', '', s)

def pictures_apart(s, f, site):
    "Page `s` of file `f` with its pictures in files of their own, loaded when they come near, at the size they were drawn: notebooks save them with twice the dots"
    def apart(m):
        data = base64.b64decode(m[2])
        name = f'figures/{sha256(data).hexdigest()[:16]}.png'
        (site/name).parent.mkdir(exist_ok=True)
        (site/name).write_bytes(data)
        i = data.find(b'pHYs')
        width,height = struct.unpack('>II', data[16:24])
        dpi = struct.unpack('>I', data[i+4:i+8])[0]*.0254 if i>0 else 100
        src = os.path.relpath(site/name, f.parent)
        return f'<img width="{width*100/dpi:.0f}" height="{height*100/dpi:.0f}" loading="lazy"{m[1]}{src}"'
    return re.sub(r'<img([^>]* src=")data:image/png;base64,([^"]+)"', apart, s)

def wrapped(s):
    "Page `s` with what was printed wrapped where it is prose: long lines, and none that is drawn"
    def wrap(m):
        lines = unescape(re.sub('<[^>]*>', '', m[2])).split('\n')
        prose = max(map(len, lines))>90 and not re.search('[─│┃━█▏┌|]', m[2])
        return f'<pre class="prose"{m[1]}>{m[2]}</pre>' if prose else m[0]
    return re.sub(r'(?<=cell-output-stdout">\n)<pre([^>]*)>(.*?)</pre>', wrap, s, flags=re.S)

def no_anchor(h): return h.replace('class="anchored', 'class="no-anchor anchored')   # what is clicked to fold holds no other thing to click

def folded_edges(s):
    "Page `s` with each section whose heading begins with 'Edges' folded away: it is for those who have met such an input"
    res,depth = [],0   # how many sections are open, from a folded one on
    for o in re.split(r'(<section\b[^>]*>|</section>)', s):
        if depth:
            depth += o.startswith('<section')-(o=='</section>')
            if not depth: o = '</details>'+o
        elif re.match(r'<section id="edges[^"]*" class="level2"', o): depth = 1
        if depth==1 and '<h2' in o: o = re.sub(r'<h2\b.*?</h2>', lambda m: f'<details class="edges"><summary>{no_anchor(m[0])}</summary>', o, count=1, flags=re.S)
        res.append(o)
    return ''.join(res)

class Links(HTMLParser):
    "What a page is made of (`loads`), where it links (`links`) and where links can go (`ids`)"
    def __init__(self, s):
        super().__init__()
        self.ids,self.links,self.loads = set(),set(),set()
        self.feed(s)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.ids |= {v for k in ('id','data-anchor-id') if (v:=a.get(k))}
        if tag=='a' and a.get('href'): self.links.add(a['href'])
        if src := a.get('src') or (tag=='link' and a.get('href')): self.loads.add(src)

def sources(s, cfg, made_from):
    "Page `s` with its links to edit, source and notebook going where the page really comes from"
    def real(m): return m[1]+made_from.get(m[2], m[2])
    s = re.sub(rf'({re.escape(cfg.git_url)}/(?:edit|blob)/{cfg.branch}/)nbs/([^"#]+)', real, s)
    def colab(m):
        url = f'https://colab.research.google.com/github/{cfg.user}/{cfg.repo}/blob/{cfg.branch}/{m[2]}'
        return f'{m[1]}<div class="action-links"><a href="{url}" class="toc-action"><i class="bi bi-play"></i> Open in Colab</a></div>'
    return re.sub(rf'(<div class="action-links"><a href="{re.escape(cfg.git_url)}/blob/{cfg.branch}/(nbs/[^"]+[.]ipynb)".*?</div>)', colab, s, flags=re.S)

def lean_icons(site, text):
    "Only those icons in the style sheet that a page shows: all two thousand are read before anything is drawn"
    f = site/'site_libs/bootstrap-icons/bootstrap-icons.min.css'
    if not f.exists(): return
    used = {*re.findall(r'bi-[a-z0-9-]+', text)}
    def kept(m): return m[0] if m[1] in used else ''
    write(f, re.sub(r'[.](bi-[a-z0-9-]+)::?before *[{][^}]*[}]', kept, f.read_text(encoding='utf-8')))

PLUMBING = {'all.html', 'main.html', 'package.html', 'pretend.html', 'test_utils.html', 'patients.html', 'cases.html'}

# What people call it, where the page says it in other words
ALSO = {'learn/capture': 'output of a layer, intermediate activations, feature maps', 'tutorials/torchrun': 'distributed DDP FSDP multiple GPUs several processes', 'benchmarks': 'overhead cost slow speed performance', 'reference/limits': 'torch.compile compiled model TorchScript does not work',
    'tutorials/why_wont_it_learn': 'loss does not go down, stuck, plateau, not learning, debugging', 'symptoms/loss_at_chance': 'loss does not go down, stuck', 'learn/findings': 'write a custom rule of your own',
    'reference/commands': 'watch a script without changing it, command line, hookbook run, compare two runs', 'start/which_function': 'compare two runs, heads, 24 GB, TensorBoard, wandb, Trainer, overhead', 'symptoms/index': 'debugging, loss does not decrease'}

def search_index(site, about):
    "The index for `search.js`: of each section its beginning, to show, and its other words, once each"
    res,found = [],json.loads((site/'search.json').read_text(encoding='utf-8'))
    bare = {o['href'].partition('#')[0]: o['title'] for o in found} | {o['href']: '' for o in found if not o['section']}   # pages that begin with a heading have no entry of their own
    for o in found + [dict(href=page, title=title, section='', text='') for page,title in bare.items() if title]:
        page,text = o['href'].partition('#')[0],o['text']
        if page=='404.html': continue
        more = {*re.findall(r'[a-z][a-z0-9]+', text[240:].lower())} - {*re.findall(r'[a-z][a-z0-9]+', text[:240].lower())}
        e = dict(href=o['href'], title=o['title'], section=o['section'], text=text[:240], more=' '.join(sorted(more)))
        if not o['section']:
            said = about.get(page, '').rstrip('.')
            e |= dict(about=f"{said} {ALSO.get(page.removesuffix('.html'), '')}".strip(), text=f"{said}. {text[:240]}".lstrip('. '))   # the first words are what is shown
        if page.startswith(('symptoms/','learn/','start/','with/')) or page.removesuffix('.html') in ALSO: e['weight'] = 1.5   # pages for people who ask, before chapters that tell how it is done
        elif page in PLUMBING: e['weight'] = .5
        res.append(e)
    write(site/'search.json', json.dumps(res, ensure_ascii=False, separators=(',',':')))
    (site/'site_libs/fuse/fuse.min.js').write_text((here/'search.js').read_text(encoding='utf-8'), encoding='utf-8')

def markdown_copies(site):
    "Each page as Markdown too, at the address that the docstring of its module names, and all of them in `llms.txt`"
    for f in [*site.rglob('*.llms.md'), site/'llms.txt']:
        s = f.read_text(encoding='utf-8').replace('.llms.md', '.html.md')
        f.unlink()
        if not f.name.startswith('404'): write(f.with_name(f.name.replace('.llms.md', '.html.md')), s)

def unknown_addresses(site, lib, base):
    "Modules and rules that name a page that is not there"
    for f in sorted(lib.rglob('*.py')):
        m = re.search(r'^Docs: (\S+?)"*$', f.read_text(encoding='utf-8'), re.M)
        if m and not (site/m[1].removeprefix(base)).exists(): yield f'{f.name} says that it is documented at {m[1]}, which is not there'
    import hookbook.health   # with it come all rules
    for name,f in hookbook.finding.rules.items():
        if not f.url.startswith(base) or not (site/f.url.removeprefix(base)).exists(): yield f'the rule {name!r} names the page {f.url}, which is not there'

def finish(site, cfg, made_from, about):
    "Make the pages stand alone, and give each link a place to land"
    for f in site.rglob('*.css'): write(f, re.sub(r'@import url\((["\']?)https?:[^)]*\);?', '', f.read_text(encoding='utf-8'))) # web fonts
    write(site/'site_libs/site.js', (here/'site.js').read_text(encoding='utf-8'))
    markdown_copies(site)
    pages = {}
    for f in site.rglob('*.html'):
        s = f.read_text(encoding='utf-8')
        if f.name=='example_report.html': pages[f] = s; continue
        s = folded_edges(wrapped(pictures_apart(mathml(s), f, site)))
        s = sources(s, cfg, made_from).replace(' role="img"', '')   # icons: their links have names
        up = os.path.relpath(site/'site_libs/site.js', f.parent)
        pages[f] = s.replace('</head>', f'<script src="{up}" defer></script></head>', 1)
    not_found = site/'404.html'
    if not_found in pages: pages[not_found] = pages[not_found].replace('<head>', f'<head><base href="{cfg.doc_baseurl.rstrip("/")}/">', 1) # it is shown at any depth
    ids = {f.resolve(): Links(s).ids for f,s in pages.items()}
    for f,s in pages.items():
        def land(m):
            "A method without an entry of its own is found with its class"
            have = ids.get((f.parent/m[1]).resolve() if m[1] else f.resolve())
            frag = m[2]
            while have is not None and frag not in have and '.' in frag: frag = frag.rpartition('.')[0]
            return f'href="{m[1]}#{frag}"'
        write(f, re.sub(r'href="([^":#]*)#([^"]+)"', land, s))
    lean_icons(site, ''.join(pages.values()) + ''.join(f.read_text(encoding='utf-8') for f in (site/'site_libs').glob('smalldocs.*')))
    search_index(site, about)

def problems(site, src, cfg, markdowns, modidx):
    "What is wrong with the site, one line each"
    pages = {f.resolve(): Links(f.read_text(encoding='utf-8')) for f in site.rglob('*.html')}
    own = lambda f: set(re.findall('<script>(.*?)</script>', f.read_text(encoding='utf-8'), re.S))
    for f in pages:
        if f.name!='example_report.html' and own(f)-own(site/'index.html'): yield f'{f.name} runs a script that came with the text'
        if '[<a' in f.read_text(encoding='utf-8'): yield f'{f.name} has a link inside a link'
    for f,p in pages.items():
        name = f.relative_to(site.resolve()).as_posix()
        if f.stat().st_size>500_000: yield f'{name} has {f.stat().st_size/1000:.0f} kB, and 500 is what a page may have'
        for o in sorted(p.loads):
            if re.match('(https?:)?//', o): yield f'{name} loads {o}'
        for o in sorted(p.links):
            if re.match(r'\w+:', o) or o=='#': continue
            path,_,frag = o.partition('#')
            to = (f.parent/path).resolve() if path else f
            if to.is_dir(): to = to/'index.html'
            if not to.exists(): yield f'{name} links to {o}, which is not there'
            elif frag and to in pages and frag not in pages[to].ids: yield f'{name} links to {o}: the page has no such place'
    yield from unknown_addresses(site, cfg.lib_path, f"{cfg.doc_host}{cfg.doc_baseurl.rstrip('/')}/")
    shown = {h.replace('\\', '') for f in src.rglob('*.ipynb') for d,k in markdowns(read(f)) if k=='text/markdown' for h in re.findall(r'^### (\S+)$', ''.join(d[k]), re.M)}
    for mod,syms in modidx['syms'].items():
        public = re.search(r'^__all__ = (\[.*?\])', (cfg.lib_path.parent/(mod.replace('.', '/')+'.py')).read_text(encoding='utf-8'), re.M|re.S)
        for s in ast.literal_eval(public[1]) if public else []:
            if f'{mod}.{s}' in syms and s not in shown: yield f'{mod}.{s} has no entry on its page'
