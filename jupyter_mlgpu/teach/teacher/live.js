// Keeps a page of the teacher's view up to date. The page is fetched again every few seconds, and only what
// changed is changed: focus, selection and place on the page stay. Without scripts, the link "Reload" does it.
"use strict";

const bar = document.getElementById("live");
const [status, button] = bar.children;
const words = bar.dataset;
const main = document.querySelector("main");
let paused = false;
let timer;

// The status is read aloud when its text changes, so it changes with the state alone.
function show(state) {
  if (status.textContent !== words[state]) status.textContent = words[state];
}

async function refresh() {
  clearTimeout(timer);
  if (paused || document.hidden) return;
  try {
    const answer = await fetch(location.href, {
      headers: { "X-Requested-With": "XMLHttpRequest", "X-XSRFToken": words.xsrf },
      redirect: "error",
      signal: AbortSignal.timeout(30_000),
    });
    if (answer.status === 401) {
      button.hidden = true;
      show("signedOut");
      return;
    }
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!paused) {
      inPlace(() => update(main, document.adoptNode(page.querySelector("main"))));
      show("on");
    }
  } catch {
    if (!paused) show("lost");
  }
  clearTimeout(timer);
  timer = setTimeout(refresh, words.seconds * 1000);
}

// Changes the page; what had the focus keeps it, and what the reader looks at does not move.
function inPlace(change) {
  const focused = document.activeElement;
  const rows = focused?.closest("tbody") ? [focused] : [...main.querySelectorAll("tbody tr")];
  const seen = rows.find((one) => one.getBoundingClientRect().bottom > 0);
  const before = seen?.getBoundingClientRect().top;
  change();
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
  if (seen?.isConnected && scrollY > 0) scrollBy(0, seen.getBoundingClientRect().top - before);
}

// Makes an element equal to a fresh one, and keeps the elements in it that are the same.
function update(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data;
    return;
  }
  for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
  const children = [...fresh.childNodes];
  const kept = new Set(children.map(key));
  for (const child of [...old.childNodes]) if (!kept.has(key(child))) child.remove();
  let place = old.firstChild;
  for (const child of children) {
    let match = place;
    while (match && key(match) !== key(child)) match = match.nextSibling;
    if (!match) {
      old.insertBefore(child, place);
      continue;
    }
    if (match !== place) old.insertBefore(match, place);
    update(match, child);
    place = match.nextSibling;
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

// Rows and tables have keys. Anything else is the same if it has the same name.
function key(node) {
  return node.dataset?.key === undefined ? node.nodeName : `key ${node.dataset.key}`;
}

button.addEventListener("click", () => {
  paused = !paused;
  button.textContent = paused ? words.resume : words.pause;
  if (paused) show("paused");
  else refresh();
});
document.addEventListener("visibilitychange", refresh);
button.textContent = words.pause;
bar.hidden = false;
show("on");
timer = setTimeout(refresh, words.seconds * 1000);
