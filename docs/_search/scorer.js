// Scores of the site's search (html_search_scorer). Pages for users come first, decision records last.
// The numbers below are those of Sphinx, which leaves them out when a scorer is given.
"use strict";

var Scorer = (() => {
  // Added to the score of a result by where its page is; the first prefix that fits counts.
  const FOLDERS = [
    ["zh/troubleshooting/messages-", -95],
    ["zh/", -80],
    ["adr/", -200],
    ["measurements/", -150],
    ["changelog", -120],
    ["contributing", -120],
    ["design", -120],
    ["explanation/facts", -5],
    ["mlcompute-fork", -5],
    // Lists of over a thousand messages, of which some has nearly every word.
    ["troubleshooting/messages-", -12],
    ["lessons/", 0],
    ["reference/", 2],
    ["explanation/", 4],
    ["troubleshooting/", 4],
    ["how-to/binder/", 0],
    ["how-to/", 12],
    ["first-class", 12],
    ["teacher", 12],
    ["tutorial", 12],
  ];
  const CHINESE = /\p{Script=Han}/u;

  const query = () => new URLSearchParams(window.location.search).get("q") || "";

  const weight = (page) => {
    // To somebody who types Chinese, the Chinese pages are the ones to read.
    const name = CHINESE.test(query()) ? page.replace(/^zh\//, "") : page;
    const found = FOLDERS.find(([prefix]) => name.startsWith(prefix));
    return found ? found[1] : 0;
  };

  // "out of memory" is about memory.
  const IGNORED = new Set(["find", "how", "out", "what", "why"]);

  // A page whose own title has the words of the query is about them; Sphinx counts titles of its sections as much.
  const aboutIt = (title) => {
    const stop = typeof stopwords === "undefined" ? [] : [...stopwords];
    const words = query()
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word && !IGNORED.has(word) && !stop.includes(word));
    const found = words.filter((word) => title.toLowerCase().includes(word));
    return words.length ? (8 * found.length) / words.length : 0;
  };

  return {
    score: ([page, title, , , score]) => score + weight(page) + aboutIt(title),
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
