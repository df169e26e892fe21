// Turns clicks in the list of own documents into events; the list itself comes escaped from lqr/ui/library.py.
element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-remove]");
  if (!button || button.disabled) return;
  button.disabled = true;
  trigger("removed", { id: button.dataset.remove });
});
element.addEventListener("change", (event) => {
  if (event.target.name === "library") trigger("chosen", { library: event.target.value });
  if (event.target.name === "scope") trigger("scoped", { scope: event.target.value });
});
// What the reader sees as chosen goes with each question, so that nothing else answers it.
(window.lqr ??= {}).shown = () => ({
  library: element.querySelector("[name=library]")?.value ?? "",
  scope: element.querySelector("[name=scope]:checked")?.value ?? "",
});
// A new list takes the place of the old one: the focus stays where the reader had it.
let scoped = false;
element.addEventListener("focusin", (event) => { scoped = event.target.name === "scope"; });
watch("value", () => { if (scoped && document.activeElement === document.body) element.querySelector("[name=scope]:checked")?.focus(); });
