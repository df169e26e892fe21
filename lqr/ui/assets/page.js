// Lays out the conversation that the server rendered, and turns clicks into events.
// Values come escaped from lqr/ui/views.py; nothing here builds HTML from text.
const log = element.querySelector("#log");
const status = element.querySelector("#status");
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const wide = window.matchMedia("(min-width: 900px)");
let shown = [];
let busy = false;
let lastCite = null;

function setBusy(value) {
  busy = value;
  document.body.dataset.answering = value ? "yes" : "no";
}

function makeCurrent(article) {
  for (const other of log.querySelectorAll(".exchange.current")) if (other !== article) other.classList.remove("current");
  article?.classList.add("current");
  document.body.dataset.sources = article?.querySelector(".sources") ? "yes" : "no";
}

function patch(value) {
  if (!value || !value.items) return;
  const items = value.items;
  const grew = items.length > shown.length || (items.length === 1 && shown.length === 1 && items[0].startsWith("<article") !== shown[0].startsWith("<article"));
  const current = log.querySelector(".exchange.current")?.dataset.index;
  items.forEach((html, i) => {
    if (html === shown[i]) return;
    const old = log.children[i];
    const holder = document.createElement("div");
    holder.className = "slot";
    holder.innerHTML = html;
    // What the reader unfolded stays unfolded, and a focused button keeps its focus.
    const focused = old?.contains(document.activeElement) ? document.activeElement.dataset.action : null;
    const open = old ? [...old.querySelectorAll("details")].map((d) => d.open) : [];
    if (old) old.replaceWith(holder); else log.append(holder);
    holder.querySelectorAll("details").forEach((d, k) => { if (open[k]) d.open = true; });
    if (focused) holder.querySelector(`[data-action="${focused}"]`)?.focus({ preventScroll: true });
  });
  while (log.children.length > items.length) log.lastElementChild.remove();
  shown = items.slice();
  element.querySelector("#empty").innerHTML = value.empty;

  const articles = log.querySelectorAll(".exchange");
  const last = articles[articles.length - 1];
  const wasBusy = busy;
  setBusy(Boolean(value.busy));
  document.body.dataset.started = articles.length ? "yes" : "no";
  // A new answer takes the panel; otherwise the reader's choice stands.
  const kept = log.querySelector(`.exchange[data-index="${current}"]`);
  makeCurrent(grew || (busy && !wasBusy) || !kept ? last : kept);
  if (value.busy) {
    status.textContent = value.status;
    last?.querySelector(".answer")?.after(status);
    status.classList.remove("away");
  } else {
    element.append(status);
    status.classList.add("away");
    status.textContent = wasBusy ? value.ready : "";
  }
  if (grew && value.busy) last?.scrollIntoView({ block: "start", behavior: calm.matches ? "auto" : "smooth" });
  if (!articles.length) window.scrollTo(0, 0);
}

function showSource(article, number) {
  const card = article.querySelector(`[id="s${article.dataset.index}-${number}"]`);
  if (!card) return;
  document.querySelector("#viewer [data-close]")?.click();
  makeCurrent(article);
  for (const other of log.querySelectorAll(".source.focused")) other.classList.remove("focused");
  card.classList.add("focused");
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: wide.matches ? "nearest" : "center", behavior: calm.matches ? "auto" : "smooth" });
}

async function copy(button) {
  const text = button.dataset.copy;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const label = button.textContent;
  button.textContent = status.textContent = button.dataset.done;
  setTimeout(() => { button.textContent = label; }, 1500);
}

element.addEventListener("click", (event) => {
  const target = event.target.closest("a.cite, button");
  if (!target || !element.contains(target)) return;
  const article = target.closest(".exchange");
  const action = target.dataset.action;
  if (target.matches("a.cite")) {
    event.preventDefault();
    lastCite = target;
    showSource(article, target.dataset.cite);
  } else if ("open" in target.dataset) {
    window.lqrOpener = target;
    trigger("select", { exchange: Number(article.dataset.index), number: Number(target.dataset.open) });
  } else if (action === "copy") {
    copy(target);
  } else if (action === "sources") {
    makeCurrent(article);
    article.querySelector(".source")?.focus({ preventScroll: wide.matches });
    if (!wide.matches) article.querySelector(".sources").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
  } else if (busy) {
    return;
  } else if ("ask" in target.dataset) {
    trigger("submit", { text: target.textContent });
  } else if (action === "retry") {
    trigger("retry", { again: true });
  } else if (action === "edit") {
    trigger("edit", {});
    document.querySelector("#question textarea, #question input")?.focus();
  } else if ("restore" in target.dataset) {
    trigger("undo", {});
  }
});

element.addEventListener("keydown", (event) => {
  // From a source back to the place in the text that named it.
  if (event.key === "Escape" && event.target.closest(".source") && lastCite?.isConnected) lastCite.focus();
});

// Gradio's display of the queue can outlive a question that was taken back, so what was asked is noted here as well.
const note = (asked) => { document.body.dataset.asked = asked ? "yes" : "no"; };
document.addEventListener("click", (event) => {
  if (event.target.closest("#send, [data-ask], [data-action='retry']")) note(true);
  else if (event.target.closest("#stop, #new")) note(false);
}, true);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && event.target.closest("#question")) note(true);
}, true);

watch("value", () => patch(props.value));
patch(props.value);
