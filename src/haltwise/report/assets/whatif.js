// The what-if explorer: looks the sliders' setting up among numbers that replay worked out.
(() => {
  "use strict";
  const data = window.haltwise.read("data").whatif;
  if (!data) return;
  const byId = (id) => document.getElementById(id);
  const sliders = { k: byId("whatif-k"), deadline: byId("whatif-deadline"), price: byId("whatif-price") };
  const none = data.effects.find((e) => e.k === 0 && e.deadline === 0);
  const setting = () => ({
    k: data.ks[+sliders.k.value], deadline: data.deadlines[+sliders.deadline.value], price: +sliders.price.value,
  });

  function best(price) {
    let found = null;
    for (const effect of data.effects) {
      if (effect.u[price] !== null && (found === null || effect.u[price] > found.u[price])) found = effect;
    }
    return found;
  }

  function say(id, text) { byId(id).textContent = text; }

  function mark(effect) {
    const made = window.haltwise.views.get("every-rule");
    if (!made) return;
    const points = [{ x: effect.x, y: effect.y, policy: effect.policy }].filter((p) => p.x !== null && p.y !== null);
    made.view.data("chosen", points).run();
  }

  function show() {
    const { k, deadline, price } = setting();
    const effect = data.effects.find((e) => e.k === k && e.deadline === deadline);
    say("whatif-k-value", k ? String(k) : "no such rule");
    say("whatif-deadline-value", deadline ? String(deadline) : "no such rule");
    say("whatif-price-value", data.prices[price].toFixed(2));
    for (const [name, text] of [["k", k], ["deadline", deadline]]) sliders[name].setAttribute("aria-valuetext", text ? String(text) : "no such rule");
    sliders.price.setAttribute("aria-valuetext", data.prices[price].toFixed(2));
    say("whatif-policy", effect.policy);
    say("whatif-success", effect.success);
    say("whatif-calls", effect.calls);
    say("whatif-risk", effect.risk);
    say("whatif-utility", effect.utility[price]);
    say("whatif-none-utility", none.utility[price]);
    const top = best(price);
    if (data.known && top) say("whatif-best", `Highest utility at this price: ${top.policy}, ${top.utility[price]}.`);
    mark(effect);
  }

  for (const slider of Object.values(sliders)) slider.addEventListener("input", show);
  document.addEventListener("drawn", (event) => { if (event.target.dataset.chart === "every-rule") show(); });
  show();
})();
