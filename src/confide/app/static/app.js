// What makes screens live. Everything works without it: forms and links do the same with a reload.
"use strict";

document.documentElement.classList.add("js");

const REST = 250;

// Parts that are on their way ask again until they are there.
function watch(root) {
  for (const part of root.querySelectorAll("[data-wait]")) ask(part, 300);
}

async function ask(part, pause) {
  await new Promise((go) => setTimeout(go, pause));
  if (!part.isConnected) return;
  let answer;
  try {
    answer = await fetch(part.dataset.wait, { headers: { Accept: "text/html" } });
  } catch {
    stopped();
    return;
  }
  if (answer.status === 403) { location.reload(); return; }
  if (!answer.ok) return;
  const made = parsed(await answer.text()).body.firstElementChild;
  if (!made || !part.isConnected) return;
  if (answer.status === 202 && same(part, made)) { ask(part, Math.min(pause * 1.3, 1500)); return; }
  swap(part, made);
  put(made);
  if (made.dataset.wait !== undefined) ask(made, Math.min(pause * 1.3, 1500));
  else watch(made);
}

function same(a, b) { return a.innerHTML === b.innerHTML; }

function parsed(text) { return new DOMParser().parseFromString(text, "text/html"); }

// Put new content in the place of old, and give the focus back to what had it.
function swap(old, made) {
  const focus = document.activeElement;
  const held = focus && old.contains(focus) ? focus.id : "";
  const open = new Set([...old.querySelectorAll("details[open]")].map((d) => d.id).filter(Boolean));
  old.replaceWith(made);
  for (const id of open) { const d = document.getElementById(id); if (d) d.open = true; }
  if (held) { const next = document.getElementById(held); if (next) next.focus({ preventScroll: true }); }
  if (made.querySelectorAll) ready(made);
}

// What a part brings for other places on the page, by the id of the place.
function put(made) {
  for (const brought of made.querySelectorAll("[data-put]")) {
    const place = document.getElementById(brought.dataset.put);
    if (place) place.replaceChildren(...brought.childNodes);
    brought.remove();
  }
}

function stopped() {
  const note = document.getElementById("stopped");
  if (note) note.hidden = false;
}

// Forms that answer in place: a slider sends after a rest, and the page around it is brought up to date.
async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  document.querySelectorAll("[data-dims]").forEach((e) => e.classList.add("old"));
  let answer;
  try {
    answer = await fetch(submitter?.hasAttribute("formaction") ? submitter.formAction : form.action, { method: "POST", body });
  } catch {
    stopped();
    return;
  }
  const page = parsed(await answer.text());
  const made = page.getElementById("page");
  if (!made) { location.reload(); return; }
  const old = document.getElementById("page");
  const at = window.scrollY;
  swap(old, made);
  document.title = page.title;
  if (answer.redirected) history.replaceState(null, "", answer.url);
  window.scrollTo(0, at);
  watch(made);
  const said = document.querySelector("[data-said]");
  const live = document.getElementById("live");
  if (said && live) live.textContent = said.textContent;
}

function ready(root) {
  for (const form of root.querySelectorAll("form[data-live]")) {
    if (form.dataset.bound) continue;
    form.dataset.bound = "1";
    let timer = 0;
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); send(form, event.submitter); });
    form.addEventListener("input", (event) => {
      const twin = event.target.dataset.twin && document.getElementById(event.target.dataset.twin);
      if (twin) twin.value = event.target.value;
      const shown = event.target.id && form.querySelector(`output[for="${CSS.escape(event.target.id)}"]`);
      if (shown) shown.textContent = `${event.target.value}${shown.dataset.unit || ""}`;
    });
    form.addEventListener("change", (event) => {
      if (event.target.closest("[data-still]")) return;
      clearTimeout(timer);
      timer = setTimeout(() => form.isConnected && send(form), REST);
    });
  }
  for (const form of root.querySelectorAll("form[data-auto]")) {
    form.addEventListener("change", () => form.requestSubmit());
  }
  for (const drop of root.querySelectorAll("[data-upload]")) upload(drop);
}

// A file that is dropped goes to the project's private folder piece by piece.
function upload(drop) {
  const input = drop.querySelector("input[type=file]");
  const start = (file) => {
    const request = new XMLHttpRequest();
    const bar = drop.querySelector("progress");
    const said = drop.querySelector("[data-told]");
    request.open("PUT", `${drop.dataset.upload}?name=${encodeURIComponent(file.name)}`);
    request.upload.onprogress = (e) => { if (bar && e.lengthComputable) { bar.hidden = false; bar.max = e.total; bar.value = e.loaded; } };
    request.onload = () => {
      let told = {};
      try { told = JSON.parse(request.responseText); } catch { /* said below */ }
      if (request.status === 200 && told.go) location.assign(told.go);
      else if (said) { said.textContent = told.said || "The file could not be taken."; said.hidden = false; if (bar) bar.hidden = true; }
    };
    request.onerror = () => { if (said) { said.textContent = "The file could not be taken: confide may have stopped."; said.hidden = false; } };
    request.send(file);
  };
  drop.addEventListener("dragover", (e) => { e.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (e) => { e.preventDefault(); drop.classList.remove("over"); if (e.dataTransfer.files.length) start(e.dataTransfer.files[0]); });
  if (input) input.addEventListener("change", () => input.files.length && start(input.files[0]));
}

ready(document);
watch(document);

