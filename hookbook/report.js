for (const box of document.querySelectorAll('.layers')) {
  const body = box.querySelector('tbody'), heads = [...box.querySelectorAll('thead th')], rows = [...body.rows];
  const find = box.querySelector('input[type=search]'), only = box.querySelector('input[type=checkbox]'), count = box.querySelector('.count');
  const pics = new Map([...document.querySelectorAll('[data-layer]')].map(f => [f.dataset.layer, f]));
  const order = new Intl.Collator(undefined, {numeric: true});
  const value = (row, i) => { const c = row.cells[i]; return c.dataset.v === undefined ? c.textContent : c.dataset.v === '' ? null : Number(c.dataset.v); };
  heads.forEach((th, i) => th.querySelector('button').addEventListener('click', () => {
    const up = th.getAttribute('aria-sort') !== 'ascending', sign = up ? 1 : -1;
    for (const o of heads) o.setAttribute('aria-sort', 'none');
    th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const sorted = rows.map(r => [value(r, i), r]);
    sorted.sort(([a], [b]) => a === null ? (b === null ? 0 : 1) : b === null ? -1 : sign*(typeof a === 'string' ? order.compare(a, b) : a-b));
    body.append(...sorted.map(([, r]) => r));
  }));
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const r of rows) {
      const name = r.querySelector('th').textContent, text = (name+' '+r.cells[2].textContent).toLowerCase();
      const hit = words.every(w => text.includes(w)) && !(only && only.checked && !(value(r, 3) > 0));
      r.hidden = !hit; shown += hit;
      if (pics.has(name)) pics.get(name).hidden = !hit;
    }
    count.textContent = `${shown === rows.length ? '' : `${shown} of `}${rows.length} layer${rows.length === 1 ? '' : 's'}`;
  };
  find.addEventListener('input', filter);
  if (only) only.addEventListener('change', filter);
  filter();
}
