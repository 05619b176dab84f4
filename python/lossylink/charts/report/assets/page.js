// The page around the charts: contents that fold on a phone, links that open what they lead to, copies, print.
(() => {
  const contents = document.querySelector(".contents details");
  const isNarrow = matchMedia("(max-width: 64rem)");
  const fold = () => { contents.open = !isNarrow.matches; };
  isNarrow.addEventListener("change", fold);
  fold();

  // A claim in a folded section is opened with all that holds it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    if (isNarrow.matches) contents.open = false;
    if (link.hash === location.hash) reveal(); // the address stays, and no event tells
  });
  reveal();

  // The contents show where the reader is.
  const links = [...document.querySelectorAll(".contents a")];
  const places = links.map((link) => document.getElementById(link.hash.slice(1)));
  const mark = () => {
    const passed = places.filter((place) => place.getBoundingClientRect().top < innerHeight / 3);
    const here = passed.length ? passed[passed.length - 1] : places[0];
    links.forEach((link, n) => {
      if (places[n] === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  addEventListener("scroll", mark, { passive: true });
  mark();

  const copy = async (text, block) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    getSelection().selectAllChildren(block); // a page that a browser does not trust with the clipboard
    return document.execCommand("copy") ? undefined : Promise.reject(new Error("not copied"));
  };
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", () => {
      const block = button.previousElementSibling;
      const say = (word) => { button.textContent = word; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
      copy(block.textContent, block).then(() => say("Copied"), () => say("Select and copy"));
    });
  }

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
})();
