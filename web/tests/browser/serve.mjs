// Serves a folder on loopback, as `lossylink explore` does.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";

const TYPES = { html: "text/html; charset=utf-8", json: "application/json" };

/** Starts at a free port; texts by their names stand before the files. */
export async function serve(folder, made = {}) {
  const server = createServer(async (request, answer) => {
    const name = basename(new URL(request.url ?? "/", "http://localhost").pathname) || "index.html";
    try {
      const content = made[name] ?? (await readFile(join(folder, name)));
      answer.writeHead(200, { "content-type": TYPES[name.split(".").at(-1)] ?? "application/octet-stream" });
      answer.end(content);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
