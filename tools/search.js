// The search of the site, in the place of Fuse, which is made for typing errors in short lists. Here: the words of a question, or
// their beginnings; a word counts more in a title than in a heading, and there more than in the text; rare words count more than
// common ones; and a section that has all of the words comes before one that has some.
(() => {
  "use strict";
  const SMALL = new Set("a an and are at be but can do does for from go has have how i in into is it its my not of on or should that the this to too was what when where which why with you".split(" "));
  const stem = (w) => w.length > 3 ? w.replace(/(ies)$/, "y").replace(/(sses)$/, "ss").replace(/([^s])s$/, "$1") : w;
  const words = (s) => (s.toLowerCase().match(/[a-z0-9]+/g) || []).map(stem);
  const LEVELS = [["title", 12], ["about", 7], ["section", 6], ["text", 1], ["more", 1]];
  window.Fuse = class {
    constructor(list) {
      this.list = list.map((item) => ({
        item, bags: LEVELS.map(([k]) => new Set(words(item[k] || ""))),
        phrase: LEVELS.map(([k]) => " " + words(item[k] || "").join(" ") + " "),
      }));
      this.df = new Map();
      this.list.forEach(({ bags }) => new Set(bags.flatMap((b) => [...b])).forEach((w) => this.df.set(w, (this.df.get(w) || 0) + 1)));
    }
    search(query, { limit = 20 } = {}) {
      let all = words(query);
      const asked = all.filter((w) => !SMALL.has(w));
      const terms = [...new Set(asked.length ? asked : all)];
      if (!terms.length) return [];
      const n = this.list.length, phrase = " " + all.join(" ") + " ", core = " " + terms.join(" ") + " ";
      const rarity = terms.map((t, i) => Math.log(1 + n / ((this.df.get(t) || 0) + 1)) * (i === terms.length - 1 ? 1 : 1.05));
      const scored = [];
      this.list.forEach((e) => {
        let score = 0, met = 0;
        terms.forEach((t, i) => {
          let best = 0;
          e.bags.forEach((bag, k) => {
            const worth = LEVELS[k][1];
            if (bag.has(t)) best = Math.max(best, worth);
            else if (t.length > 2 && worth * 0.5 > best) { for (const w of bag) if (w.startsWith(t)) { best = Math.max(best, worth * 0.5); break; } }
          });
          if (best) { met += 1; score += best * rarity[i]; }
        });
        if (!met) return;
        e.phrase.forEach((p, k) => { if (terms.length > 1 && (p.includes(phrase) || p.includes(core))) score += LEVELS[k][1] * 3; });
        if (e.phrase[0] === phrase) score += 80;
        else if (e.phrase[0] === core || e.phrase[2] === core) score += 40;
        if (!e.item.section) score *= 1.15;
        scored.push([score * (met / terms.length) ** 3 * (e.item.weight || 1), e.item]);
      });
      scored.sort((a, b) => b[0] - a[0]);
      const seen = new Map(), out = [];   // at most three sections of one page
      for (const [, item] of scored) {
        const page = item.href.split("#")[0], k = seen.get(page) || 0;
        if (k < 3) { seen.set(page, k + 1); out.push({ item }); }
        if (out.length === limit) break;
      }
      return out;
    }
  };
})();
