// SPDX-License-Identifier: BSD-3-Clause
// Looks at the pages of task in a frame as wide as a small screen, and reports to browser.py.
"use strict";

const problems = [];
let frame;

function load(page) {
  return new Promise(resolve => {
    frame.onload = resolve;
    frame.src = page;
  });
}

const shown = element => element?.checkVisibility() && element.getClientRects().length > 0;
const numbers = color => color.match(/[\d.]+/g).map(Number);

function luminance(color) {
  const [red, green, blue] = numbers(color).slice(0, 3).map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function behind(element) {
  for (; element; element = element.parentElement) {
    const color = frame.contentWindow.getComputedStyle(element).backgroundColor;
    const [, , , opacity = 1] = numbers(color);
    if (opacity > 0) return color;
  }
  return "rgb(255, 255, 255)";
}

function contrast(element) {
  const [low, high] = [luminance(frame.contentWindow.getComputedStyle(element).color), luminance(behind(element))]
    .sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function hasText(element) {
  return [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
}

// Colours come from the style sheet, so one element of each kind stands for all.
function faint(page) {
  const kinds = new Map();
  for (const element of frame.contentDocument.body.querySelectorAll("*"))
    if (hasText(element))
      kinds.set([element.parentElement.className, element.tagName, element.className].join(), element);
  for (const element of [...kinds.values()].filter(shown)) {
    const ratio = contrast(element);
    if (ratio < task.contrast)
      problems.push(`${page}: "${element.textContent.trim().slice(0, 40)}" has contrast ${ratio.toFixed(1)}`);
  }
}

function wide(page) {
  const width = frame.contentDocument.documentElement.scrollWidth;
  if (width <= task.width) return;
  const cause = [...frame.contentDocument.querySelectorAll("main *")].find(
    element => shown(element) && element.getBoundingClientRect().right > task.width + 1);
  problems.push(`${page}: is ${width} pixels wide, because of ${cause ? cause.outerHTML.slice(0, 100) : "?"}`);
}

function flowing(page) {
  for (const code of frame.contentDocument.querySelectorAll("main pre, main .line"))
    if (frame.contentWindow.getComputedStyle(code).whiteSpace !== "pre") {
      problems.push(`${page}: code loses its lines: ${code.textContent.slice(0, 40)}`);
      return;
    }
}

function navigation(page, listed) {
  const inside = frame.contentDocument;
  const menu = inside.getElementById("menu");
  if (shown(inside.querySelector("nav"))) problems.push(`${page}: the navigation is open`);
  menu.click();
  if (!shown(inside.querySelector("nav"))) problems.push(`${page}: the navigation does not open`);
  const marked = [...inside.querySelectorAll("nav [aria-current=page]")].map(link => link.getAttribute("href"));
  if (listed && marked.join() !== page) problems.push(`${page}: the navigation marks "${marked}"`);
  if (listed && !shown(inside.querySelector("nav [aria-current=page]")))
    problems.push(`${page}: its section is closed`);
  faint(page);
  menu.click();
}

async function search(text, target) {
  const inside = frame.contentDocument;
  const field = inside.getElementById("search");
  field.value = text;
  field.dispatchEvent(new Event("input"));
  for (let wait = 0; wait < 100 && !inside.querySelector("#results a"); ++wait)
    await new Promise(resolve => setTimeout(resolve, 20));
  const first = [...inside.querySelectorAll("#results a")].slice(0, 8).map(link => link.getAttribute("href"));
  if (!first.some(link => link.startsWith(target)))
    problems.push(`search "${text}": no result of ${target} among ${first}`);
  wide(`search "${text}"`);
  faint(`search "${text}"`);
  field.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
  if (inside.querySelector("#results a")) problems.push(`search "${text}": Escape leaves its results`);
}

async function look() {
  frame = document.createElement("iframe");
  frame.style = `width: ${task.width}px; height: 900px; border: 0`;
  document.body.append(frame);
  const listed = new Set();
  for (const [i, page] of task.pages.entries()) {
    await load(page);
    if (!i) frame.contentDocument.querySelectorAll("nav a").forEach(link => listed.add(link.getAttribute("href")));
    if (frame.contentWindow.matchMedia("(prefers-color-scheme: dark)").matches !== task.dark)
      problems.push(`${page}: the browser shows another theme`);
    wide(page);
    flowing(page);
    navigation(page, listed.has(page));
  }
  await load("index.html");
  for (const [text, target] of Object.entries(task.searches)) await search(text, target);
}

window.onload = async () => {
  await look().catch(error => problems.push(`${frame.src}: ${error.stack}`));
  await fetch("/", {method: "POST", body: JSON.stringify({pages: task.pages.length, problems})});
};
