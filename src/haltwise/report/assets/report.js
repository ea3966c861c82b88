// The page's own script: draws the charts in the reader's colour scheme. Asks no network.
(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const charts = read("charts"), themes = read("themes");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();

  function draw(element, scheme) {
    const name = element.dataset.chart;
    const old = views.get(name);
    if (old) old.finalize();
    const legend = { ...themes[scheme].legend, columns: element.clientWidth < 560 ? 1 : 3 };
    return vegaEmbed(element, charts[name], {
      config: { ...themes[scheme], legend }, actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" },
    }).then((made) => {
      views.set(name, made);
      // The element around it is the image for screen readers, with a name and a table.
      element.querySelector("svg").setAttribute("aria-hidden", "true");
      element.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
      return made;
    });
  }

  function drawAll(scheme) {
    const all = [...document.querySelectorAll("[data-chart]")].map((e) => draw(e, scheme));
    return Promise.all(all).then(() => { document.documentElement.dataset.drawn = scheme; });
  }

  if (typeof vegaEmbed === "function") {
    const scheme = () => (dark.matches ? "dark" : "light");
    drawAll(scheme());
    dark.addEventListener("change", () => drawAll(scheme()));
    window.addEventListener("beforeprint", () => drawAll("light"));
    window.addEventListener("afterprint", () => drawAll(scheme()));
  } else {
    document.documentElement.dataset.drawn = "none";
  }

  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const id of links.keys()) {
    const target = document.getElementById(id);
    if (target) seen.observe(target);
  }
  const live = document.getElementById("live");
  if (live) {
    // What a reader has set on the page outlives its loading anew.
    const kept = `controls ${window.location.pathname}`;
    const controls = () => [...document.querySelectorAll(".controls input[id], .controls select[id]")];
    window.addEventListener("load", () => {
      const values = JSON.parse(sessionStorage.getItem(kept) ?? "{}");
      for (const control of controls()) {
        if (!(control.id in values)) continue;
        control.value = values[control.id];
        for (const event of ["input", "change"]) control.dispatchEvent(new Event(event));
      }
    });
    const changes = new EventSource(live.dataset.address);
    changes.addEventListener("message", () => {
      const values = controls().map((control) => [control.id, control.value]);
      sessionStorage.setItem(kept, JSON.stringify(Object.fromEntries(values)));
      changes.close();
      window.location.reload();
    });
  }

  window.haltwise = { views, read };
})();
