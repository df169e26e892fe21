// The conversations of this browser: kept in its local storage, found, renamed, deleted, shown again, saved to a file.
// Everything that was typed or answered is set as text, never as HTML.
const lqr = (window.lqr ??= {});
const KEY = "lqr-conversations";
const MOST = 100;
let current = "";
let opener = null;

const panel = () => element.querySelector(".drawer");
const part = (selector) => panel().querySelector(selector);
const words = () => panel().dataset;

function load() {
  try {
    const list = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(list) ? list.filter((entry) => entry && typeof entry.id === "string" && Array.isArray(entry.saved?.exchanges)) : [];
  } catch { return []; }
}

function store(list) {
  const kept = list.slice(0, MOST);
  for (;;) {
    try { localStorage.setItem(KEY, JSON.stringify(kept)); return; } catch {
      if (kept.length < 2) return;
      kept.pop();
      if (panel()) part("[role=status]").textContent = words().full;
    }
  }
}

function titleOf(entry) {
  return entry.title || entry.saved.exchanges[0]?.question || "…";
}

// Called with what the page keeps after each answer: the newest conversation stands first.
function keep(saved) {
  current = saved?.exchanges?.length ? saved.id : "";
  if (!current) return;
  const list = load();
  const old = list.find((entry) => entry.id === current);
  const same = old && JSON.stringify(old.saved) === JSON.stringify(saved);
  if (!same) store([{ id: current, title: old?.title ?? titles.get(current) ?? "", time: Date.now(), saved }, ...list.filter((entry) => entry !== old)]);
  if (isOpen()) list_them();
}
const titles = new Map(); // of files that were just opened

function button(label, name, entry) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet";
  made.textContent = label;
  made.setAttribute("aria-label", `${label}: ${titleOf(entry).slice(0, 80)}`);
  made.dataset[name] = entry.id;
  return made;
}

function list_them() {
  const wanted = part("input[type=search]").value.trim().toLowerCase();
  const all = load();
  const found = all.filter((entry) => !wanted || [titleOf(entry), ...entry.saved.exchanges.map((one) => `${one.question} ${one.answer?.text ?? one.draft ?? ""}`)]
    .some((text) => text.toLowerCase().includes(wanted)));
  part("ul").replaceChildren(...found.map((entry) => {
    const item = document.createElement("li");
    const open = document.createElement("button");
    open.type = "button";
    open.className = "title";
    open.dir = "auto";
    open.textContent = titleOf(entry).slice(0, 160);
    open.dataset.show = entry.id;
    const when = document.createElement("small");
    when.textContent = new Date(entry.time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
    if (entry.id === current) open.setAttribute("aria-current", "true");
    item.append(open, when, button(words().rename, "rename", entry), button(words().delete, "delete", entry));
    return item;
  }));
  part("[role=status]").textContent = found.length ? "" : all.length ? words().unfound : words().none;
  panel().querySelectorAll("[data-export]").forEach((one) => { one.disabled = !current; });
}

function isOpen() { return document.body.classList.contains("drawer-open"); }

function toggle(open) {
  document.body.classList.toggle("drawer-open", open);
  document.querySelector("#open-drawer")?.setAttribute("aria-expanded", String(open));
  if (open) { list_them(); part("input[type=search]").focus(); } else { opener?.focus(); }
}

function rename(id) {
  const entry = load().find((one) => one.id === id);
  const shown = part(`[data-show="${CSS.escape(id)}"]`);
  const input = document.createElement("input");
  input.value = titleOf(entry).slice(0, 160);
  input.setAttribute("aria-label", words().rename);
  input.maxLength = 160;
  const done = (keepIt) => {
    if (!input.isConnected) return;
    if (keepIt && input.value.trim()) store(load().map((one) => (one.id === id ? { ...one, title: input.value.trim() } : one)));
    list_them();
    part(`[data-show="${CSS.escape(id)}"]`)?.focus();
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) done(true);
    if (event.key === "Escape") { event.stopPropagation(); done(false); }
  });
  input.addEventListener("blur", () => setTimeout(() => done(true)));
  shown.replaceWith(input);
  input.select();
}

function remove(target) {
  if (!target.dataset.asked) { // a second click means it
    target.dataset.asked = "yes";
    target.textContent = words().sure;
    target.setAttribute("aria-label", target.getAttribute("aria-label").replace(words().delete, words().sure));
    return;
  }
  const id = target.dataset.delete;
  if (id === current && !lqr.show?.(null)) return;
  store(load().filter((entry) => entry.id !== id));
  list_them();
  part("input[type=search]").focus();
}

async function open_file(input) {
  const file = input.files[0];
  input.value = "";
  if (!file) return;
  try {
    if (file.size > 5_000_000) throw new Error("too large");
    const read = JSON.parse(await file.text());
    if (read?.kind !== "lqr-conversation") throw new Error("not ours");
    const id = lqr.name(); // beside what is here, never over it
    titles.set(id, String(read.title ?? "").slice(0, 160));
    lqr.show?.({ ...read, id });
    toggle(false);
  } catch { part("[role=status]").textContent = words().bad; }
}

element.addEventListener("click", (event) => {
  const target = event.target.closest("button");
  if (!target) return;
  const { show, rename: named, delete: gone, export: kind } = target.dataset;
  if ("closeDrawer" in target.dataset) toggle(false);
  else if (show) { if (show === current || lqr.show?.(load().find((one) => one.id === show)?.saved)) toggle(false); }
  else if (named) rename(named);
  else if (gone) remove(target);
  else if (kind === "print") { toggle(false); window.print(); }
  else if (kind) lqr.save?.(kind, titleOf(load().find((one) => one.id === current) ?? { saved: { exchanges: [] } }));
  else if ("import" in target.dataset) part("input[type=file]").click();
});
element.addEventListener("change", (event) => { if (event.target.type === "file") open_file(event.target); });
element.addEventListener("input", (event) => { if (event.target.type === "search") list_them(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && isOpen()) toggle(false); });
document.addEventListener("click", (event) => {
  const target = event.target.closest?.("#open-drawer");
  if (target) { opener = target; toggle(!isOpen()); }
  else if (isOpen() && event.target.isConnected && !element.contains(event.target)) toggle(false);
}, true);

lqr.keep = keep;

function show(html) { element.firstElementChild.innerHTML = html; }
watch("value", () => show(props.value));
show(props.value);
