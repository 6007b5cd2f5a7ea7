// SPDX-License-Identifier: BSD-3-Clause
// Marks the page in the navigation, and searches the index that site.py writes.
"use strict";

const results = document.getElementById("results");
const search = document.getElementById("search");
const shown = 25;

function markPage() {
  const file = location.pathname.split("/").pop() || "index.html";
  const link = document.querySelector(`nav a[href="${CSS.escape(file)}"]`);
  if (!link) return;
  link.setAttribute("aria-current", "page");
  link.closest("details").open = true;
  if (matchMedia("(min-width: 60rem)").matches) link.scrollIntoView({block: "nearest"});
}

// The index is loaded when somebody begins to search; also from files, whose scripts may not fetch.
let index = null;
function loadIndex() {
  index ||= new Promise(resolve => {
    const script = document.createElement("script");
    script.src = "index.js";
    script.onload = () => resolve(searchIndex);
    document.head.append(script);
  });
  return index;
}

// The rank of an entry; the lower the better, none if a word of the query is nowhere in it.
function rankOf([title, context, , words], query) {
  const name = title.toLowerCase();
  const last = name.split(/::|\./).pop();
  const all = query.join(" ");
  if (name === all || last === all) return 0;
  if (name.startsWith(all) || last.startsWith(all)) return 1;
  if (query.every(word => name.includes(word))) return 2;
  const place = ` ${name} ${context.toLowerCase()} ${words}`;
  return query.every(word => place.includes(` ${word}`)) ? 3 : null;
}

const isName = ({entry}) => entry[3] === "";

function found(entries, text) {
  const query = text.toLowerCase().split(/\s+/).filter(word => word);
  if (!query.length) return [];
  return entries.map(entry => ({entry, rank: rankOf(entry, query)})).filter(({rank}) => rank !== null)
    .sort((a, b) => a.rank - b.rank || isName(a) - isName(b) || a.entry[0].length - b.entry[0].length)
    .map(({entry}) => entry);
}

function resultOf([title, context, url]) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  const where = document.createElement("small");
  link.href = url;
  link.textContent = title + " ";
  where.textContent = context;
  link.append(where);
  item.append(link);
  return item;
}

async function show() {
  const entries = found(await loadIndex(), search.value);
  results.replaceChildren(...entries.slice(0, shown).map(resultOf));
  if (!entries.length && search.value.trim()) results.append("Nothing is found.");
}

// The arrows go through the results, Enter opens the first, Escape ends the search, a slash begins it.
function move(event) {
  const links = [...results.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    search.value = "";
    results.replaceChildren();
  } else if (event.key === "Enter" && event.target === search && links.length) {
    links[0].click();
  } else if (event.key === "ArrowDown" && at + 1 < links.length) {
    links[at + 1].focus();
  } else if (event.key === "ArrowUp") {
    (links[at - 1] || search).focus();
  } else {
    return;
  }
  event.preventDefault();
}

markPage();
search.addEventListener("focus", loadIndex);
search.addEventListener("input", show);
search.parentElement.addEventListener("keydown", move);
results.addEventListener("click", () => results.replaceChildren());
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.target.matches("input")) return;
  search.focus();
  event.preventDefault();
});
