// Shows a document over the sources, at the cited place, and gives the focus back when it is closed.
const frame = element.firstElementChild ?? element;
frame.setAttribute("role", "region");

function close() {
  if (!document.body.classList.contains("reading")) return;
  document.body.classList.remove("reading");
  frame.replaceChildren();
  props.value = ""; // so that opening the same place again is a change
  window.lqr?.opener?.focus({ preventScroll: true });
}

function open(html) {
  if (!html) return close();
  frame.innerHTML = html;
  frame.setAttribute("aria-label", frame.querySelector("h2")?.textContent ?? "");
  document.body.classList.add("reading");
  frame.querySelector("[data-close]")?.focus({ preventScroll: true });
  const place = frame.querySelector(".cited mark") ?? frame.querySelector(".cited");
  const pane = document.getElementById("viewer");
  if (place) pane.scrollTop += place.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  else pane.scrollTop = 0;
}

element.addEventListener("click", (event) => { if (event.target.closest("[data-close]")) close(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
watch("value", () => open(props.value));
