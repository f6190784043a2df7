"use strict";
(() => {
  const form = document.getElementById("filters");
  const rows = [...document.querySelectorAll("[data-row]")];
  const cards = rows.filter((row) => row.tagName === "ARTICLE");
  const groups = [...document.querySelectorAll("[data-group]")];
  const folds = [...document.querySelectorAll("details[data-fold]")];
  const { text, state, model, suite, fold, found } = form.elements;
  const plain = (value) => value.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = new Map(cards.map((card) => [card.id, plain(card.textContent)]));
  const cardOf = (row) => row.id || row.querySelector("a").hash.slice(1);

  const show = () => {
    const wanted = plain(text.value).split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const said = words.get(cardOf(row));
      row.hidden =
        (state.value && row.dataset.state !== state.value) ||
        (model.value && row.dataset.model !== model.value) ||
        (suite.value && row.dataset.suite !== suite.value) ||
        !wanted.every((word) => said.includes(word));
    }
    for (const group of groups) group.hidden = !group.querySelector("[data-row]:not([hidden])");
    found.value = `${cards.filter((card) => !card.hidden).length} of ${cards.length} shown`;
  };

  const open = (all) => {
    for (const each of folds) each.open = all;
    fold.textContent = all ? "Close passing examples" : "Open all examples";
    fold.dataset.open = all ? "yes" : "";
  };

  // A link to a card that a filter hides shows it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) {
      form.reset();
      show();
      target.scrollIntoView();
    }
    if (target.tabIndex === -1) target.focus({ preventScroll: true });
  };

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  fold.addEventListener("click", () => open(!fold.dataset.open));
  addEventListener("hashchange", reveal);
  open(false);
  form.hidden = false;
  if (location.hash) reveal();
})();
