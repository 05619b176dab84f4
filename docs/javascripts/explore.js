// Puts the live page of `lossylink explore` in the place of its pictures, where the site carries the page.
//
// A picture stands in <div class="explore" data-view="FRAGMENT">. The file explore/here.js lies beside the page: a site without
// the page, or a reader without JavaScript, keeps the picture.
(() => {
  const site = new URL("..", document.currentScript.src);
  const here = document.createElement("script");
  here.src = new URL("explore/here.js", site).href;
  here.onload = () => {
    for (const place of document.querySelectorAll(".explore[data-view]")) {
      const page = document.createElement("iframe");
      const picture = place.querySelector("img");
      page.src = `${new URL("explore/index.html", site).href}#embed=1&${place.dataset.view}`;
      page.title = picture?.alt ?? "lossylink explore";
      page.loading = "lazy";
      page.style.cssText = "width: 100%; height: 640px; border: 0";
      place.replaceChildren(page);
    }
  };
  here.onerror = () => here.remove();
  document.head.append(here);
})();
