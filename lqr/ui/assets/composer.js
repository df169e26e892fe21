// The box one asks in: what Enter, Ask and Stop do, editing the last question, and how the next one is to be answered.
const lqr = (window.lqr ??= {});
const KEY = "lqr-options";
const field = () => document.querySelector("#question textarea, #question input");
let editing = false;

function fill(text) {
  const box = field();
  if (!box) return;
  box.value = text;
  box.dispatchEvent(new Event("input", { bubbles: true })); // so that Gradio knows, and the box grows
}

function setEditing(value) {
  editing = value;
  document.body.dataset.editing = value ? "yes" : "no";
}

function submit() {
  const text = field()?.value ?? "";
  if (!lqr.ask?.({ text, instead: editing })) return;
  fill("");
  setEditing(false);
}

Object.assign(lqr, {
  edit: (text) => { setEditing(true); fill(text); field()?.focus(); },
  // What could not be asked comes back, unless something else was typed meanwhile.
  putBack: (question) => { if (!field()?.value.trim()) { fill(question.text); setEditing(Boolean(question.instead)); } },
  options: read,
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || !event.target.closest?.("#question")) return;
  if (event.isComposing || event.keyCode === 229) return; // Enter that picks a Chinese character
  event.preventDefault();
  event.stopImmediatePropagation();
  submit();
}, true);

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("#send, #stop, #new, [data-cancel-edit]");
  if (!target) return;
  if (target.id === "send") submit();
  else if (target.id === "stop") { lqr.stop?.(); field()?.focus(); }
  else if (target.id === "new") { lqr.stop?.(); setEditing(false); lqr.show?.(null); field()?.focus(); }
  else { setEditing(false); fill(""); field()?.focus(); }
}, true);

// Settings ------------------------------------------------------------------------------------------------------------

function form() { return element.querySelector("form"); }

function read() {
  const chosen = form() ? Object.fromEntries(new FormData(form())) : {};
  return { route: chosen.route, strictness: chosen.strictness, passages: Number(chosen.passages ?? 0) };
}

function changed() {
  const different = [...form().querySelectorAll("input")].some((input) => input.checked !== input.defaultChecked);
  element.querySelector(".changed").hidden = !different;
  try {
    if (different) localStorage.setItem(KEY, JSON.stringify(read())); else localStorage.removeItem(KEY);
  } catch { /* a browser that keeps nothing asks with the usual settings next time */ }
}

function restore() {
  let saved = {};
  try { saved = JSON.parse(localStorage.getItem(KEY) ?? "{}"); } catch { /* as above */ }
  for (const [name, value] of Object.entries(saved)) {
    const input = [...form().querySelectorAll("input")].find((one) => one.name === name && one.value === String(value));
    if (input) input.checked = true;
  }
  changed();
}

element.addEventListener("change", changed);
element.addEventListener("reset", () => setTimeout(changed));
document.addEventListener("click", (event) => {
  const panel = element.querySelector("details");
  if (panel?.open && !element.contains(event.target)) panel.open = false;
});
element.addEventListener("keydown", (event) => {
  const panel = element.querySelector("details");
  if (event.key === "Escape" && panel?.open) { panel.open = false; panel.querySelector("summary").focus(); }
});

function show(html) {
  element.firstElementChild.innerHTML = html;
  if (form()) restore();
}
watch("value", () => show(props.value));
show(props.value);
