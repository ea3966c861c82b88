// The episode browser: shows the episodes of one kind.
(() => {
  "use strict";
  const choice = document.getElementById("episode-kind");
  if (!choice) return;
  const groups = [...document.querySelectorAll(".kind-group")];
  choice.addEventListener("change", () => {
    let shown = 0;
    for (const group of groups) {
      group.hidden = choice.value !== "" && group.dataset.kind !== choice.value;
      shown += group.hidden ? 0 : +group.dataset.count;
    }
    document.getElementById("episode-count").textContent = `${shown} episode${shown === 1 ? "" : "s"}`;
  });
})();
