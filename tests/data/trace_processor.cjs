// Hosts Perfetto's trace processor (WebAssembly, with its own worker script) in Node: FOLDER holds both.
// Standard input is one stream of requests, as TraceProcessorRpcStream; the answers go to standard output.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");
const node = process;
const folder = node.argv[2];
const read = (name) => fs.readFileSync(path.join(folder, path.basename(String(name))));
function fail(error) {
  fs.writeSync(2, String((error && error.message) || error).slice(0, 1000));
  node.exit(1);
}
node.on("uncaughtException", fail);
node.on("unhandledRejection", fail);
// What the script finds in a browser's worker.
Object.assign(globalThis, {
  self: globalThis,
  WorkerGlobalScope: function () {},
  importScripts: () => {},
  location: { href: "file:///engine_bundle.js", pathname: "/engine_bundle.js" },
  fetch: async (name) => new Response(read(name), { headers: { "Content-Type": "application/wasm" } }),
  XMLHttpRequest: class {
    open(method, name) {
      this.name = name;
    }
    send() {
      this.status = 200;
      this.response = new Uint8Array(read(this.name)).buffer;
      if (this.onload) setTimeout(() => this.onload(), 0);
    }
  },
});
console.log = console.warn = (...words) => fs.writeSync(2, words.join(" ") + "\n");
globalThis.process = undefined;
vm.runInThisContext(read("engine_bundle.js").toString());
const port = {
  postMessage: (data) => {
    for (let done = 0; done < data.length; ) done += fs.writeSync(1, data, done);
  },
};
globalThis.onmessage({ data: port });
// The script has started the module by now; what it does then waits in promises, which come before timers.
setTimeout(() => {
  port.onmessage({ data: new Uint8Array(fs.readFileSync(0)) });
  node.exit(0);
}, 0);
