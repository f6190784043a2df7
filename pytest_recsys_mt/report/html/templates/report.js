"use strict";
(() => {
  const form = document.getElementById("filters");
  const rows = [...document.querySelectorAll("[data-row]")];
  const groups = [...document.querySelectorAll("[data-group]")];
  const folds = [...document.querySelectorAll("details[data-group], li[data-group] > details")];

  const plain = (value) => value.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  let show = () => {};
  if (form) {
    const { text, state, model, suite, fold, found } = form.elements;
    const cardOf = (row) => row.id || row.querySelector("article")?.id || row.querySelector("a").hash.slice(1);
    const cards = rows.filter((row) => row.id);
    const words = new Map(cards.map((card) => [card.id, plain(card.textContent)]));
    let before = null;

    show = () => {
      const wanted = plain(text.value).split(/\s+/).filter(Boolean);
      for (const row of rows) {
        const said = words.get(cardOf(row));
        row.hidden =
          (state.value && row.dataset.state !== state.value) ||
          (model?.value && row.dataset.model !== model.value) ||
          (suite?.value && row.dataset.suite !== suite.value) ||
          !wanted.every((word) => said.includes(word));
      }
      for (const group of groups) group.hidden = !group.querySelector("[data-row]:not([hidden])");
      found.value = `${cards.filter((card) => !card.hidden).length} of ${cards.length} shown`;
      // What a filter leaves is unfolded; without a filter all is as it was.
      const filtered = Boolean(wanted.length || state.value || model?.value || suite?.value);
      if (filtered && !before) before = new Map(folds.map((each) => [each, each.open]));
      if (filtered) for (const each of folds) each.open = true;
      if (!filtered && before) {
        for (const [each, open] of before) each.open = open;
        before = null;
      }
    };

    const unfold = (open) => {
      const ours = document.querySelectorAll("#rest details, article details");
      for (const each of ours) each.open = open;
      fold.textContent = open ? "Close all" : "Open all";
      fold.dataset.open = open ? "yes" : "";
    };

    form.addEventListener("input", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(show));
    fold.addEventListener("click", () => unfold(!fold.dataset.open));
    form.hidden = false;
  }

  // A link to what is folded or filtered shows it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (form && target.closest("[hidden]")) {
      form.reset();
      show();
    }
    for (let each = target; each; each = each.parentElement?.closest("details")) {
      if (each.tagName === "DETAILS") each.open = true;
    }
    target.scrollIntoView();
    if (target.tabIndex === -1) target.focus({ preventScroll: true });
  };

  // Paper cannot unfold: sections are printed open, and closed again afterwards.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll(".fold:not([open]), .opened > details:not([open])")];
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
  });
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
