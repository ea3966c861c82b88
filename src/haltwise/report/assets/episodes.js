// The episode browser: shows the episodes of one kind, and opens all of them for printing.
(() => {
  "use strict";
  const choice = document.getElementById("episode-kind");
  if (!choice) return;
  const all = [...document.querySelectorAll(".episode")];
  choice.addEventListener("change", () => {
    let shown = 0;
    for (const episode of all) {
      episode.hidden = choice.value !== "" && episode.dataset.kind !== choice.value;
      shown += episode.hidden ? 0 : 1;
    }
    document.getElementById("episode-count").textContent = `${shown} episode${shown === 1 ? "" : "s"}`;
  });
})();
