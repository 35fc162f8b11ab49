// A page that grows: asks where it came from for what is newer, and shows it in place of what it has
{
  const said = document.createElement('p'), first = document.scripts[0].textContent, here = new URL(location.href);
  said.className = 'live'; said.setAttribute('role', 'status');
  document.querySelector('header').append(said);
  let version = 0, last = 'The training has not begun yet.', lost = 0;
  const tell = (state, words) => { said.dataset.state = state; said.textContent = words; };

  // What the reader has opened, typed, sorted and scrolled to
  const folds = () => [...document.querySelectorAll('main details')].map(d => [`${d.closest('article')?.querySelector('h3').textContent}|${d.closest('li')?.querySelector('code')?.textContent}|${d.firstChild.textContent.replace(/[\d,]+/, '')}`, d]);
  const remember = () => {
    const box = document.querySelector('.layers'), th = box?.querySelector('th[aria-sort$=ending]'), find = box?.querySelector('[type=search]');
    return {open: new Set(folds().filter(([, d]) => d.open).map(([k]) => k)), y: scrollY, words: find?.value ?? '', focus: find && document.activeElement === find,
      only: box?.querySelector('[type=checkbox]')?.checked, head: th?.textContent, down: th?.getAttribute('aria-sort') === 'descending',
      at: [...document.querySelectorAll('main .scroll')].map(s => [s.scrollLeft, s.scrollTop])};
  };
  const restore = was => {
    for (const [k, d] of folds()) d.open = was.open.has(k);
    const box = document.querySelector('.layers'), find = box?.querySelector('[type=search]'), only = box?.querySelector('[type=checkbox]');
    const th = box && [...box.querySelectorAll('thead th')].find(t => t.textContent === was.head);
    if (th && (was.head !== '#' || was.down)) { th.firstChild.click(); if (was.down) th.firstChild.click(); }
    if (find && was.words) { find.value = was.words; find.dispatchEvent(new Event('input')); }
    if (only && was.only) { only.checked = true; only.dispatchEvent(new Event('change')); }
    if (find && was.focus) find.focus({preventScroll: true});
    document.querySelectorAll('main .scroll').forEach((s, i) => { if (was.at[i]) [s.scrollLeft, s.scrollTop] = was.at[i]; });
    scrollTo(0, was.y);
  };
  const show = (text, names) => {
    const doc = new DOMParser().parseFromString(text, 'text/html'), was = remember();
    for (const part of ['main', 'header .note', 'header nav']) document.querySelector(part).innerHTML = doc.querySelector(part).innerHTML;
    if (names.length > 1) document.querySelector('header nav').prepend(...names.map(n => { const a = document.createElement('a'); a.href = '/'+encodeURIComponent(n); a.textContent = n; return a; }));
    const again = document.createElement('script');   // sorting and filtering, for the new table
    again.textContent = first; document.body.append(again); again.remove();
    restore(was);
  };
  const reading = () => { const s = getSelection(); return s && !s.isCollapsed; };
  const wait = seconds => new Promise(done => setTimeout(done, 1000*seconds));

  const ask = async () => {
    here.search = `?after=${version}`; here.hash = '';
    const answer = await fetch(here);
    if (!answer.ok) throw new Error(answer.status);
    const now = JSON.parse(answer.headers.get('Hookbook')), text = await answer.text();
    for (let i = 0; i < 60 && !now.over && reading(); i++) await wait(.5);   // what is selected would be lost
    if (now.version > version) { show(text, now.names); version = now.version; }
    last = now.said; lost = 0;
    tell(now.over ? 'over' : 'grows', now.over || now.said);
    return now.over;
  };
  const follow = async () => {
    for (;;) {
      try { if (await ask()) return; }
      catch (e) {
        if (++lost > 4) return tell('lost', `The training doesn't answer any more. Shown is what it had last: ${last}`);
        await wait(1);
      }
    }
  };
  follow();
}
