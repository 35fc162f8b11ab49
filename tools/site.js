// What scrolls sideways can be reached and moved with the keyboard; what does not is no stop on the way
(() => {
  const name = (e) => e.closest(".cell-output") ? "what the cell shows" : e.tagName === "TABLE" ? "table" : "code";
  const reach = () => document.querySelectorAll("main pre, main table, main .cell-output, main div.sourceCode, main math[display=block], main .hookbook, main [style*=overflow]").forEach((e) => {
    const style = getComputedStyle(e), scrolls = (e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(style.overflowX)) || (e.scrollHeight > e.clientHeight + 1 && /auto|scroll/.test(style.overflowY));
    if (scrolls && !e.hasAttribute("tabindex")) { e.tabIndex = 0; if (e.tagName !== "TABLE") { e.setAttribute("role", "region"); e.setAttribute("aria-label", name(e)); } }
  });
  addEventListener("load", reach);
  addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true);
})();
