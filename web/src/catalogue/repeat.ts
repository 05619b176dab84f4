// The command line and the scenario file that repeat what a view shows.

/** What is run again: an experiment, protections, settings. */
export interface Repeated {
  experiment: string;
  protections: string[];
  settings: Record<string, string>;
  /** Options of the command line that look at a run and do not change it. */
  looks?: string[];
}

/** The command line, ready for a shell. */
export function commandLine({ experiment, protections, settings, looks = [] }: Repeated): string {
  const words = [
    `lossylink run ${quoted(experiment)}`,
    ...protections.map((text) => `-p ${quoted(text)}`),
    ...Object.entries(settings).map(([key, value]) => `--set ${quoted(`${key}=${value}`)}`),
    ...looks,
  ];
  return words.join(" ");
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The scenario file: `lossylink run FILE` gives the same rows. */
export function scenarioFile({ experiment, protections, settings }: Repeated): string {
  const top = [`experiment = ${JSON.stringify(experiment)}`];
  if (protections.length > 0) top.push(`protection = [${protections.map((text) => JSON.stringify(text)).join(", ")}]`);
  const sections = new Map<string, string[]>();
  for (const [key, value] of Object.entries(settings)) {
    const place = key.lastIndexOf(".");
    const line = `${bare(key.slice(place + 1))} = ${literal(value)}`;
    if (place < 0) top.push(line);
    else {
      const section = key.slice(0, place).split(".").map(bare).join(".");
      sections.set(section, [...(sections.get(section) ?? []), line]);
    }
  }
  const blocks = [...sections].map(([section, lines]) => [`[${section}]`, ...lines].join("\n"));
  return `${[top.join("\n"), ...blocks].join("\n\n")}\n`;
}

function bare(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Numbers and truths as such; all else is text, which readers of scenarios take for any key. */
function literal(value: string): string {
  if (value === "true" || value === "false") return value;
  if (/^-?(0|[1-9]\d*)$/.test(value)) return value;
  return JSON.stringify(value);
}
