"""The site in a browser: every page at two widths, light and dark. `python tools/browse.py _docs [REPORT.html …]` prints what is wrong and ends with counts.

It needs Playwright (`pip install -e '.[dev]'`) and Chromium: `apt install chromium`, any Chrome, or the one that `playwright install chromium` brings; CHROME may name it. Without them it says so, and nothing counts as passed."""
import argparse, asyncio, gzip, os, re, shutil, sys, threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

SIZES = {1300: 900, 390: 844}
# What people type, and the page that has to come first
SEARCHES = {'dead relu': 'symptoms/dead_units', 'loss is nan': 'symptoms/nan_or_inf', 'gradient clipping': 'symptoms/clipped_in_every_step',
    'AMP': 'symptoms/low_precision_range', 'learning rate too high': 'symptoms/update_to_weight_ratio', 'vanishing gradient': 'symptoms/vanishing_gradient',
    'massive activations': 'symptoms/massive_activations', 'zero_grad': 'symptoms/gradients_carried_over', 'what is a hook': 'learn/what_is_a_hook',
    'find_nan': 'nan.html#find_nan', 'torchinfo': 'start/coming_from_torchinfo', 'install': 'start/first_run', 'glossary': 'reference/glossary', 'output of a layer': 'learn/capture',
    'overhead': ('benchmarks','start/which_function','learn/record'), 'distributed': 'tutorials/torchrun', 'loss does not go down': ('tutorials/why_wont_it_learn','symptoms/loss_at_chance'), 'torch.compile': 'reference/limits', 'hugging face trainer': ('with/transformers','transformers')}
LINE = 200_000     # bytes a second of a line of 1.6 Mbit/s
SECONDS = 3        # after which a page can be used there
# What is alike is looked at once or a few times: colours within code, rows of long tables, entries of the lists beside the page
THIN = """() => {
  document.querySelectorAll('main pre code').forEach((e, i) => { if (i > 1) e.textContent = e.textContent; });
  document.querySelectorAll('main table').forEach((t, i) => [...t.rows].slice(i > 3 ? 2 : 12).forEach(r => r.remove()));
  for (const s of ['.sidebar-item', '#TOC li']) [...document.querySelectorAll(s)].slice(8).forEach(e => e.remove());
}"""
AXE = """async (what) => {
  const words = [...document.querySelectorAll('main p')].slice(20).concat([...document.querySelectorAll('main li')].slice(20));
  words.forEach(e => e.setAttribute('data-alike', ''));
  const context = what === 'color-contrast' && words.length ? {exclude: [['[data-alike]']]} : document;
  const rules = what ? {runOnly: {type: 'rule', values: [what]}} : {rules: {'color-contrast': {enabled: false}}};
  const found = (await axe.run(context, {resultTypes: ['violations'], ...rules})).violations.filter(v => ['critical','serious'].includes(v.impact));
  return found.map(v => `${v.id}: ${v.nodes.slice(0,3).map(n => n.target.join(' ')).join(', ')}` + (v.nodes.length>3 ? ` and ${v.nodes.length-3} more` : ''));
}"""
# Colours do not depend on the width, nor the rest on the scheme; what can be scrolled depends on the width
LOOKS = {(390,'light'): ['scrollable-region-focusable'], (1300,'light'): ['', 'color-contrast'], (1300,'dark'): ['color-contrast']}
SEEN = "() => ({ids: [...document.querySelectorAll('[id]')].map(e => e.id), links: [...document.querySelectorAll('a[href]')].map(e => e.href), too_wide: document.documentElement.scrollWidth - innerWidth, no_alt: [...document.images].filter(i => !i.alt.trim()).length})"

def chromium():
    "Path of a browser, or None"
    named = [os.environ.get('CHROME'), *map(shutil.which, ('chromium','chromium-browser','google-chrome','google-chrome-stable','chrome'))]
    return next((o for o in named if o and Path(o).exists()), None)

def axe_source():
    spec = find_spec('axe_playwright_python')
    return Path(spec.origin).with_name('axe.min.js').read_text(encoding='utf-8') if spec else None

class Handler(SimpleHTTPRequestHandler):
    "Serves the site below the path that it is published under, compressed, as the host does; and the page for what is not there"
    base = '/'
    def log_message(self, *args): pass
    def translate_path(self, path): return super().translate_path('/'+urlsplit(path).path.removeprefix(self.base))
    def do_GET(self):
        f = Path(self.translate_path(self.path))
        if f.is_dir(): f = f/'index.html'
        code = 200 if self.path.startswith(self.base) and f.is_file() else 404
        body = f.read_bytes() if code==200 else Path(self.directory, '404.html').read_bytes()
        self.send_response(code)
        self.send_header('Content-Type', self.guess_type(str(f)) if code==200 else 'text/html')
        if f.suffix not in ('.png','.woff2'):
            body = gzip.compress(body, 6)
            self.send_header('Content-Encoding', 'gzip')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

