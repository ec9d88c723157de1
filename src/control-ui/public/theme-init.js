// Before the first paint, so that a dark page does not flash white.
(() => {
  let theme = "system";
  try {
    theme = JSON.parse(localStorage.getItem("openclaw.control.settings.v1") || "{}").theme || "system";
  } catch {
    // Unreadable settings: the system's theme.
  }
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
