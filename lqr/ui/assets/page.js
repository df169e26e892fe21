// Lays out the conversation that the server rendered, and turns clicks into events.
// Values come escaped from lqr/ui/views.py; nothing here builds HTML from text.
const log = element.querySelector("#log");
const status = element.querySelector("#status");
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const wide = window.matchMedia("(min-width: 900px)");
const lqr = (window.lqr ??= {});
let shown = [];
let busy = false;
let lastCite = null;

// One question at a time. `asking` is the one that was sent and is not settled yet; `next` is what was wished for while a
// stop was on its way, and is done as soon as that has arrived, so that it is neither lost nor overtaken.
let asking = null;
let next = null;
const stopped = new Set();

function ask(question) {
  if (!question.text.trim()) return false;
  if (asking && !asking.stopping) return false;
  if (asking) { next = () => ask(question); return true; }
  asking = { ...question, name: lqr.name(), stopping: false };
  document.body.dataset.asked = "yes";
  const { text, instead, alone, name } = asking;
  const how = { options: lqr.options?.() ?? {}, shown: lqr.shown?.() ?? {} };
  trigger("asked", { text, instead: Boolean(instead), alone: Boolean(alone), name, ...how });
  return true;
}

function stop() {
  if (!asking || asking.stopping) return;
  asking.stopping = true;
  stopped.add(asking.name);
  document.body.dataset.asked = "no";
  if (!busy) lqr.putBack?.(asking); // it still waited in the queue
  trigger("halted", { name: asking.name });
}

function settle() {
  asking = null;
  document.body.dataset.asked = "no";
  const wish = next;
  next = null;
  wish?.();
}

function show(conversation) {
  if (asking && !asking.stopping) return false;
  if (asking) next = () => show(conversation);
  else trigger("replaced", { conversation });
  return true;
}

function failed() {
  if (asking && !busy) lqr.putBack?.(asking);
  say(notSent);
  if (busy) { setBusy(false); log.querySelector(".writing")?.classList.remove("writing"); }
  settle();
}

let notSent = "";
let hush = 0;

// For ears: a line that goes away again, so that it is not read as part of the page later.
function say(text) {
  element.append(status);
  status.classList.add("away");
  status.textContent = text;
  clearTimeout(hush);
  hush = setTimeout(() => { if (!busy) status.textContent = ""; }, 4000);
}

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
  if (value.busy && (stopped.has(value.busy) || (asking && value.busy !== asking.name))) return; // overtaken by its stop
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
  notSent = value.not_sent;
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
    say(value.status);
  }
  if (grew && value.busy) last?.scrollIntoView({ block: "start", behavior: calm.matches ? "auto" : "smooth" });
  if (!articles.length) window.scrollTo(0, 0);
  if (!value.busy && asking) settle();
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
  button.textContent = button.dataset.done;
  say(button.dataset.done);
  setTimeout(() => { button.textContent = label; }, 1500);
}

function rate(article, button) {
  const form = article.querySelector(".why-bad");
  const exchange = Number(article.dataset.index);
  if (button.dataset.action === "rate-send") {
    const reasons = [...form.querySelectorAll("input:checked")].map((box) => box.name);
    trigger("rated", { exchange, rating: "down", reasons, comment: form.elements.comment.value });
  } else if (button.dataset.rating === "up") {
    form.hidden = true;
    trigger("rated", { exchange, rating: "up" });
  } else {
    form.hidden = !form.hidden;
    if (!form.hidden) form.querySelector("input").focus();
  }
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
    lqr.opener = target;
    trigger("opened", { exchange: Number(article.dataset.index), number: Number(target.dataset.open) });
  } else if (action === "copy") {
    copy(target);
  } else if (action === "sources") {
    makeCurrent(article);
    article.querySelector(".source")?.focus({ preventScroll: wide.matches });
    if (!wide.matches) article.querySelector(".sources").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
  } else if (asking) {
    return;
  } else if ("ask" in target.dataset) {
    ask({ text: target.textContent });
  } else if (action === "standalone") {
    const last = article === log.lastElementChild?.firstElementChild;
    ask({ text: article.querySelector(".standalone textarea").value, alone: true, instead: last });
  } else if (action === "retry") {
    ask({ text: article.querySelector("[data-question]").dataset.question, instead: true });
  } else if (action === "edit") {
    lqr.edit?.(target.dataset.question);
  } else if (action === "rate" || action === "rate-send") {
    rate(article, target);
  }
});

element.addEventListener("submit", (event) => event.preventDefault());
element.addEventListener("keydown", (event) => {
  // From a source back to the place in the text that named it.
  if (event.key === "Escape" && event.target.closest(".source") && lastCite?.isConnected) lastCite.focus();
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.matches(".standalone textarea")) {
    event.preventDefault();
    event.target.closest(".standalone").querySelector("button").click();
  }
});

Object.assign(lqr, {
  ask,
  stop,
  failed,
  say,
  name: () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  show,
  save: (kind, title) => trigger("saving", { kind, title }),
});
watch("value", () => patch(props.value));
patch(props.value);