def serve(site, base):
    handler = partial(type('Here', (Handler,), dict(base=base)), directory=str(site))
    server = ThreadingHTTPServer(('127.0.0.1', 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server,f'http://127.0.0.1:{server.server_port}{base}'

class Visit:
    "One page, watched while it is looked at"
    def __init__(self, page, name, root):
        self.page,self.name,self.root,self.bad = page,name,root,[]
        self.ids,self.links,self.bytes = set(),set(),0
        page.on('console', lambda m: self.bad.append(f'console: {m.text}') if m.type in ('error','warning') else None)
        page.on('pageerror', lambda e: self.bad.append(f'script: {e}'))
        page.on('requestfailed', lambda r: self.bad.append(f'request failed: {r.url}'))
        page.on('request', lambda r: self.bad.append(f'asks elsewhere: {r.url}') if not r.url.startswith((root,'data:','blob:','file:')) else None)

    async def look(self, url, axe):
        "Open it, look at it in each size and scheme, and then let axe look at it"
        self.page.on('response', lambda r: setattr(self, 'bytes', self.bytes+int(r.headers.get('content-length', 0))))
        await self.page.goto(url, wait_until='load')
        await self.page.add_style_tag(content='* { transition: none !important; animation: none !important }')   # colours on their way are no colours
        for width in SIZES:
            for scheme in ('light','dark'):
                await self.turn(width, scheme)
                seen = await self.page.evaluate(SEEN)
                if seen['too_wide']>0: self.bad.append(f"at {width}, {scheme}: {seen['too_wide']} pixels wider than the screen")
                if seen['no_alt']: self.bad.append(f"at {width}, {scheme}: {seen['no_alt']} pictures without words for those who do not see them")
        self.ids,self.links = set(seen['ids']),set(seen['links'])
        await self.page.evaluate(axe)
        await self.page.evaluate(THIN)
        for (width,scheme),rules in LOOKS.items():
            await self.turn(width, scheme)
            for what in rules: self.bad += [f'at {width}, {scheme}: {o}' for o in await self.page.evaluate(AXE, what)]

    async def turn(self, width, scheme):
        "To this width and scheme; a report follows by itself, a page of the site with a class, and its boxes in the next frame"
        await self.page.set_viewport_size(dict(width=width, height=SIZES[width]))
        await self.page.emulate_media(color_scheme=scheme)
        report = self.name.startswith('report ') or 'example_report' in self.name
        if not report: await self.page.wait_for_function(f"document.documentElement.classList.contains('quarto-dark')==={str(scheme=='dark').lower()}")
        await self.page.evaluate('new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))')

def dead_links(visits, site, root):
    "Links to pages and anchors that are not there"
    known = {v.name: v for v in visits}
    for v in visits:
        for link in sorted(v.links):
            if not link.startswith(root): continue
            url,frag = urldefrag(link)
            name = url.removeprefix(root) or 'index.html'
            if name.endswith('/'): name += 'index.html'
            if not (site/name).exists(): yield v,f'links to {name}, which is not there'
            elif frag and name in known and frag not in known[name].ids: yield v,f'links to {name}#{frag}: the page has no such place'

async def searched(page, root, words):
    "The page that a search for `words` offers first"
    await page.goto(root)
    box = page.locator('#quarto-search input').first
    await box.fill(words)
    first = page.locator('.search-result').first
    await first.wait_for(timeout=10_000)
    return (await first.get_attribute('href')).removeprefix('./')

async def visit_all(site, base, reports, axe, n, only=''):
    from playwright.async_api import async_playwright
    server,root = serve(site, base)
    names = sorted(f.relative_to(site).as_posix() for f in site.rglob('*.html'))
    todo = [(o, root+o) for o in names if re.search(only, o)] + [(f'report {f.name}', Path(f).resolve().as_uri()) for f in reports]
    visits,wrong = [],[]
    async with async_playwright() as p:
        browser = await p.chromium.launch(executable_path=chromium(), args=['--no-sandbox'])
        async def worker():
            context = await browser.new_context(viewport=dict(width=1300, height=900))
            while todo:
                name,url = todo.pop()
                page = await context.new_page()
                visit = Visit(page, name, root)
                try: await visit.look(url, axe)
                except Exception as e: visit.bad.append(f'{type(e).__name__}: {e}'.splitlines()[0])
                visits.append(visit)
                await page.close()
            await context.close()
        await asyncio.gather(*[worker() for _ in range(n)])
        for v,o in dead_links(visits, site, root): v.bad.append(o)
        for v in visits:
            if v.bytes/LINE>SECONDS: v.bad.append(f'{v.bytes/1000:.0f} kB, which take {v.bytes/LINE:.1f} s on 1.6 Mbit/s')
        page = await browser.new_page()
        for words,start in SEARCHES.items():
            first = await searched(page, root, words)
            if not first.startswith(start): wrong.append(f'a search for “{words}” offers {first} first, and not {start}')
        await browser.close()
    server.shutdown()
    return visits,wrong

def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument('site', type=Path)
    args.add_argument('reports', nargs='*', type=Path, help='reports to look at, too')
    args.add_argument('--base', default='/hookbook/', help='the path that the site is published under')
    args.add_argument('--only', default='', help='only pages whose path matches this pattern')
    args.add_argument('--n', type=int, default=3, help='pages at once')
    args = args.parse_args()
    lacking = [o for o,there in (('Playwright', find_spec('playwright')), ('axe-playwright-python', axe_source()), ('Chromium', chromium())) if not there]
    if lacking:
        print(f"skipped, since there is no {' and no '.join(lacking)}: pip install -e '.[dev]', and apt install chromium")
        print('0 passed, 0 failed, 1 skipped')
        return
    visits,wrong = asyncio.run(visit_all(args.site.resolve(), args.base, args.reports, axe_source(), args.n, args.only))
    for v in sorted(visits, key=lambda v: v.name):
        for o in dict.fromkeys(v.bad): print(f'wrong: {v.name}: {o}')
    for o in wrong: print('wrong:', o)
    bad = sum(bool(v.bad) for v in visits)+len(wrong)
    print(f'{len(visits)+len(SEARCHES)-bad} passed, {bad} failed')
    sys.exit(bool(bad))

if __name__=='__main__': main()
