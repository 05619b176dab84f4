// The catalogue that `lossylink explore SCENARIO` hands out beside the page, in place of the page's own.

import type { Catalogue } from "./catalogue/types.ts";

const FILE = "catalogue.json";
/** Where `lossylink explore` serves: pages of other hosts, such as those of the documentation, ask nobody. */
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** A catalogue, and a line on why it is not the one that was served. */
export interface Chosen {
  catalogue: Catalogue;
  problem?: string;
}

/** The served catalogue, with the plan of the embedded one where it has none; the embedded one where none, or null, is served. */
export async function chosenCatalogue(
  embedded: Catalogue,
  { protocol, hostname }: Pick<Location, "protocol" | "hostname"> = location,
  ask: (file: string) => Promise<Pick<Response, "ok" | "json">> = (file) => fetch(file, { cache: "no-store" }),
): Promise<Chosen> {
  if (!/^https?:$/.test(protocol) || !LOOPBACK.includes(hostname)) return { catalogue: embedded };
  const answer = await ask(FILE).catch(() => undefined);
  if (!answer?.ok) return { catalogue: embedded };
  const served: unknown = await answer.json().catch(() => undefined);
  if (served === null) return { catalogue: embedded };
  if (!isCatalogue(served)) {
    return { catalogue: embedded, problem: `${FILE} is no catalogue of lossylink, and the page shows its own: run lossylink explore again` };
  }
  const plan = served.plan ?? embedded.plan;
  return { catalogue: plan ? { ...served, plan } : served };
}

function isCatalogue(value: unknown): value is Catalogue {
  const { experiments, views, protections, percentiles } = (value ?? {}) as Partial<Catalogue>;
  return [experiments, views].every((part) => typeof part === "object" && part !== null) && Array.isArray(protections) && Array.isArray(percentiles);
}
