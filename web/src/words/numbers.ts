// Numbers as readers read them.

/** Made once: to make a format takes longer than to write a hundred numbers. */
const FORMAT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });

/** A number with thousands separated, or with an exponent where it is very small or very large. */
export function digits(value: number, significant = 4): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e9) return shortExponent(value.toExponential(Math.max(0, significant - 1)));
  if (size >= 10 ** significant) return FORMAT.format(Math.round(value));
  return FORMAT.format(Number(value.toPrecision(significant)));
}

/** `1.000e-3` as `1e-3`. */
function shortExponent(text: string): string {
  const [mantissa = "", exponent = ""] = text.split("e");
  return `${Number(mantissa)}e${exponent.replace("+", "")}`;
}

/** A time in us, ms or s. */
export function duration(us: number, significant = 3): string {
  if (us >= 1e6) return `${digits(us / 1e6, significant)} s`;
  return us >= 1000 ? `${digits(us / 1000, significant)} ms` : `${digits(us, significant)} us`;
}

/** A count, such as 30,000. */
export function count(value: number): string {
  return FORMAT.format(Math.round(value));
}

/** How many times as large, with two digits: 0.049x, 41x. */
export function times(ratio: number): string {
  return `${ratio < 10 ? Number(ratio.toPrecision(2)) : count(ratio)}x`;
}

/** A ratio in two digits, such as 1.8e-5. */
export function ratio(value: number): string {
  return digits(value, 2);
}

/** A count with its noun: 1 flow, 3 flows. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Names in a row: "a, b and c". */
export function listed(names: string[]): string {
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** A number as a reader would write it into a field: the same number when it is read again. */
export function written(value: number): string {
  const isPlain = value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e15);
  return isPlain ? String(value) : value.toExponential().replace("e+", "e");
}
